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

Result<Setup> tensor_job() {
  auto gpu = arch::load_gpu("a100-pcie-40gb");
  if (!gpu) return gpu.errors();
  Setup setup;
  setup.gpu = *gpu;
  setup.kernel.family = kernels::Family::mma;
  setup.kernel.dtype_in = setup.kernel.dtype_out = kernels::DataType::f16;
  setup.kernel.tile = {128, 128, 32};
  return setup;
}

kernels::GemmShape square(std::int64_t edge) { return {.m = edge, .n = edge, .k = edge}; }

}  // namespace noteg::bench
