// What noteg tune found, as text, JSON or CSV.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/tune/tune.hpp"

namespace noteg::tune {

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
