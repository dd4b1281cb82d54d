#include "sim/power/activity.hpp"

namespace noteg::power {

Activity Activity::operator*(double factor) const {
  Activity scaled = *this;
  scaled.time = time * factor;
  for (double& count : scaled.issued) count *= factor;
  scaled.operands *= factor;
  scaled.cached_operands *= factor;
  scaled.data_passes *= factor;
  scaled.data_bytes = data_bytes * factor;
  scaled.l2_bytes = l2_bytes * factor;
  scaled.dram_read_bytes = dram_read_bytes * factor;
  scaled.dram_write_bytes = dram_write_bytes * factor;
  scaled.sm_cycles *= factor;
  for (auto& [form, macs] : scaled.tensor_macs) macs *= factor;
  return scaled;
}

}  // namespace noteg::power
