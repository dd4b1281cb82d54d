// The runs of a kernel on an SM: each is made once, by a key of all that it depends on. Beside whole runs, pilot runs:
// a kernel's steady state, measured over a few iterations and a few CTAs, from which the cycles of any work are
// estimated. They rank kernels and compare machines; no time that is reported rests on them alone.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "sim/sm/observer.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

// a + (b - a) * f, field by field; what was stepped through for it is the sum of both.
[[nodiscard]] sm::SmResult blend(const sm::SmResult& a, const sm::SmResult& b, double f);

// Safe for many threads.
class SmTimer {
 public:
  SmTimer(sm::DecodedProgram program, arch::SmSpec sm, sm::CoreSwitches switches);

  [[nodiscard]] sm::SmResult run(const sm::MemoryPort& port, const sm::SmWork& work);

  // For thousands of shapes of a kernel: runs at round numbers of iterations and of waves (or tiles), and the lines
  // between them. Which runs these are depends on the work alone.
  [[nodiscard]] sm::SmResult interpolate(const sm::MemoryPort& port, const sm::SmWork& work);

  // Tiles of a persistent CTA's pilot runs: consumers take turns.
  static constexpr std::int64_t pilot_tiles = 2;

  // By pilot runs, 3 to 10 % from the run itself:
  //   cycles = fill_and_drain + (waves - 1) * cta_gap + waves * iterations * iteration
  // For many shapes of a kernel, which share the pilot runs. jobs: threads for runs that do not depend on each other.
  [[nodiscard]] sm::SmResult estimate(const sm::MemoryPort& port, const sm::SmWork& work, unsigned jobs = 1);

  // Whether pilot runs at two ports are two: their ports are rounded.
  [[nodiscard]] static bool pilots_differ(const sm::MemoryPort& port, const sm::MemoryPort& other);

  // Steps through all of `work` and writes down what happens, whatever was run before.
  [[nodiscard]] sm::SmResult watch(const sm::MemoryPort& port, sm::SmWork work, sm::Recorder& recorder) const;

 private:
  struct Key {
    sm::MemoryPort port;
    sm::SmWork work;
    auto operator<=>(const Key&) const = default;
  };
  // A run that one thread is at work on is waited for, not done again.
  struct Done {
    std::once_flag once;
    sm::SmResult result;
  };
  [[nodiscard]] sm::SmResult estimate_wave(const sm::MemoryPort& port, const sm::SmWork& wave,
                                           double further_iterations, double waves, unsigned jobs);
  [[nodiscard]] std::int64_t pilot_iterations(int resident) const;

  sm::DecodedProgram program_;
  arch::SmSpec sm_;
  sm::CoreSwitches switches_;
  std::int64_t iteration_length_ = 1;  // instructions of a warp, inner loops counted as often as they run
  std::mutex mutex_;
  std::map<Key, Done> done_;
};

}  // namespace noteg::gpu
