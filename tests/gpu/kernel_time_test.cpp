// A launch is all that the timing needs, and time, load and clock agree with each other in what comes out.
#include "sim/gpu/kernel_time.hpp"

#include "kernels/assembly/assembly.hpp"
#include "sim/gpu/dram.hpp"
#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/gpu/simulate.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

KernelLaunch launch_for(const arch::GpuSpec& gpu, const std::string& kernel, const kernels::GemmShape& shape,
                        const SimOptions& options, SmCache& cache) {
  const Result<KernelLaunch> launch = launch_of(gpu, kernel_of(kernel), shape, options, cache);
  EXPECT_TRUE(launch) << to_string(launch.errors());
  return launch ? *launch : KernelLaunch{};
}

// Streams that only read or only write reach the same; a copy loses most, and as much nearly where a ninth is read.
TEST(Dram, LosesToItsBusWhateverTheShareOfReadsAmongWritesIs) {
  const arch::DramSpec dram = gpu_of("h100-sxm5-80gb").dram;
  const double alone = dram_bandwidth(dram, 1, 0).value, copy = dram_bandwidth(dram, 1, 1).value;
  EXPECT_DOUBLE_EQ(dram_bandwidth(dram, 0, 1).value, alone);
  const auto lost = [&](double read, double written) {
    return (alone - dram_bandwidth(dram, read, written).value) / (alone - copy);
  };
  EXPECT_NEAR(lost(2, 1), 0.69, 0.06);
  EXPECT_NEAR(lost(1, 2), 0.98, 0.06);
  EXPECT_NEAR(lost(1, 4), 0.95, 0.06);
  EXPECT_NEAR(lost(1, 8), 0.92, 0.06);
}

// dram_lines of h200_memory_micro.csv: 2, 8 and 32 lines at random places come 57, 216 and 389 cycles later than one,
// where issue is left out.
TEST(Dram, TheLastOfLinesThatWaitTogetherIsAsLateAsMeasured) {
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  const auto wait = [&](double places) {
    Traffic traffic;
    traffic.waiting_places = places;
    traffic.waits_at_once = true;
    return dram_queue(gpu.dram, traffic, gpu.clock.boost).wait(0);
  };
  EXPECT_NEAR(wait(2) - wait(1), 57, 15);
  EXPECT_NEAR(wait(8) - wait(1), 216, 25);
  EXPECT_NEAR(wait(32) - wait(1), 389, 25);
}

// Behind a barrier, of pieces of 16 KB (dram_group_loaded of h200_memory_micro.csv): 1192 cycles at 0.31 of the
// bandwidth, 1463 and 1605 at 0.68 and 0.81.
TEST(Dram, TheLastOfAStepWaitsLongerInTheQueueThanOneAlone) {
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  const auto wait = [&](double places, double load) {
    Traffic traffic;
    traffic.dram_read_bytes = 1e9;
    traffic.waiting_places = traffic.queued_places = places;
    return dram_queue(gpu.dram, traffic, gpu.clock.boost).wait(load);
  };
  EXPECT_NEAR(wait(16, 0.68) - wait(16, 0.31), 271, 110);
  EXPECT_NEAR(wait(16, 0.81) - wait(16, 0.31), 413, 110);
  EXPECT_GT(wait(16, 0.81) - wait(16, 0.31), 2 * (wait(1, 0.81) - wait(1, 0.31)));
}

TEST(SimulateLaunch, GivesWhatSimulateGivesForAGemm) {
  const arch::GpuSpec gpu = gpu_of("l4");
  const kernels::GemmShape shape{2048, 1024, 512, 1};
  SmCache cache;
  const KernelLaunch launch = launch_for(gpu, "ampere_sgemm_128x64_tn", shape, {}, cache);
  const Result<SimReport> alone = simulate_launch(gpu, launch, {}, cache);
  ASSERT_TRUE(alone) << to_string(alone.errors());
  const SimReport gemm = run(gpu, "ampere_sgemm_128x64_tn", shape);
  EXPECT_EQ(alone->time_us, gemm.time_us);
  EXPECT_EQ(alone->power_w, gemm.power_w);
  EXPECT_EQ(alone->phases_us.total(), gemm.phases_us.total());
}

