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
      row("l2.partitions", NOTEG_MEMBER(l2.partitions), {1, 8},
          "Number of L2 partitions; with two, half of the addresses are reached through the near partition.",
          "L2 latency and effective capacity"),
      row("l2.own_clock", NOTEG_MEMBER(l2.own_clock), {},
          "L2 has a clock of its own: it keeps its bytes per second where the SM clock falls.", "L2 bandwidth limit"),
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
      row("l2.sector", NOTEG_MEMBER(l2.sector), {16, 1024}, "Bytes of an L2 sector, the unit of a fill.",
          "look-ups in L2, writes of C"),
      row("l2.kept_below", NOTEG_MEMBER(l2.kept_below), {0.01, 10},
          "Bytes between two uses, over the capacity, up to which everything is found again.", "L2 reuse"),
      row("l2.gone_above", NOTEG_MEMBER(l2.gone_above), {0.01, 10},
          "Bytes between two uses, over the capacity, from which nothing is found again.", "L2 reuse"),
      optional(row("l2.translation_reach", NOTEG_MEMBER(l2.translation_reach), {1 * MiB, 4096 * GB},
                   "Bytes of the pages whose addresses are translated on the way to L2. Absent: not modelled.",
                   "rows that lie far apart")),
      optional(row("l2.translation_reads", NOTEG_MEMBER(l2.translation_reads), {0, 100},
                   "Reads of two sectors that take as long as the translation of a line in another page.",
                   "rows that lie far apart")),
      optional(row("l2.store_mask", NOTEG_MEMBER(l2.store_mask), {0, 16},
                   "What a store that fills sectors of a line in part sends before them, over what it sends for a "
                   "sector. Absent: not modelled.",
                   "stores of parts of sectors")),
      optional(
          row("l2.modified_read", NOTEG_MEMBER(l2.modified_read), {0, 4},
              "What it takes of the time of a store to read bytes that a kernel, or the one before it, stored: half "
              "of them lie in the far partition. Absent: not modelled.",
              "kernels that work in place")),
      optional(row("l2.sm_write_bandwidth", NOTEG_MEMBER(l2.sm_write_bandwidth), {1, 1024},
                   "Bytes per SM clock that one SM stores to L2. Absent: as many as it reads.", "stores")),
      optional(row("l2.atomic_interval", NOTEG_MEMBER(l2.atomic_interval), {1e-12, 1e-6},
                   "From one atomic operation on a sector of L2 to the next, in seconds.", "atomic operations")),
      optional(row("l2.atomic_units", NOTEG_MEMBER(l2.atomic_units), {1, 1024},
                   "Units of L2 that do atomic operations at once where the addresses are many.", "atomic operations")),
      optional(row("l2.atomic_interleave", NOTEG_MEMBER(l2.atomic_interleave), {32, 1 * MiB},
                   "Addresses so close together lie in one of these units, in bytes.", "atomic operations")),
      row("dram.type", NOTEG_MEMBER(dram.type), {}, "Memory technology, as data sheets name it.", "reports"),
      row("dram.size", NOTEG_MEMBER(dram.size), {64 * MiB, 4096 * GB},
          "Capacity of the device memory: what makers call GB are GiB.", "shapes that do not fit"),
      row("dram.bus_bits", NOTEG_MEMBER(dram.bus_bits), {16, 32768}, "Width of the memory bus, in bits.",
          "rows per second"),
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
      row("dram.tile_efficiency", NOTEG_MEMBER(dram.tile_efficiency), {0.05, 1},
          "Of the rate of one long stream, what tiles reach: their rows lie far apart.", "DRAM bandwidth limit"),
      row("dram.channel_bits", NOTEG_MEMBER(dram.channel_bits), {8, 1024}, "Width of one memory channel, in bits.",
          "rows per second"),
      row("dram.banks", NOTEG_MEMBER(dram.banks), {1, 1024}, "Banks of a memory channel.", "rows per second"),
      row("dram.busy_banks", NOTEG_MEMBER(dram.busy_banks), {0.01, 1},
          "Share of the banks that accesses to random places keep busy.", "rows per second"),
      row("dram.row_cycle", NOTEG_MEMBER(dram.row_cycle), {1e-9, 1e-6},
          "From one row of a bank to the next, in seconds.", "rows per second, queue for banks"),
      optional(row("dram.write_drain", NOTEG_MEMBER(dram.write_drain), {0, 1e-4},
                   "What reads wait beside their latency where DRAM only writes, in seconds; less by the share of its "
                   "time that it writes. Absent: not modelled.",
                   "load latency beside writes")),
      row("clock.boost", NOTEG_MEMBER(clock.boost), {1e6, 2e10}, "Boost clock of the SMs on the data sheet, in hertz.",
          "peak rates"),
      fittable(row("clock.sustained", NOTEG_MEMBER(clock.sustained), {1e6, 2e10},
                   "Highest SM clock that the board holds under load while its power limit does not act, in hertz.",
                   "upper end of the solved clock")),
      row("clock.lowest", NOTEG_MEMBER(clock.lowest), {1e6, 2e10},
          "SM clock below which no limit pulls a board under load, in hertz.", "lower end of the solved clock"),
      optional(row("clock.rest.clock", NOTEG_MEMBER(clock.rest), {1e6, 2e10},
                   "SM clock of a board that had nothing to do, kept while it wakes. Section absent: it stands ready.",
                   "runs from rest")),
      optional(row("clock.rest.wake", NOTEG_MEMBER(clock.wake), {0, 10},
                   "Time under load before a board leaves clock.rest.clock, in seconds.", "runs from rest")),
      fittable(row("launch.kernel", NOTEG_MEMBER(launch.kernel), {0, 1e-3},
                   "Launch and drain cost of a kernel in a row of back-to-back launches, in seconds.", "launch phase")),
      row("launch.cta_rate", NOTEG_MEMBER(launch.cta_rate), {0, 1000},
          "SM cycles between two CTA launches of the whole chip.", "CTA dispatch"),
  };
}

