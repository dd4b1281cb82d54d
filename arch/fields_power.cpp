// Keys of board power, and of the energy of one event in an SM.
#include "arch/field_row.hpp"

namespace noteg::arch::detail {
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
  };
}

}  // namespace noteg::arch::detail