// A program of nobody's family: 64 CTAs of a loop of FFMA, which move nothing.
TEST(SimulateLaunch, NeedsNoConfigurationAndNoShape) {
  const Result<kernels::Program> program = kernels::parse_assembly(
      ".warps 4\nloop:\n[B------:R-:W-:-:S02] FFMA R4, R5, R7, R9 ;\n[B------:R-:W-:-:S05] @P0 BRA loop ;\n", "t");
  ASSERT_TRUE(program) << to_string(program.errors());
  const arch::GpuSpec gpu = gpu_of("a100-pcie-80gb");
  KernelLaunch launch;
  launch.program = std::make_shared<const kernels::Program>(*program);
  launch.resources = {128, 16, 0};
  launch.occupancy = *occupancy_of(gpu.sm.occupancy, launch.resources);
  SmCache cache;
  const auto cycles = [&](std::int64_t ctas, std::int64_t iterations) {
    launch.geometry = {ctas, iterations, 1, static_cast<double>(ctas), gpu.sms};
    const Result<SimReport> report = simulate_launch(gpu, launch, {}, cache);
    EXPECT_TRUE(report) << to_string(report.errors());
    return report ? report->cycles - gpu.launch.kernel.value * report->sm_clock_mhz * 1e6 : 0;
  };
  EXPECT_EQ(cycles(1, 200), cycles(gpu.sms, 200));
  EXPECT_NEAR(cycles(gpu.sms, 2000) / cycles(gpu.sms, 1000), 2, 0.02);
}

// 512 tiles of CTAs that take tile after tile: 132 ask for three rounds, 116 for the last.
TEST(PortRequest, PersistentCtasShareL2ByTiles) {
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  SmCache cache;
  const KernelLaunch launch =
      launch_for(gpu, "cutlass_sm90_wgmma_f16_f32acc_128x256x64_2x1_coop", {4096, 4096, 512, 1}, {}, cache);
  const CtaSpread spread = port_request(gpu, launch, {}).ctas;
  EXPECT_EQ(spread.fullest, 4);
  EXPECT_NEAR(spread.share_of(1000, 1e9), 1000 * 4 / 512.0, 1e-9);
}

// Rows beyond the matrix are masked: a CTA that fills a quarter of its tile's rows reads the less, and has its results
// out four times as soon.
TEST(PortRequest, WhatLiesBeyondTheMatrixAsksL2ForNothing) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  SmCache cache;
  const auto port = [&](std::int64_t m) {
    const KernelLaunch launch = launch_for(gpu, "ampere_sgemm_128x64_nn", {m, 128 * 4 * gpu.sms, 512, 1}, {}, cache);
    return port_to_l2(port_request(gpu, launch, {}), gpu.clock.sustained);
  };
  const sm::MemoryPort whole = port(64), quarter = port(16);
  EXPECT_NEAR(quarter.read_bytes_per_cycle / whole.read_bytes_per_cycle, 192.0 / (16 + 128), 0.03);
  EXPECT_NEAR(quarter.write_bytes_per_cycle / whole.write_bytes_per_cycle, 4, 0.08);
}

// Each partition has a copy of what its SMs read and write: near while those have room; beyond that the first to ask on
// its side waits.
TEST(PortRequest, DataAreNearWhileTheirCopiesHaveRoom) {
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  const auto latency = [&](double read, double written, double sharers = 1) {
    PortRequest request;
    request.gpu = &gpu;
    request.traffic.footprint_bytes = (read + written) * 1e6;
    request.traffic.result_bytes = written * 1e6;
    request.traffic.sharers = sharers;
    return port_to_l2(request, gpu.clock.sustained).latency;
  };
  EXPECT_LT(latency(17, 17), 300);
  EXPECT_LT(latency(35, 0), 300);
  EXPECT_GT(latency(48, 0), 350);
  EXPECT_GT(latency(35, 0, 4), latency(35, 0));  // a copy on either side
  EXPECT_LT(latency(48, 0, 16), 310);
}

