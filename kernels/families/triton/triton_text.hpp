// Triton configurations as people write and print them: Inductor's "BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP_M=8,
// num_warps=4, num_stages=3", triton.Config's "BLOCK_SIZE_M: 64, ...", and Inductor's list of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

// Of the triton family. Words that decide nothing here (EVEN_K, ACC_TYPE ...) are read over; unknown ones are errors.
[[nodiscard]] Result<KernelConfig> triton_from_text(std::string_view text);
[[nodiscard]] std::string triton_text(const KernelConfig& config);

// A JSON list: objects with the words as keys, or lists of BLOCK_M, BLOCK_N, BLOCK_K, num_stages, num_warps.
[[nodiscard]] Result<std::vector<KernelConfig>> triton_from_json(std::string_view text);

// What Inductor's autotuner tries for mm, with blocks no larger than the problem as it makes them; no repeats.
[[nodiscard]] std::vector<KernelConfig> inductor_configs(const GemmShape& shape);

}  // namespace noteg::kernels
