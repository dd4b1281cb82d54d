// The same kernel, or the best one for each, on several GPUs: what came out, what differs in their files, and what each
// difference did to the first of them.
#pragma once

#include <functional>
#include <vector>

#include "arch/difference.hpp"
#include "sim/compare/contestant.hpp"
#include "sim/compare/waterfall.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::compare {

// Which kernel a GPU runs: the given one, or the best of a menu.
using KernelFor = std::function<Result<kernels::KernelConfig>(const arch::GpuSpec&)>;

struct CompareOptions {
  gpu::SimOptions sim;
  unsigned jobs = 1;
  bool waterfalls = true;
};

struct Comparison {
  std::vector<Contestant> contestants;
  std::vector<gpu::SimReport> reports;  // parallel to them
  std::vector<arch::Difference> differences;
  std::vector<Waterfall> waterfalls;  // from the first to each other one
};

// Errors: a kernel that one of the GPUs cannot run, told with the GPU's label. The same figures for any number of jobs.
[[nodiscard]] Result<Comparison> compare(std::vector<Contestant> contestants, const KernelFor& kernel_for,
                                         const kernels::GemmShape& shape, const CompareOptions& options,
                                         gpu::SmCache& cache);

}  // namespace noteg::compare
