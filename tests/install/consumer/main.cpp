#include <cstdio>

#include "arch/load.hpp"
#include "sim/gpu/simulate.hpp"

int main() {
  const auto gpu = noteg::arch::load_gpu("rtx4070");
  if (!gpu) return 2;
  noteg::kernels::KernelConfig kernel;
  kernel.tile = {128, 128, 8};
  noteg::gpu::SmCache cache;
  const auto report = noteg::gpu::simulate(*gpu, kernel, {.m = 1024, .n = 1024, .k = 256}, {}, cache);
  if (!report) return 1;
  std::printf("%.1f us\n", report->time_us);
  return report->time_us > 0 ? 0 : 1;
}
