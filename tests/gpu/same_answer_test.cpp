// The same question gets the same answer, to the last bit: with another cache, with a cache that holds other runs,
// from two threads.
#include <array>
#include <thread>

#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

void expect_same(const SimReport& a, const SimReport& b) {
  EXPECT_EQ(a.time_us, b.time_us);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.stalls, b.stalls);
  EXPECT_EQ(a.instructions_by_opcode, b.instructions_by_opcode);
  EXPECT_EQ(a.memory.dram_read_bytes, b.memory.dram_read_bytes);
  EXPECT_EQ(a.memory.l2_bytes, b.memory.l2_bytes);
  EXPECT_EQ(a.phases_us.total(), b.phases_us.total());
  EXPECT_EQ(a.rf.cache_hits, b.rf.cache_hits);
  EXPECT_EQ(a.bottleneck.because, b.bottleneck.because);
  EXPECT_EQ(a.engine.simulated_cycles, b.engine.simulated_cycles);
}

TEST(SameAnswer, WhateverTheCacheHolds) {
  const SimOptions options;
  const arch::GpuSpec gpu = gpu_of("a100-pcie-80gb");
  const kernels::KernelConfig kernel = kernel_of("ampere_sgemm_128x64_tn");
  SmCache empty, used;
  for (const std::int64_t k : {4096, 512, 1024, 1536, 64}) run(gpu, kernel, {4096, 4096, k, 1}, options, used);
  run(gpu, kernel_of("ampere_sgemm_64x64_nn"), {999, 999, 999, 1}, options, used);
  for (const kernels::GemmShape& shape :
       {kernels::GemmShape{4096, 4096, 1100, 1}, {2000, 3000, 777, 2}, {128, 128, 8192, 1}}) {
    SmCache fresh;
    expect_same(run(gpu, kernel, shape, options, fresh), run(gpu, kernel, shape, options, used));
    expect_same(run(gpu, kernel, shape, options, empty), run(gpu, kernel, shape, options, used));
  }
}

TEST(SameAnswer, FromTwoThreadsThatShareACache) {
  const SimOptions options;
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  const kernels::KernelConfig kernel = kernel_of("cutlass_simt_sgemm_64x64_8x4_nn_align1");
  const std::int64_t depths[] = {256, 512, 2048, 4096};
  const auto all = [&](std::array<SimReport, 4>& out, SmCache& cache, bool backwards) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t at = backwards ? out.size() - 1 - i : i;
      out[at] = run(gpu, kernel, {2048, 2048, depths[at], 1}, options, cache);
    }
  };
  std::array<SimReport, 4> alone, first, second;
  SmCache own, shared;
  all(alone, own, false);
  std::thread a([&] { all(first, shared, false); });
  std::thread b([&] { all(second, shared, true); });
  a.join();
  b.join();
  for (std::size_t i = 0; i < alone.size(); ++i) {
    expect_same(alone[i], first[i]);
    expect_same(alone[i], second[i]);
  }
}

}  // namespace
}  // namespace noteg::gpu