// Keys of board power, and of the energy of one event in an SM.

namespace {

constexpr double pJ = 1e-12;
constexpr Range per_event{0, 1e5 * pJ};
constexpr Range per_lane{0, 1000 * pJ};

}  // namespace

std::vector<Field> power_fields() {
  return {
      row("power.limit", NOTEG_MEMBER(power.limit), {1, 5000}, "Board power limit, in watts.", "power, solved clock"),
      row("power.burst_share", NOTEG_MEMBER(power.burst_share), {1, 10},
          "What a fast limiter lets tensor cores draw before the slow one acts, over power.limit.",
          "clock of launches from rest"),
      fittable(
          row("power.idle", NOTEG_MEMBER(power.idle), {0, 1000},
              "Board power at clock.boost without an event, leakage included, in watts; at rest a board takes less.",
              "power")),
      fittable(
          row("power.leakage", NOTEG_MEMBER(power.leakage), {0, 1000},
              "Part of power.idle that leaks: at the temperature of the idle board and power.voltage_max, in watts.",
              "power")),
      row("power.leakage_growth", NOTEG_MEMBER(power.leakage_growth), {0, 0.1},
          "Growth of the leakage per kelvin, exponential (0.012: 1.2 percent).", "power"),
      row("power.ambient", NOTEG_MEMBER(power.ambient), {-50, 100},
          "Temperature of the air that cools the board, in degrees Celsius.", "temperature"),
      fittable(row("power.thermal_resistance", NOTEG_MEMBER(power.thermal_resistance), {0, 10},
                   "Rise of the GPU's temperature over that of the air per watt of board power.", "temperature")),
      row("power.slowdown", NOTEG_MEMBER(power.slowdown), {0, 150},
          "GPU temperature that the board does not exceed: the clock falls until the temperature stays there.",
          "solved clock, power over time"),
      row("power.thermal_time", NOTEG_MEMBER(power.thermal_time), {1e-6, 1e4},
          "Time constant with which the temperature follows the power, in seconds.", "power over time"),
      row("power.averaging", NOTEG_MEMBER(power.averaging), {1e-6, 100},
          "Window over which the power limiter and the meter average, in seconds.", "power over time"),
      row("power.voltage_max", NOTEG_MEMBER(power.voltage_max), {0.1, 10},
          "Supply voltage at clock.boost, on a scale on which the energies of the generation are stated at 1 V.",
          "energy per event, leakage"),
      fittable(row("power.voltage_floor", NOTEG_MEMBER(power.voltage_floor), {0.1, 10},
                   "Supply voltage at power.floor_clock and below, on the same scale.", "energy per event, leakage")),
      fittable(row(
          "power.floor_clock", NOTEG_MEMBER(power.floor_clock), {1e6, 2e10},
          "Highest SM clock at which the voltage is power.voltage_floor; it rises linearly from there to clock.boost.",
          "voltage")),
      fittable(row("power.dram_byte", NOTEG_MEMBER(power.dram_byte), per_lane,
                   "Energy of a byte read from DRAM: controller, bus and memory; not scaled with the voltage.",
                   "power")),
      row("power.dram_write_byte", NOTEG_MEMBER(power.dram_write_byte), per_lane,
          "Energy of a byte written to DRAM: controller, bus and memory; not scaled with the voltage.", "power"),
  };
}

