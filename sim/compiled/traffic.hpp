// L2 and DRAM traffic of a compiled kernel from the footprints of its CTAs, as set arithmetic without operand names. A
// group of accesses whose addresses do not move along an axis of the grid is shared by the CTAs along it: they touch
// its bytes again after so many CTAs of the raster (x first) as lie between them. The law of retention is that of tiles
// (sim/memory/tile_reuse): bytes are found again if what was touched since still fits, and waves drift apart.
#pragma once

#include "arch/spec.hpp"
#include "kernels/compiled/footprint.hpp"
#include "sim/gpu/l2_traffic.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::compiled {

struct TrafficSource {
  const arch::GpuSpec* gpu = nullptr;
  const Footprints* footprints = nullptr;
  const Launch* launch = nullptr;
  const LaunchMemory* memory = nullptr;
  double asked_sectors = 0;                     // loads, of L1, the whole launch
  double missed_sectors = 0;                    // of these, asked of L2
  double stored_sectors = 0, masked_lines = 0;  // lines: once for each store that fills a sector of them in part
  double whole_share = 1;       // of these, in lines that each access asks for at once: the others never merge in a TPC
  double pairs_per_sector = 1;  // of 64 bytes, that L2 has to deliver for a sector and its neighbour: 1 to 2
  double bulk_share = 0;        // of missed_sectors: of bulk copies
  int resident = 1;             // CTAs on an SM
  bool loads_ahead = false;     // copies run ahead of the arithmetic
  memory::L2State l2 = memory::L2State::warm;
};

// Of the sectors that two SMs of a TPC ask for, those that reach L2.
[[nodiscard]] double sectors_that_arrive(const TrafficSource& source);

// How long L2 is busy with atomic operations: those on one sector go one after the other.
struct AtomicForm {
  double bytes_per_lane = 0;  // 0: there are none
  bool is_float = false;
  bool answers = false;  // with the value that was there
};
[[nodiscard]] Seconds atomic_time(const TrafficSource& source, const AtomicForm& form);

[[nodiscard]] gpu::Traffic traffic_of(const TrafficSource& source);

// Sets L1Behaviour::in_l2 of loads that share few bytes among many.
void find_loads_in_l2(const TrafficSource& source, Footprints& footprints);

}  // namespace noteg::compiled
