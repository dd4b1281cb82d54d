// noteg tune: which kernel configuration runs a problem best on a GPU, and why. Pilot runs rank all
// configurations that a bound does not rule out; the best of them are timed again as noteg simulate does.
#pragma once

#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/tune/candidates.hpp"

namespace noteg::tune {

struct TuneOptions {
  gpu::SimOptions sim;
  SpaceOptions space;
  Objective objective = Objective::time;
  std::size_t top = 10;
  // So many programs and slices are simulated, chosen by estimate(), and the best one's other rasters; 0: whatever a
  // bound does not rule out is ranked.
  std::size_t quick = 0;
  unsigned jobs = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::size_t, std::size_t)> progress;
};

struct Tuned {
  Problem problem;
  std::int64_t count = 1;           // how often the problem comes in the file it is from
  std::vector<gpu::SimReport> top;  // best first, by the objective, as noteg simulate gives them
  std::vector<Scored> ranked;       // all that were simulated, best first, as pilot runs see them
  std::size_t considered = 0;       // combinations
  std::size_t valid = 0;            // of these, that fit the rules and the GPU
  std::size_t simulated = 0, pruned = 0, failed = 0;
  bool stopped = false;  // before all were ranked
  std::string why;       // the winner against the runner-up
};

// Error: no configuration runs the problem on this GPU.
[[nodiscard]] Result<Tuned> tune(const arch::GpuSpec& gpu, const Problem& problem, const TuneOptions& options);

// Whether both run the same instructions: family, tile, warps and stages are the same.
[[nodiscard]] bool same_program(const kernels::KernelConfig& a, const kernels::KernelConfig& b);

// The winner's limiter against that of the runner-up, which is the next one with another program.
[[nodiscard]] std::string why_it_wins(const std::vector<gpu::SimReport>& top, Objective objective);

// What noteg tune found, as text, JSON or CSV.

struct Results {
  std::string arch_id, arch_name;
  Objective objective = Objective::time;
  std::vector<Tuned> tuned;  // one for each problem
  bool from_file = false;    // print totals
};

// "mma 128x128x32, warps 2x2, 4 stages, split K 3, swizzle 2": what tells configurations apart.
[[nodiscard]] std::string configuration_text(const kernels::KernelConfig& kernel);

[[nodiscard]] std::string to_text(const Results& results);
[[nodiscard]] std::string to_json(const Results& results, const arch::GpuSpec& gpu);
[[nodiscard]] std::string to_csv(const Results& results);  // a row per problem and rank

// A configuration as a command line of the CUTLASS profiler, to measure on a board what was predicted here.

[[nodiscard]] std::string cutlass_profiler_line(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                                const kernels::GemmShape& shape);

}  // namespace noteg::tune
