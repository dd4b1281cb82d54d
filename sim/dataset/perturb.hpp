// GPUs that do not exist, near ones that do: so that a forest sees what each number of the hardware does.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/spec.hpp"
#include "sim/dataset/sweep.hpp"

namespace noteg::dataset {

// copy 0 is the GPU itself. A factor that would break a rule between numbers (arch/validate.hpp) or leave the range of
// its key is drawn again, and the number stays as it is where no draw fits.
[[nodiscard]] arch::GpuSpec perturbed(const arch::GpuSpec& gpu, const std::vector<Jitter>& jitter, std::uint64_t seed,
                                      std::size_t copy);

}  // namespace noteg::dataset
