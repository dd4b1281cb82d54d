#include "sim/tune/space.hpp"

#include <algorithm>

#include "kernels/families/family.hpp"
#include "sim/gpu/gemm_launch.hpp"

namespace noteg::tune {
namespace {

using kernels::Family;
using kernels::KernelConfig;

// FFMA kernels for f32; for other types those of tensor cores that the GPU has.
std::vector<Family> suitable_families(const arch::GpuSpec& gpu, const Problem& problem) {
  const auto wanted =
      wants_tensor_cores(problem.frame.dtype_in) ? kernels::Arithmetic::tensor_cores : kernels::Arithmetic::ffma;
  std::vector<Family> families;
  for (const kernels::FamilyDescriptor* family : kernels::all_families)
    if (family->add_candidates != nullptr && family->traits.arithmetic == wanted &&
        gpu::has(gpu.sm, family->traits.needs))
      families.push_back(family->family);
  return families;
}

std::vector<KernelConfig> evenly(std::vector<KernelConfig> all, std::size_t most) {
  if (most == 0 || all.size() <= most) return all;
  std::vector<KernelConfig> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(std::move(all[i * all.size() / most]));
  return some;
}

}  // namespace

std::vector<KernelConfig> configurations(const arch::GpuSpec& gpu, const Problem& problem,
                                         const SpaceOptions& options) {
  std::vector<KernelConfig> all;
  for (const KernelConfig& config : options.given) all.push_back(in_frame(config, problem.frame));
  if (!options.given.empty()) return evenly(std::move(all), options.most);
  const std::vector<Family> families = options.families.empty() ? suitable_families(gpu, problem) : options.families;
  for (const Family family : families) {
    const auto add_candidates = kernels::family_of(family).add_candidates;
    if (add_candidates != nullptr) add_candidates({problem.frame, problem.shape, gpu.sms}, all);
  }
  return evenly(std::move(all), options.most);
}

}  // namespace noteg::tune
