// KERNEL as compiled code: --sass or --cubin with --launch, for simulate, compare and validate.
#pragma once

#include "arch/spec.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/sim_options.hpp"

namespace noteg::cli {

// `several`: a listing before and one after a change.
[[nodiscard]] std::vector<Option> compiled_options(bool several = false);
// Whether the command line names compiled code.
[[nodiscard]] bool names_compiled(const Arguments& arguments);

[[nodiscard]] int simulate_compiled_kernel(const Arguments& arguments, const arch::GpuSpec& gpu,
                                           const gpu::SimOptions& options, Format format);
[[nodiscard]] int compare_compiled_kernel(const Arguments& arguments, const std::vector<arch::GpuSpec>& gpus,
                                          const gpu::SimOptions& options, Format format);

// A measured file of launches (DESIGN: launch, kernel, listing ...); nullopt: the file holds other rows.
[[nodiscard]] std::optional<int> validate_compiled_launches(const Arguments& arguments, Format format);

}  // namespace noteg::cli
