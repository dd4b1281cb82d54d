#include <gtest/gtest.h>

#include <cmath>

#include "arch/load.hpp"
#include "sim/workload/launch_cost.hpp"

namespace noteg::workload {
namespace {

Operation operation(Op op, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  Operation o;
  o.op = op;
  o.m = m, o.n = n, o.k = k, o.batch = batch;
  set_types(o, kernels::DataType::f16);
  return o;
}

const GemmLaunch& gemm_of(const Expansion& expansion, std::size_t place) {
  return std::get<GemmLaunch>(expansion.launches.at(place).work);
}

TEST(Launches, ALinearLayerIsOneGemmAndSaysSo) {
  const Expansion e = launches_of(operation(Op::linear, 16, 4096, 1024));
  ASSERT_EQ(e.launches.size(), 1U);
  EXPECT_EQ(e.modelled_as, "");
  EXPECT_DOUBLE_EQ(e.launches.front().flops(), 2.0 * 16 * 4096 * 1024);
}

TEST(Launches, HeadsThatShareKeysAreRowsOfOneGemmInDecode) {
  Operation o = operation(Op::attention_decode, 1, 1000, 128, 5);
  set_types(o, kernels::DataType::f32);  // of which there is no fused kernel
  o.heads = 32, o.kv_heads = 8;
  const Expansion e = launches_of(o);
  ASSERT_EQ(e.launches.size(), 3U);
  const kernels::GemmShape& scores = gemm_of(e, 0).shape;
  EXPECT_EQ(scores.m, 4);
  EXPECT_EQ(scores.n, 1008) << "pages of 16 keys";
  EXPECT_EQ(scores.batch, 40);
  EXPECT_FALSE(e.modelled_as.empty());
}

TEST(Launches, APrefillIsOneFusedKernelOverTheHeadsThatShareKeys) {
  Operation o = operation(Op::attention_prefill, 100, 1000, 128, 5);
  o.heads = 32, o.kv_heads = 8, o.causal = true;
  const Expansion e = launches_of(o);
  ASSERT_EQ(e.launches.size(), 1U);
  const auto& launch = std::get<AttentionLaunch>(e.launches[0].work);
  EXPECT_EQ(launch.shape.m, 4 * 128) << "blocks of 64 queries of a head";
  EXPECT_EQ(launch.shape.n, 256);
  EXPECT_EQ(launch.shape.k, 1000);
  EXPECT_EQ(launch.shape.batch, 40);
  const Machine machine{*arch::load_gpu("a100-pcie-80gb"), {}, {}};
  gpu::SmCache cache;
  EXPECT_TRUE(cost_of(machine, GemmLaunch{launch.shape, launch.kernel}, launch.kernel, cache));
}

TEST(Launches, ADecodedTokenReadsItsKeysAndValuesOnce) {
  Operation o = operation(Op::attention_decode, 1, 1000, 128, 5);
  o.heads = 32, o.kv_heads = 8;
  const Expansion e = launches_of(o);
  ASSERT_EQ(e.launches.size(), 1U);
  const auto& launch = std::get<StreamLaunch>(e.launches[0].work);
  EXPECT_EQ(launch.read_bytes - launch.write_bytes, 2.0 * 40 * 1008 * 128 * 2) << "pages of 16 keys, two bytes each";
}

TEST(Launches, ACausalQuerySeesHalfOfItsOwnKeysAndAllOlderOnes) {
  Operation o = operation(Op::attention_prefill, 1024, 1024, 64);
  o.heads = o.kv_heads = 8;
  const double whole = flops_of(o);
  EXPECT_DOUBLE_EQ(whole, 4.0 * 8 * 1024 * 1024 * 64);
  o.causal = true;
  EXPECT_DOUBLE_EQ(flops_of(o), whole * 512.5 / 1024);
  o.n = 4096;
  EXPECT_DOUBLE_EQ(flops_of(o), whole * (4096 - 511.5) / 1024);
}

TEST(Launches, TokensThatAreRoutedEvenlyReachTheExpectedNumberOfExperts) {
  EXPECT_DOUBLE_EQ(active_experts(8, 2, 1), 2);
  EXPECT_NEAR(active_experts(8, 2, 1000), 8, 1e-9);
  EXPECT_DOUBLE_EQ(active_experts(8, 8, 1), 8);
  Operation o = operation(Op::moe, 1, 768, 2048, 128);
  o.top_k = 8;
  const Expansion e = launches_of(o);
  EXPECT_EQ(gemm_of(e, 1).shape.batch, 8);
  EXPECT_EQ(gemm_of(e, 1).shape.m, 1);
  EXPECT_EQ(gemm_of(e, 1).shape.n, 2 * 768);
}

TEST(Launches, EqualWorkHasEqualIdentity) {
  const auto identity = [](std::int64_t m, Op op) {
    return launches_of(operation(op, m, 64, 64)).launches[0].identity();
  };
  EXPECT_EQ(identity(16, Op::linear), identity(16, Op::linear));
  EXPECT_NE(identity(16, Op::linear), identity(17, Op::linear));
}

Machine machine(const arch::Overrides& overrides = {}) {
  Machine out{*arch::load_gpu("a100-sxm4-80gb", overrides), {}, {}};
  out.sim.l2 = gpu::L2State::steady;
  return out;
}

TEST(StreamKernel, IsALaunchARoundTripAndTheBytesOverTheBandwidth) {
  const Machine m = machine();
  const StreamLaunch launch{1e9, 1e9, 0};
  const LaunchCost cost = cost_of(m, launch);
  const arch::DramSpec& dram = m.gpu.dram;
  const double expected =
      m.gpu.launch.kernel.value + dram.latency.value + 2e9 / (dram.bandwidth.value * dram.mixed_efficiency);
  EXPECT_NEAR(cost.time_us * 1e-6 / expected, 1, 1e-9);
  EXPECT_EQ(cost.limiter, "dram_bandwidth");
  EXPECT_NEAR(cost.energy_mj, cost.power_w * cost.time_us * 1e-3, 1e-6 * cost.energy_mj);
}

TEST(StreamKernel, WithHalfTheBandwidthTakesTwiceAsLong) {
  const StreamLaunch launch{1e9, 1e9, 0};
  const double whole = cost_of(machine(), launch).time_us;
  const double half = cost_of(machine({{"dram.bandwidth", "1019.5 GB/s"}}), launch).time_us;
  EXPECT_NEAR(half / whole, 2, 0.01);
}

TEST(StreamKernel, FindsInL2WhatTheKernelBeforeWroteAsFarAsItFits) {
  const Machine m = machine();
  EXPECT_DOUBLE_EQ(kept_in_l2(m.gpu, 0.5 * m.gpu.l2.size.value), 1);
  EXPECT_DOUBLE_EQ(kept_in_l2(m.gpu, 2 * m.gpu.l2.size.value), 0);
  const LaunchCost near = cost_of(m, StreamLaunch{1e6, 0, 1e6}), far = cost_of(m, StreamLaunch{1e6, 0, 0});
  EXPECT_DOUBLE_EQ(near.dram_bytes, 0);
  EXPECT_DOUBLE_EQ(far.dram_bytes, 1e6);
  EXPECT_LE(near.time_us, far.time_us);
}

TEST(Collective, IsALatencyAndTheBytesOfARing) {
  Machine m = machine();
  m.links = {BytesPerSecond{100e9}, Seconds{10e-6}};
  EXPECT_NEAR(cost_of(m, CollectiveLaunch{1e6, 4}).time_us, 10 + 1e6 * 2 * 3 / 4 / 100e9 * 1e6, 1e-6);
  EXPECT_DOUBLE_EQ(cost_of(m, CollectiveLaunch{1e6, 1}).time_us, 0);
}

}  // namespace
}  // namespace noteg::workload
