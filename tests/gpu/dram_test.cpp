// The queue before DRAM of CTAs that have drifted apart and open a row for every few bytes.
#include <gtest/gtest.h>

#include "sim/gpu/dram.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

double wait_at(const arch::GpuSpec& gpu, double utilisation, bool opens_rows) {
  Traffic traffic;
  traffic.opened_rows = opens_rows ? 1 : 0;
  return dram_wait(gpu.dram, traffic, gpu.clock.sustained, utilisation);
}

TEST(DramWait, BanksThatOpenRowsServeSlowerThanTheBus) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  EXPECT_EQ(wait_at(gpu, 0, true), wait_at(gpu, 0, false));
  EXPECT_GT(wait_at(gpu, 0.8, true), wait_at(gpu, 0.8, false));
  EXPECT_GT(wait_at(gpu, 0.9, true), wait_at(gpu, 0.8, true));
}

// The wait makes the time and the time the wait: channels that take some of it away never cost any.
TEST(DramWait, MoreChannelsAreNeverSlower) {
  double before = 1e300;
  for (const char* bits : {"128", "160", "192", "224", "256", "320", "384"}) {
    const arch::GpuSpec gpu = gpu_of("rtx4070", {{"dram.bus_bits", bits}});
    const SimReport report = run(gpu, "naive_tiled_sgemm_t4", {.m = 4096, .n = 4096, .k = 8192});
    EXPECT_LE(report.time_us, before * 1.002) << bits;
    before = report.time_us;
  }
}

}  // namespace
}  // namespace noteg::gpu
