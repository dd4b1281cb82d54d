// The listing with what its instructions cost: executions, wavefronts, sectors, and for what warps waited before each,
// by the names that Nsight Compute uses. The waits are those of a run that is watched: the first wave of CTAs on an SM,
// with loops cut short; each instruction's cycles per execution are then taken as often as it is executed.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/compiled/simulate_compiled.hpp"
#include "sim/sm/recorder.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::compiled {

inline constexpr std::array<std::string_view, 18> stall_columns{
    "barrier", "branch_resolving", "dispatch",     "drain",    "imc",      "lg",    "long_sb", "math", "membar", "mio",
    "misc",    "no_inst",          "not_selected", "selected", "short_sb", "sleep", "tex",     "wait"};

struct SourceLine {
  std::int32_t instruction = 0;  // of the listing
  InstructionCounts counts;
  double samples = 0;  // warp cycles of the launch
  std::array<double, stall_columns.size()> stalls{};
};

// The run that the view is made of: the first wave of CTAs on an SM, loops cut short, with all that happened.
struct WatchedRun {
  std::shared_ptr<const kernels::Program> program;
  sm::SmWork work;
  sm::Recorder log;
};

[[nodiscard]] WatchedRun watch(const CompiledRun& run, const arch::GpuSpec& gpu, const gpu::SimOptions& options);

[[nodiscard]] std::vector<SourceLine> source_view(const CompiledRun& run, const WatchedRun& stretch);
[[nodiscard]] std::vector<SourceLine> source_view(const CompiledRun& run, const arch::GpuSpec& gpu,
                                                  const gpu::SimOptions& options);

// address,sass,warp_instructions,...,stall_*: one row per instruction.
[[nodiscard]] std::string to_csv(const std::vector<SourceLine>& view, const CompiledRun& run);

// The instructions with the most warp cycles, and for what their warps wait.
[[nodiscard]] std::string hottest(const std::vector<SourceLine>& view, const CompiledRun& run, std::size_t most);

}  // namespace noteg::compiled
