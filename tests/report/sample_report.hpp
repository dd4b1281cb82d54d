// A report with a different value in every field, so that a mixed-up counter is seen.
#pragma once

#include "sim/gpu/report.hpp"

namespace noteg::test {

inline gpu::SimReport sample_report() {
  gpu::SimReport r;
  r.arch_id = "rtx4070";
  r.arch_name = "GeForce RTX 4070";
  r.kernel.name = "cutlass_simt_sgemm_128x128_8x4_tn_align1";
  r.kernel.tile = {128, 128, 8};
  r.kernel.thread_m = 8;
  r.kernel.thread_n = 8;
  r.kernel.threads = 256;
  r.kernel.stages = 4;
  r.kernel.async_copy = true;
  r.shape = {4096, 4096, 4096, 1};
  r.grid_ctas = 1024;
  r.registers_per_thread = 122;
  r.shared_bytes_per_cta = 32768;
  r.time_us = 7700;
  r.cycles = 19e6;
  r.sm_clock_mhz = 2475;
  r.tflops = 17.85;
  r.pct_of_peak = 61.2;
  r.phases_us = {3, 40, 7500, 57, 100};
  r.occupancy = {2, 16, gpu::Limiter::registers, 11.13};
  r.stalls.fill(0);
  r.stalls[static_cast<std::size_t>(sm::Stall::selected)] = 0.25;
  r.stalls[static_cast<std::size_t>(sm::Stall::wait)] = 0.5;
  r.stalls[static_cast<std::size_t>(sm::Stall::math_pipe)] = 0.249;
  r.stalls[static_cast<std::size_t>(sm::Stall::drained)] = 0.001;
  r.pipes = {0.61, 0.05, 0, 0.4, 0.7};
  r.warp_instructions = 2.4e9;
  r.instructions_by_opcode = {{"FFMA", 2.1e9}, {"LDS", 0.2e9}, {"IADD3", 0.1e9}};
  r.memory = {4.3e9, 70e9, 12, 4.4e9, 4.3e9, 67e6, 0.95, 2.1e8, 6.7e7};
  r.rf = {5e9, 2e9, 3e6};
  r.bottleneck = {"fma_pipe",
                  "the FMA pipes of all SMs are busy 61 % of the time and nothing else is as busy",
                  1.4,
                  true,
                  "fp32",
                  61.2,
                  "shared_memory",
                  "none",
                  2475};
  r.roofline = {490, gpu::Bound::compute, false, 4700, 900, 600};
  r.ipc = 2.8;
  r.engine = {false, 80000, 500000};
  r.confidence = {0.034, "124 rows of gpperf_cutlass", {}, ""};
  return r;
}

}  // namespace noteg::test
