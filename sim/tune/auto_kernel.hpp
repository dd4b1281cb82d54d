// --kernel auto: the kernel that a good library would run. Of the generation's menu, each with the numbers of K slices
// that make sense, the fastest by pilot runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "kernels/families/tuning.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {

using kernels::slice_counts;

// Menu kernels with their slices, not resolved.
[[nodiscard]] std::vector<kernels::KernelConfig> library_choices(const arch::GpuSpec& gpu, const Problem& problem,
                                                                 gpu::Library library = gpu::Library::cublas);

// Chooses kernels, and remembers the engine runs that choices share. Safe for many threads; what it remembers never
// shows in a choice.
class KernelChooser {
 public:
  // Error: no kernel of the menu runs this problem on this GPU.
  [[nodiscard]] Result<kernels::KernelConfig> best(const arch::GpuSpec& gpu, const Problem& problem,
                                                   const gpu::SimOptions& sim);

 private:
  gpu::SmCache cache_;
};

}  // namespace noteg::tune