std::vector<Field> sm_energy_fields() {
  return {
      fittable(row("sm.energy.issue", NOTEG_MEMBER(sm.energy.issue), per_event,
                   "Energy of fetching, decoding, scheduling and issuing a warp instruction, at 1 V.", "power")),
      fittable(row("sm.energy.operand", NOTEG_MEMBER(sm.energy.operand), per_event,
                   "Energy of one operand of 32 active lanes read from a register bank, at 1 V.", "power")),
      row("sm.energy.cached_operand", NOTEG_MEMBER(sm.energy.cached_operand), per_event,
          "Energy of one operand of 32 active lanes read from the register file cache, at 1 V.", "power"),
      fittable(row("sm.energy.fma", NOTEG_MEMBER(sm.energy.fma), per_lane,
                   "Energy of one lane of an FP32 instruction with random operands, result write included, at 1 V.",
                   "power")),
      fittable(row("sm.energy.alu", NOTEG_MEMBER(sm.energy.alu), per_lane,
                   "Energy of one lane of an integer, logic or move instruction with random operands, at 1 V.",
                   "power")),
      row("sm.energy.half", NOTEG_MEMBER(sm.energy.half), per_lane,
          "Energy of one lane of a packed FP16 instruction with random operands, at 1 V.", "power"),
      row("sm.energy.mufu", NOTEG_MEMBER(sm.energy.mufu), per_lane,
          "Energy of one lane of a transcendental or conversion with random operands, at 1 V.", "power"),
      row("sm.energy.fp64", NOTEG_MEMBER(sm.energy.fp64), per_lane,
          "Energy of one lane of an FP64 instruction with random operands, at 1 V.", "power"),
      row("sm.energy.static_operands", NOTEG_MEMBER(sm.energy.static_operands), {0, 1},
          "Share of lane and operand energies that remains when operands do not change from one instruction to the "
          "next.",
          "power with --operands zeros"),
      fittable(row("sm.energy.data_pass", NOTEG_MEMBER(sm.energy.data_pass), per_event,
                   "Energy of one wavefront of up to 128 bytes through the shared-memory and L1 data array, at 1 V.",
                   "power")),
      fittable(row("sm.energy.data_byte", NOTEG_MEMBER(sm.energy.data_byte), per_lane,
                   "Energy of one byte moved between that array and registers, at 1 V.", "power")),
      fittable(row("sm.energy.l2_byte", NOTEG_MEMBER(sm.energy.l2_byte), per_lane,
                   "Energy of one byte between an SM and L2, network and L2 array, at 1 V.", "power")),
      row("sm.energy.bf16_data", NOTEG_MEMBER(sm.energy.bf16_data), {0, 1},
          "Energies of moved data that holds normally distributed bf16 numbers, over those of hashed words; on the way "
          "from constant data.",
          "power of bf16 kernels"),
      row("sm.energy.static_data", NOTEG_MEMBER(sm.energy.static_data), {0, 1},
          "Share of the energies of moved data (data_pass, data_byte, l2_byte, power.dram_byte, power.dram_write_byte) "
          "that remains when it is constant.",
          "power with --operands zeros"),
      fittable(row("sm.energy.clock_tree", NOTEG_MEMBER(sm.energy.clock_tree), per_event,
                   "Energy of one cycle of the clock tree of one SM that works, at 1 V.", "power")),
      row("sm.energy.tensor", NOTEG_MEMBER(sm.energy.tensor), per_lane,
          "Energy of one multiply-accumulate on the tensor cores per form (input and accumulator type), at 1 V.",
          "power of tensor kernels"),
      row("sm.energy.static_tensor", NOTEG_MEMBER(sm.energy.static_tensor), {0, 1},
          "Share of the tensor energies that remains when operands are constant.", "power with --operands zeros"),
      row("sm.energy.padded_activity", NOTEG_MEMBER(sm.energy.padded_activity), {0, 1},
          "Activity of operands where rows beyond the matrix, which are zeros, are multiplied.",
          "power of uneven sizes"),
  };
}

}  // namespace noteg::arch::detail
