#include "sim/chip/board_power.hpp"

#include <algorithm>

namespace noteg::chip {

namespace {

// pJ per FP32 FLOP including issue and registers, pJ per DRAM byte including L2 and controller (GPUB, derived).
constexpr double flop_pj = 5.5;
constexpr double dram_byte_pj = 125;

}  // namespace

BoardPower board_power(const arch::GpuSpec& gpu, const SimReport& report) {
  BoardPower out;
  const double seconds = std::max(report.time_us * 1e-6, 1e-12);
  const double flops = report.tflops * 1e12;
  const double bytes = (report.memory.dram_read_bytes + report.memory.dram_write_bytes) / seconds;
  out.watts = gpu.power.idle.value + (flops * flop_pj + bytes * dram_byte_pj) * 1e-12;
  out.note = "first estimate from FLOP and DRAM rates; the clock does not follow from it yet";
  if (out.watts > gpu.power.limit.value) {
    out.watts = gpu.power.limit.value;
    out.throttled = true;
  }
  return out;
}

}  // namespace noteg::chip
