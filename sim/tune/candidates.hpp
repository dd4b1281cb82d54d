// Configurations ranked by a cheap simulation: those that a lower bound rules out are not simulated, those that share a
// program are simulated together. The order, the figures and what is left out are the same for any number of jobs.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "arch/spec.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {

enum class Objective : std::uint8_t { time, energy, edp };  // edp: energy times time

[[nodiscard]] std::string_view name_of(Objective objective);
[[nodiscard]] std::optional<Objective> objective_from(std::string_view text);

struct Candidate {
  kernels::KernelConfig config;  // resolved
  Seconds bound;                 // no run is shorter
  int program = 0;               // candidates with the same number run the same instructions
};

// Those that resolve for the shape and fit an SM of the GPU, in order of their bounds.
[[nodiscard]] std::vector<Candidate> candidates_of(const arch::GpuSpec& gpu,
                                                   const std::vector<kernels::KernelConfig>& configs,
                                                   const kernels::GemmShape& shape, const gpu::SimOptions& sim = {});

struct Scored {
  kernels::KernelConfig config;
  double time_us = 0, energy_mj = 0;
  [[nodiscard]] double score(Objective objective) const;
};

struct RankRequest {
  const arch::GpuSpec* gpu = nullptr;
  kernels::GemmShape shape;
  gpu::SimOptions sim;
  Objective objective = Objective::time;
  std::size_t wanted = 1;  // so many of the best must be right
  unsigned jobs = 1;
  const std::atomic<bool>* stop = nullptr;                 // set from outside: rank what is there
  std::function<void(std::size_t, std::size_t)> progress;  // done, of; called under a lock
};

struct Ranking {
  std::vector<Scored> best;  // all that were simulated, best first
  std::size_t simulated = 0, pruned = 0, failed = 0;
  bool stopped = false;
};

[[nodiscard]] Ranking rank(const std::vector<Candidate>& candidates, const RankRequest& request);

// The `most` that estimate() takes for the fastest, without a simulation: one launch of each program and number of
// slices.
[[nodiscard]] std::vector<Candidate> quickest(const std::vector<Candidate>& candidates, const RankRequest& request,
                                              std::size_t most);

// The configurations that noteg tune considers for a problem: every combination of tile, warp tile, stages, K slices
// and raster that a kernel generator could emit for the families which suit the types. Rules between the values are
// left to kernels::resolve().

struct SpaceOptions {
  std::vector<kernels::Family> families;          // empty: those that suit the types and the GPU
  std::size_t most = 0;                           // an even choice of so many; 0: all
  std::vector<kernels::KernelConfig> given = {};  // these instead of all combinations (--space FILE)
};

// In a fixed order.
[[nodiscard]] std::vector<kernels::KernelConfig> configurations(const arch::GpuSpec& gpu, const Problem& problem,
                                                                const SpaceOptions& options);

}  // namespace noteg::tune
