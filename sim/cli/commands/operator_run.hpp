// noteg simulate with --memory or --experts: a kernel that moves bytes, or the kernels of a layer of experts.
#pragma once

#include <vector>

#include "arch/spec.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/sim_options.hpp"

namespace noteg::cli {

[[nodiscard]] std::vector<Option> operator_options();
[[nodiscard]] bool names_operator(const Arguments& arguments);
// Prints the steps and their sum.
[[nodiscard]] int run_operator(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::SimOptions& options,
                               Format format);

}  // namespace noteg::cli
