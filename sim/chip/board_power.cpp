#include "sim/chip/board_power.hpp"

#include <algorithm>

namespace noteg::chip {

namespace {

// Start values of the reference notes (POWER: board increments derived from GPUB roofline runs and published
// energies per operation): per warp instruction, and per byte at each level. Fetch, issue and registers are in
// the instruction figures.
constexpr double ffma_pj = 340;
constexpr double other_instruction_pj = 250;
constexpr double shared_byte_pj = 12;
constexpr double l2_byte_pj = 38;
constexpr double dram_byte_pj = 125;

double dynamic_joules(const SimReport& report) {
  double ffma = 0;
  if (const auto found = report.instructions_by_opcode.find("FFMA"); found != report.instructions_by_opcode.end())
    ffma = found->second;
  const MemoryTraffic& m = report.memory;
  return 1e-12 *
         (ffma * ffma_pj + (report.warp_instructions - ffma) * other_instruction_pj + m.shared_bytes * shared_byte_pj +
          m.l2_bytes * l2_byte_pj + (m.dram_read_bytes + m.dram_write_bytes) * dram_byte_pj);
}

}  // namespace

BoardPower board_power(const arch::GpuSpec& gpu, const SimReport& report) {
  BoardPower out;
  out.watts = gpu.power.idle.value + dynamic_joules(report) / std::max(report.time_us * 1e-6, 1e-12);
  out.note = "first estimate from energies per event; the clock does not follow from it yet";
  if (out.watts > gpu.power.limit.value) {
    out.watts = gpu.power.limit.value;
    out.throttled = true;
  }
  return out;
}

}  // namespace noteg::chip
