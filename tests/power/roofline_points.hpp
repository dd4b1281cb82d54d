// Measured operating points of five boards under a streaming FMA kernel (GPUB: gpu-benches, gpu-roofline, as
// published): arithmetic intensity, SM clock and board power. The rows at the power cap show how clock and voltage are
// governed.
//
// The kernel's events follow from its source: per pair of floats read, N fused multiply-adds v = v * a - b on three
// registers (N = 4 intensity - 1), one more operation for each of the two ends, and about 22 other instructions.
// Three different registers leave two issues of three cycles (one of two with 16 lanes), which the measured rates
// confirm within 2 %. Its operands and data change less than random ones: one figure, 0.64, fitted on the H200's
// points.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/power/power_setup.hpp"

namespace noteg::power {
struct RooflinePoint {
  double intensity;  // FLOP per byte
  double mhz, watts;
};

struct RooflineBoard {
  const char* id;
  double gigabytes_per_second;  // reached by the kernel at its lowest intensity
  std::vector<RooflinePoint> points;
  // Numbers of the board that was measured, where they are not those of its product.
  arch::Overrides own = {};
};

inline constexpr double roofline_toggling = 0.64;

inline ActivityAt roofline_kernel(const arch::GpuSpec& gpu, const RooflineBoard& board, double intensity) {
  constexpr double other_instructions = 22, bytes_per_pair = 8;
  const double pairs = 1e9;  // per lane counts below are divided by 32
  const double fma = 4 * intensity;
  const bool narrow = gpu.sm.pipes.fma.lanes <= 16;
  const double cycles = pairs / 32 * ((narrow ? 2.0 : 1.5) * fma + other_instructions) / (gpu.sms * gpu.sm.sub_cores);
  Activity a;
  a.issued[at(kernels::Opcode::ffma)] = pairs / 32 * fma;
  a.issued[at(kernels::Opcode::iadd3)] = pairs / 32 * other_instructions;
  a.operands = pairs / 32 * (3 * fma + 2 * other_instructions);
  a.data_bytes = a.l2_bytes = a.dram_read_bytes = Bytes{pairs * bytes_per_pair};
  a.data_passes = pairs * bytes_per_pair / 128;
  a.sm_cycles = cycles * gpu.sms;
  const double memory = pairs * bytes_per_pair / (board.gigabytes_per_second * 1e9);
  return [=](Hertz clock) {
    Activity at_clock = a;
    const double compute = cycles / clock.value, top = std::max(compute, memory);
    at_clock.time = Seconds{top * std::pow(std::pow(compute / top, 8) + std::pow(memory / top, 8), 1.0 / 8)};
    return at_clock;
  };
}

inline const std::vector<RooflineBoard>& roofline_boards() {
  static const std::vector<RooflineBoard> all{
      {"l40",
       845,
       {{0.25, 2490, 199},
        {6.25, 2490, 227},
        {18.25, 2490, 282},
        {30.25, 2370, 303},
        {42.25, 1365, 304},
        {54.25, 1440, 304},
        {66.25, 1545, 310},
        {78.25, 1590, 310},
        {90.25, 1590, 306},
        {102.25, 1680, 301},
        {114.25, 1725, 305},
        {126.25, 1740, 302},
        {128.25, 1740, 305}},
       // Fitted on these points: this one holds its voltage up at low clocks.
       {{"power.idle", "78.2 W"},
        {"power.leakage", "31 W"},
        {"power.voltage_floor", "0.9098 V"},
        {"power.floor_clock", "2.4149 GHz"},
        {"power.dram_byte", "94.9 pJ"}}},
      {"l40s",
       845,
       {{0.25, 2520, 210},
        {6.25, 2520, 245},
        {18.25, 2520, 305},
        {30.25, 2475, 352},
        {42.25, 2325, 352},
        {54.25, 2175, 357},
        {66.25, 2130, 353},
        {78.25, 2160, 359},
        {90.25, 2160, 354},
        {102.25, 2190, 355},
        {114.25, 2205, 357},
        {126.25, 2220, 352},
        {128.25, 2205, 353}}},
      {"a40",
       679,
       {{0.25, 1740, 206},
        {6.25, 1740, 231},
        {18.25, 1740, 282},
        {30.25, 1665, 300},
        {42.25, 1650, 301},
        {54.25, 1665, 302},
        {66.25, 1680, 300},
        {78.25, 1695, 300},
        {90.25, 1695, 300},
        {102.25, 1710, 299},
        {114.25, 1725, 299},
        {126.25, 1725, 299},
        {128.25, 1725, 299}}},
      {"a100-sxm4-40gb",
       1372,
       {{0.25, 1410, 227},
        {10.25, 1410, 284},
        {20.25, 1410, 250},
        {32.25, 1410, 224},
        {44.25, 1410, 209},
        {60.25, 1410, 196},
        {68.25, 1410, 195},
        {82.25, 1410, 188},
        {92.25, 1410, 188},
        {108.25, 1410, 184},
        {122.25, 1410, 180},
        {128.25, 1410, 183}}},
      {"h200-sxm-141gb",
       3759,
       {{0.25, 1980, 572},
        {6.25, 1980, 675},
        {18.25, 1980, 562},
        {30.25, 1980, 495},
        {42.25, 1980, 463},
        {54.25, 1980, 440},
        {66.25, 1980, 422},
        {78.25, 1980, 412},
        {90.25, 1980, 405},
        {102.25, 1980, 396}}},
  };
  return all;
}

}  // namespace noteg::power
