// --trace, --timeline, --window: the SM watched closely for a few trips of the main loop.
#pragma once

#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/report.hpp"

namespace noteg::cli {

[[nodiscard]] std::vector<Option> trace_options();

// What is wrong with them, before anything runs.
void check_trace(const Arguments& arguments, Format format, Diagnostics& errors);

// Writes the trace and adds the timeline to `timeline`, as far as they are asked for. The exit status.
[[nodiscard]] int trace_run(const Arguments& arguments, const gpu::SimReport& report, const arch::GpuSpec& gpu,
                            std::string& timeline);

}  // namespace noteg::cli
