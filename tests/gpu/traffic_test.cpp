// Bytes that DRAM reads for kernels that cuBLAS launches on an H200, caches flushed before, by their names alone.
#include <algorithm>
#include <cmath>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {

namespace {

// What CTAs read again is what bands of tiles leave. From 12288 cubed on they read up to twice as much as that.
TEST(LibraryTraffic, IsThatOfBandsOfEightTiles) {
  const Result<CsvTable> table = read_csv(NOTEG_SOURCE_DIR "/tests/data/h200_nvjet_traffic.csv");
  ASSERT_TRUE(table) << to_string(table.errors());
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  std::vector<double> errors;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto cell = [&](const char* column) { return table->rows.at(row, *table->column(column)); };
    const auto extent = [&](const char* column) { return static_cast<std::int64_t>(*parse_number(cell(column))); };
    const SimReport r = run(gpu, std::string(cell("kernel_name")), {extent("M"), extent("N"), extent("K"), 1},
                            starting_from(L2State::empty));
    errors.push_back(std::abs(r.memory.dram_read_bytes / *parse_number(cell("dram_read_bytes")) - 1));
  }
  ASSERT_EQ(errors.size(), 36U);
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.18);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.5);
}

}  // namespace

// beta != 0: what reading C adds to a kernel.

namespace {

// Time that reading C adds, over the time of its bytes in DRAM: in bands of eight columns and at the clock of the
// measured runs, which show 0.9 to 1.1 in up to six rounds and 0.4 in 88 and 175.
double added_over_dram_time(const kernels::GemmShape& shape, L2State l2) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  kernels::KernelConfig kernel = kernel_of("cutlass_simt_sgemm_128x128_8x2_nn_align1");
  SmCache cache;
  SimOptions options = starting_from(l2);
  options.sm_clock_mhz = 2505;
  kernel.swizzle_log2 = 3;
  const double without = run(gpu, kernel, shape, options, cache).time_us;
  kernel.reads_c = true;
  const double with = run(gpu, kernel, shape, options, cache).time_us;
  const double bytes = 4.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n);
  return (with - without) / (1e6 * bytes / (gpu.dram.bandwidth.value * gpu.dram.read_efficiency));
}

TEST(ReadsOfC, SmsInStepReadAllTheirTilesAtDramBandwidth) {
  EXPECT_NEAR(added_over_dram_time({2048, 2048, 512, 1}, L2State::cold), 1, 0.26);
  EXPECT_NEAR(added_over_dram_time({1024, 2048, 1024, 1}, L2State::cold), 1, 0.26);
}

TEST(ReadsOfC, SmsThatHaveDriftedApartHideSomeOfIt) {
  EXPECT_LT(added_over_dram_time({65536, 1024, 512, 1}, L2State::cold), 0.8);
}

TEST(ReadsOfC, AnL2ThatHoldsCSparesDram) { EXPECT_LT(added_over_dram_time({1024, 2048, 1024, 1}, L2State::warm), 0.6); }

}  // namespace

}  // namespace noteg::gpu
