// Look-ups in an L2 of several partitions. An SM asks the partition on its side; a sector whose home is on the other
// side is looked up there as well when it is missing here, and is then kept here too. Writes go home at once.
// H200M counters: one CTA causes 1.5 misses per sector from DRAM, CTAs on both sides 2.0; writes count 1.5 times.
#pragma once

namespace noteg::memory {

struct L2Traffic {
  double read_sectors = 0, write_sectors = 0;  // that arrive at L2: what SMs ask for, less what merges on the way
  double dram_read_sectors = 0;
  double sharers = 1;  // CTAs that read a sector, on average
  int partitions = 1;
};

struct L2Lookups {
  double lookups = 0, misses = 0;
  [[nodiscard]] double hit_rate() const { return lookups > misses ? 1.0 - misses / lookups : 0; }
};

// Partitions other than the home that `sharers` CTAs ask for a sector, CTAs lying on either side by chance.
[[nodiscard]] double partitions_beside_home(double sharers, int partitions);

[[nodiscard]] L2Lookups l2_lookups(const L2Traffic& traffic);

}  // namespace noteg::memory
