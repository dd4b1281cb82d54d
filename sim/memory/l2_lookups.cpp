#include "sim/memory/l2_lookups.hpp"

#include <algorithm>

#include "sim/support/arithmetic.hpp"

namespace noteg::memory {

double partitions_beside_home(double sharers, int partitions) {
  if (partitions <= 1) return 0;
  const double others = partitions - 1;
  return others * (1.0 - portable::pow(1.0 - 1.0 / partitions, std::max(1.0, sharers)));
}

L2Lookups l2_lookups(const L2Traffic& t) {
  const double forwarded = t.dram_read_sectors * partitions_beside_home(t.sharers, t.partitions);
  const double written = t.write_sectors * (1.0 + partitions_beside_home(1, t.partitions));
  L2Lookups out;
  out.lookups = t.read_sectors + forwarded + written;
  out.misses = std::min(out.lookups, t.dram_read_sectors + forwarded);
  return out;
}

}  // namespace noteg::memory
