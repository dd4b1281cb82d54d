#include "tests/bench/bench_setup.hpp"

#include "arch/load.hpp"

namespace noteg::bench {

Result<Setup> main_job() {
  auto gpu = arch::load_gpu("rtx4070");
  if (!gpu) return gpu.errors();
  Setup setup;
  setup.gpu = *gpu;
  setup.kernel.family = kernels::Family::simt;
  setup.kernel.tile = {128, 128, 8};
  return setup;
}

kernels::GemmShape square(std::int64_t edge) { return {.m = edge, .n = edge, .k = edge}; }

}  // namespace noteg::bench
