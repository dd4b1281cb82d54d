#include "sim/compiled/l1_size.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::compiled {
namespace {

// The smallest configuration that holds so many bytes.
double configuration_for(const arch::OccupancySpec& sm, double bytes) {
  double out = sm.unified_l1_shared.value;
  for (const Bytes config : sm.shared_configs)
    if (config.value >= bytes) out = std::min(out, config.value);
  return out;
}

}  // namespace

// Configurations of an H100 under CUDA 13 (h100_sm_micro, carve_out: 110 kernels of 0 to 48 KB and 32 to 1,024
// threads): room for twice the CTAs that run, four times where they have no shared memory of their own, in whole
// percent and up to half of the memory. CTAs of 1,024 threads get what they need.
Bytes l1_size(const arch::OccupancySpec& sm, const gpu::CtaResources& cta, int ctas_per_sm) {
  constexpr int widest = 512;
  const double reserved = sm.shared_reserved_per_cta.value, unit = std::max(1.0, sm.shared_allocation_unit.value);
  const double own = static_cast<double>(cta.shared_bytes), per_cta = own + reserved;
  double largest = 0;
  for (const Bytes config : sm.shared_configs) largest = std::max(largest, config.value);
  if (largest <= 0) return sm.unified_l1_shared;
  const int times = own <= 0 ? 4 : cta.threads <= widest ? 2 : 1;
  const double wanted = per_cta * std::min(times * ctas_per_sm, sm.max_ctas);
  const double percent = std::floor(100 * wanted / largest) / 100 * largest;
  const double least = own <= 0 ? 0 : std::ceil(per_cta / unit) * unit * ctas_per_sm;
  const double half = configuration_for(sm, sm.unified_l1_shared.value / 2);
  const double carve_out = configuration_for(sm, std::max(std::min(percent, half), least));
  return Bytes{sm.unified_l1_shared.value - carve_out};
}

}  // namespace noteg::compiled
