// A stretch of a simulated run watched closely: the busiest SM's first wave of CTAs, stepped through once more and
// written down from one iteration of the main loop to another. The run itself mixes the times of two SMs, of which one
// finds its data in L2 and one waits for DRAM (kernel_time.hpp). A mean cannot be watched: loads take the one latency
// at which this stretch takes as long as the mean of both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/gpu/report.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/sm/observer.hpp"

namespace noteg::gpu {

// Main-loop iterations, from 1, both included. first 0: from the start of the run; last beyond the last iteration: to
// its end.
struct IterationWindow {
  std::int64_t first = 2, last = 4;
};

// An instruction as it is shown.
struct ShownInstruction {
  std::uint32_t address = 0;
  std::string text;
};

struct Recording {
  std::shared_ptr<const SmRun> run;
  sm::MemoryPort port;  // that was watched
  sm::Recorder log;
  std::uint64_t begin = 0, end = 0;             // the window, in cycles
  std::int64_t iterations = 0;                  // of the main loop, in the run that was watched
  std::vector<std::uint64_t> iteration_begins;  // of the first CTA's leading warp
  std::vector<ShownInstruction> shown;          // of each instruction; as the program prints it where absent
  [[nodiscard]] const kernels::Program& program() const { return *run->code; }
};

// The loop that a window counts: the one marked so, else the one in which most instructions are executed; null: none.
[[nodiscard]] const kernels::Loop* main_loop(const kernels::Program& program);

// The window of a recording of a run that is over, with its result and with so many iterations. Error: the window
// begins after the last.
[[nodiscard]] Result<Recording> cut_out(Recording whole, const sm::SmResult& result, std::int64_t all,
                                        const IterationWindow& window);

// The run as far as the window's end, and a few iterations more so that it does not drain early. Error: the window
// begins after the last iteration.
[[nodiscard]] Result<Recording> record(const SimReport& report, const IterationWindow& window);

// Watts of the board in a stretch between two samples, as if all SMs that work did the same.
[[nodiscard]] Watts power_between(const Recording& recording, const SimReport& report, const arch::GpuSpec& gpu,
                                  const sm::Sample& from, const sm::Sample& to);

// Bytes that the SM asks of L2 and sends there in that stretch.
[[nodiscard]] double l2_bytes_between(const Recording& recording, const sm::Sample& from, const sm::Sample& to);

}  // namespace noteg::gpu
