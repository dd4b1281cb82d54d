// Keys of one product. Ranges are wide enough for machines of the last and the next ten years: they catch slips of
// unit and of decimal point, not unusual designs.
#include "arch/field_row.hpp"

namespace noteg::arch::detail {

std::vector<Field> chip_fields() {
  constexpr double KiB = 1024, MiB = KiB * 1024, GB = 1e9;
  return {
      row("sms", NOTEG_MEMBER(sms), {1, 1024}, "Number of SMs that the product enables.", "CTA dispatch, peak rates"),
      row("gpcs", NOTEG_MEMBER(gpcs), {1, 64}, "Number of GPCs with at least one enabled SM.", "CTA dispatch order"),
      row("l2.size", NOTEG_MEMBER(l2.size), {64 * KiB, 4096 * MiB}, "Capacity of the L2 cache, in bytes.",
          "L2 hit rate"),
      row("l2.slices", NOTEG_MEMBER(l2.slices), {1, 1024}, "Number of L2 slices.", "L2 bandwidth per slice"),
      row("l2.partitions", NOTEG_MEMBER(l2.partitions), {1, 8},
          "Number of L2 partitions; with two, half of the addresses are reached through the near partition.",
          "L2 latency and effective capacity"),
      row("l2.read_bandwidth", NOTEG_MEMBER(l2.read_bandwidth), {1, 1e6},
          "Bytes per SM clock that all SMs together read from L2, as reached by streaming reads that hit.",
          "L2 bandwidth limit"),
      row("l2.write_bandwidth", NOTEG_MEMBER(l2.write_bandwidth), {1, 1e6},
          "Bytes per SM clock that all SMs together write into L2.", "L2 bandwidth limit"),
      row("l2.sm_bandwidth", NOTEG_MEMBER(l2.sm_bandwidth), {1, 1024}, "Bytes per SM clock between one SM and L2.",
          "L2 bandwidth limit with few SMs"),
      row("l2.latency", NOTEG_MEMBER(l2.latency), {1, 5000},
          "Load to use of an L2 hit in the near partition, in SM cycles, unloaded.", "load latency"),
      row("l2.far_latency", NOTEG_MEMBER(l2.far_latency), {1, 5000},
          "Load to use of an L2 hit in the far partition, in SM cycles; equal to l2.latency with one partition.",
          "load latency"),
      row("l2.line", NOTEG_MEMBER(l2.line), {32, 1024}, "Bytes of an L2 line.", "traffic per request"),
      row("l2.sector", NOTEG_MEMBER(l2.sector), {16, 1024}, "Bytes of an L2 sector, the unit of a fill.",
          "traffic per request"),
      row("dram.type", NOTEG_MEMBER(dram.type), {}, "Memory technology, as data sheets name it.", "reports"),
      row("dram.size", NOTEG_MEMBER(dram.size), {64 * MiB, 4096 * GB}, "Capacity of the device memory, in bytes.",
          "shapes that do not fit"),
      row("dram.bus_bits", NOTEG_MEMBER(dram.bus_bits), {16, 32768}, "Width of the memory bus, in bits.", "reports"),
      row("dram.bandwidth", NOTEG_MEMBER(dram.bandwidth), {1 * GB, 1e6 * GB},
          "Pin bandwidth of the device memory, in bytes per second.", "DRAM bandwidth limit, roofline"),
      fittable(row("dram.read_efficiency", NOTEG_MEMBER(dram.read_efficiency), {0.05, 1},
                   "Fraction of the pin bandwidth that streaming reads reach.", "DRAM bandwidth limit")),
      fittable(row("dram.mixed_efficiency", NOTEG_MEMBER(dram.mixed_efficiency), {0.05, 1},
                   "Fraction of the pin bandwidth that is reached with writes mixed in.", "DRAM bandwidth limit")),
      row("dram.latency", NOTEG_MEMBER(dram.latency), {1e-9, 1e-4},
          "Load to use of an access that misses L2, in seconds, unloaded: the whole round trip from the SM.",
          "load latency"),
      row("dram.service", NOTEG_MEMBER(dram.service), {0, 1e-6},
          "Time of one access in DRAM, in seconds: mean spread of latencies within a group, service time of the queue.",
          "load latency of tiles and under load"),
      row("dram.granule", NOTEG_MEMBER(dram.granule), {16, 1024}, "Bytes that one miss brings into L2.",
          "how often a tile waits for DRAM"),
      row("clock.base", NOTEG_MEMBER(clock.base), {1e6, 2e10}, "Base clock of the SMs on the data sheet, in hertz.",
          "reports"),
      row("clock.boost", NOTEG_MEMBER(clock.boost), {1e6, 2e10}, "Boost clock of the SMs on the data sheet, in hertz.",
          "peak rates"),
      fittable(row("clock.sustained", NOTEG_MEMBER(clock.sustained), {1e6, 2e10},
                   "Highest SM clock that the board holds under load while its power limit does not act, in hertz.",
                   "upper end of the solved clock")),
      fittable(row("launch.kernel", NOTEG_MEMBER(launch.kernel), {0, 1e-3},
                   "Launch and drain cost of a kernel in a row of back-to-back launches, in seconds.", "launch phase")),
      row("launch.cta_rate", NOTEG_MEMBER(launch.cta_rate), {0, 1000},
          "SM cycles between two CTA launches of the whole chip.", "CTA dispatch"),
  };
}

}  // namespace noteg::arch::detail
