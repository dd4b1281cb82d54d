// One kernel on one GPU: the whole model behind one function.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/switches.hpp"
#include "sim/memory/tile_reuse.hpp"
#include "sim/power/clock.hpp"
#include "sim/support/result.hpp"

namespace noteg::gpu {

using memory::l2_state_from;
using memory::l2_state_names;
using memory::L2State;
using memory::name_of;

struct SimOptions {
  bool exact = false;                  // simulate every trip and wave, extrapolate nothing
  bool share_runs = false;             // thousands of shapes: share engine runs, a few per cent off the exact cycles
  bool rough = false;                  // to rank kernels: fewest runs, at the clock that the board sustains unthrottled
  std::optional<double> sm_clock_mhz;  // a given clock wins over the solved one
  power::ClockMode clock_mode = power::ClockMode::sustained;
  // Clock mode cool: how many follow each other from rest, and how many of these are not timed; absent: very many.
  std::optional<int> launches = std::nullopt;
  int warm_up = 0;
  power::Toggling operands{};  // random
  L2State l2 = L2State::warm;
  Switches switches{};         // limits taken away, for a study
  unsigned jobs = 1;           // threads; they never show in what comes out
  bool kernel_chosen = false;  // the kernel is one that the model chose: a library may choose another
  bool waits_for_dram = true;  // false: every load is as fast as a hit in L2, which bounds the time from below
};

// Remembers SM simulations between calls: rows of a measured file repeat kernels. A pure cache, results
// do not depend on what it holds. Safe for many threads.
class SmCache {
 public:
  SmCache();
  ~SmCache();
  SmCache(const SmCache&) = delete;
  SmCache& operator=(const SmCache&) = delete;
  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// What keeps A, B and C out of the GPU's memory (dram.size); nothing where they fit.
[[nodiscard]] std::optional<Diagnostic> beyond_memory(const arch::GpuSpec& gpu, const kernels::KernelConfig& types,
                                                      const kernels::GemmShape& shape);

// Errors: tiles that exceed shared memory or registers, families the GPU does not have, impossible shapes, operands
// beyond the GPU's memory.
[[nodiscard]] Result<SimReport> simulate(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                         const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache);

}  // namespace noteg::gpu