class Waits : public testing::TestWithParam<double> {};

TEST_P(Waits, LoadAndTimeAgreeAtEveryClock) {
  const arch::GpuSpec gpu = gpu_of("l4");
  SmCache cache;
  KernelLaunch launch = launch_for(gpu, "ampere_sgemm_64x64_nn", {4096, 4096, 512, 1}, {}, cache);
  launch.traffic.waiting_steps = GetParam();
  launch.traffic.dram_read_bytes = 4e8;
  const Result<TimedKernel> timed = time_kernel(gpu, launch, {}, cache);
  ASSERT_TRUE(timed);
  for (const double share : {0.4, 0.7, 1.0}) {
    const Hertz clock = gpu.clock.sustained * share;
    const double dram = (dram_time(gpu.dram, launch.traffic) * clock).value;
    const double sm = timed->time.sm_cycles_at(clock);
    EXPECT_NEAR(timed->time.load_at(clock), dram / std::max(dram, sm), 1e-4);
    EXPECT_GE(timed->time.cycles_at(clock), std::max(dram, sm));
  }
  EXPECT_GE(timed->runs.from_dram.cycles, timed->runs.from_l2.cycles * 0.99);
}

INSTANTIATE_TEST_SUITE_P(Shares, Waits, testing::Values(0.25, 0.5, 1.0));

TEST(KernelTime, StepsThatWaitForDramCostTimeInOrderOfTheirShare) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  SmCache cache;
  KernelLaunch launch = launch_for(gpu, "cutlass_simt_sgemm_128x128_8x2_nn_align1", {2048, 2048, 512, 1}, {}, cache);
  double before = 0;
  for (const double share : {0.0, 0.3, 0.6, 1.0}) {
    launch.traffic.waiting_steps = share;
    const Result<TimedKernel> timed = time_kernel(gpu, launch, {}, cache);
    ASSERT_TRUE(timed);
    EXPECT_GE(timed->cycles(), before);
    before = timed->cycles();
  }
}

TEST(KernelTime, LoadsWaitForL2AsItIsBusyWithReadsAndStores) {
  arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  SmCache cache;
  KernelLaunch launch = launch_for(gpu, "ampere_sgemm_64x64_nn", {2048, 2048, 512, 1}, {}, cache);
  const Hertz clock = gpu.clock.sustained;
  const double stored = launch.traffic.l2_write_bytes;
  double before = 0;
  for (const double times : {1.0, 8.0, 16.0, 1e3}) {
    launch.traffic.l2_write_bytes = times * stored;
    const Result<TimedKernel> timed = time_kernel(gpu, launch, {}, cache);
    ASSERT_TRUE(timed);
    const double wait = timed->time.l2_wait_at(clock);
    EXPECT_GT(wait, before);
    EXPECT_LE(wait, 2 * 3.4 * gpu.l2.service.value);  // each queue at 0.87
    before = wait;
  }
  gpu.l2.service = {};
  const Result<TimedKernel> unknown = time_kernel(gpu, launch, {}, cache);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->time.l2_wait_at(clock), 0);
}

// Rows of a sweep lie on lines between runs at round numbers.
TEST(ManyShapes, StayWithinAPercentOfTheRunItself) {
  const struct {
    const char *gpu, *kernel;
    kernels::GemmShape shape;
  } cases[] = {{"a100-pcie-80gb", "ampere_sgemm_128x64_tn", {4100, 3000, 700, 1}},
               {"a100-pcie-40gb", "ampere_sgemm_128x128_nn", {1111, 2222, 333, 4}},
               {"h100-sxm5-80gb", "cutlass_80_simt_sgemm_256x128_8x4_nn_align1", {8192, 4096, 1100, 1}}};
  SimOptions many;
  many.many_shapes = true;
  for (const auto& c : cases) {
    const arch::GpuSpec gpu = gpu_of(c.gpu);
    EXPECT_NEAR(run(gpu, c.kernel, c.shape, many).cycles / run(gpu, c.kernel, c.shape).cycles, 1, 0.01) << c.kernel;
  }
}

}  // namespace
}  // namespace noteg::gpu
