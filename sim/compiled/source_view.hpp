// The listing with what its instructions cost: executions, wavefronts, sectors, and for what warps waited before each,
// by the names that Nsight Compute uses. The waits are those of a run that is watched: the first wave of CTAs on an SM,
// with loops cut short; each instruction's cycles per execution are then taken as often as it is executed. The caches
// are those that a profiler leaves: flushed before.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/compiled/simulate_compiled.hpp"
#include "sim/sm/observer.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::compiled {

inline constexpr std::array<std::string_view, 19> stall_columns{
    "barrier", "branch_resolving", "dispatch", "drain",    "gmma",  "imc",
    "lg",      "long_sb",          "math",     "membar",   "mio",   "misc",
    "no_inst", "not_selected",     "selected", "short_sb", "sleep", "tex",
    "wait"};

struct SourceLine {
  std::int32_t instruction = 0;  // of the listing
  InstructionCounts counts;
  double samples = 0;  // warp cycles of the launch
  int live_registers = 0;
  std::int32_t waited_for = -1;  // the instruction whose result or reads its warps waited for most
  std::array<double, stall_columns.size()> stalls{};
};

// The run that the view is made of: the first wave of CTAs on an SM, loops cut short, with all that happened.
struct WatchedRun {
  std::shared_ptr<const kernels::Program> program;
  sm::SmWork work;
  sm::MemoryPort port;
  sm::SmResult result;
  sm::Recorder log;
};

[[nodiscard]] WatchedRun watch(const CompiledRun& run, const arch::GpuSpec& gpu, const gpu::SimOptions& options,
                               std::uint64_t sample_interval = 1 << 20);

// One CTA alone on its SM.
[[nodiscard]] WatchedRun watch_cta(const kernels::Program& program, const sm::MemoryPort& port,
                                   const arch::GpuSpec& gpu, const gpu::SimOptions& options);

[[nodiscard]] std::vector<SourceLine> source_view(const CompiledRun& run, const WatchedRun& stretch);
[[nodiscard]] std::vector<SourceLine> source_view(const CompiledRun& run, const arch::GpuSpec& gpu,
                                                  const gpu::SimOptions& options);

// address,sass,warp_instructions,...,stall_*: one row per instruction.
[[nodiscard]] std::string to_csv(const std::vector<SourceLine>& view, const CompiledRun& run);

// One instruction as a page or a table shows it.
struct SourceRow {
  std::uint32_t address = 0;
  std::string sass, source;  // source: file:line of -lineinfo, empty without
  double executions = 0, thread_executions = 0, shared_wavefronts = 0, l2_sectors = 0, samples = 0, share = 0;
  int live_registers = 0;
  std::string waited_for;                                   // address and text of the instruction, empty: none
  std::vector<std::pair<std::string_view, double>> stalls;  // reasons and warp cycles, most first; none that are zero
};
[[nodiscard]] std::vector<SourceRow> source_rows(const std::vector<SourceLine>& view, const CompiledRun& run);

// The instructions with the most warp cycles, and for what their warps wait.
[[nodiscard]] std::string hottest(const std::vector<SourceLine>& view, const CompiledRun& run, std::size_t most);

}  // namespace noteg::compiled
