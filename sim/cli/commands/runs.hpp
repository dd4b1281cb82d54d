// What simulate, compare and validate run beside a plain kernel: compiled code, assembly, a watched SM, the kernel that
// a library would choose, several power limits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/sim_options.hpp"
#include "sim/trace/recording.hpp"
#include "sim/tune/catalogue.hpp"
#include "sim/validate/validate.hpp"

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

// noteg simulate --asm: a micro-kernel in assembly on one SM.

// Runs the file named by --asm and prints counters of the whole run, and per iteration. Returns the exit status.
[[nodiscard]] int run_assembly(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::Switches& switches,
                               Format format);

[[nodiscard]] std::vector<Option> assembly_options();

// --trace, --timeline, --window: the SM watched closely for a few iterations of the main loop.

[[nodiscard]] std::vector<Option> trace_options();

// What is wrong with them, before anything runs.
void check_trace(const Arguments& arguments, Format format, Diagnostics& errors);

// Writes the trace of a window that `record` watches and adds the timeline to `timeline`, as far as they are asked for.
// The exit status.
using Record = std::function<Result<gpu::Recording>(const gpu::IterationWindow&)>;
[[nodiscard]] int trace_run(const Arguments& arguments, const gpu::SimReport& report, const arch::GpuSpec& gpu,
                            const Record& record, std::string& timeline);

// --kernel auto on the command line: a request that leaves the kernel to the GPU.

// The kernel of the request, or where that says auto the best of the GPU's catalogue.
[[nodiscard]] Result<kernels::KernelConfig> kernel_for(const KernelRequest& request, const arch::GpuSpec& gpu,
                                                       const gpu::SimOptions& sim, tune::KernelChooser& chooser);

// The same for measured rows that record no kernel. The chooser must outlive it.
[[nodiscard]] validate::Chooser library_kernels(tune::KernelChooser& chooser);

// noteg compare --power-limits: one kernel on one GPU under several power limits, and the clock at which it takes the
// least energy.

[[nodiscard]] int compare_power(const Arguments& arguments);  // the exit status

// noteg simulate with --memory or --experts: a kernel that moves bytes, or the kernels of a layer of experts.

[[nodiscard]] std::vector<Option> operator_options();
[[nodiscard]] bool names_operator(const Arguments& arguments);
// Prints the steps and their sum.
[[nodiscard]] int run_operator(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::SimOptions& options,
                               Format format);

}  // namespace noteg::cli
