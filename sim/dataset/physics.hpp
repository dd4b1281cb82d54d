// Analytic quantities of a GEMM on a GPU: what a performance engineer writes on the back of an envelope. Nothing here
// is fitted and nothing is simulated. Times are in microseconds at the clock that the counted events leave the board.
#pragma once

#include "arch/spec.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::dataset {

struct Physics {
  double ctas = 0, ctas_per_sm = 0, warps_per_sm = 0;
  double waves = 0;
  double wave_efficiency = 0;       // work of all SMs over that of the busiest one times their number
  double useful_share = 0;          // of the elements of C that tiles cover
  double iterations = 0;            // k tiles of a CTA
  double arithmetic_intensity = 0;  // FLOP per byte of A, B and C once
  double math_instructions = 0;     // of warps (wgmma: of warp groups): FFMA, or those of the tensor cores
  double shared_load_instructions = 0;
  double shared_bytes = 0, l2_bytes = 0, dram_read_bytes = 0, dram_write_bytes = 0;
  double clock_mhz = 0;    // given, or the highest that the board holds with these events in the roofline's time
  double power_w = 0;      // there, idle included
  double power_share = 0;  // of the limit that these events would take at clock.sustained: above 1 the clock falls
  double compute_us = 0, shared_us = 0, l2_us = 0, dram_us = 0, latency_us = 0;
  double roofline_us = 0;  // launch and the largest of the five
  double energy_mj = 0;
  double tflops = 0;
};

// The report is unsimulated() or better. All zero where not even one CTA fits.
[[nodiscard]] Physics physics_of(const arch::GpuSpec& gpu, const gpu::SimReport& report,
                                 const gpu::SimOptions& options);

}  // namespace noteg::dataset
