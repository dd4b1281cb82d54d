// Kernels that cuBLAS launches on Hopper, by their names alone: bytes that DRAM reads on an H200, caches flushed
// before; cycles and sectors that the SMs read on an H100, caches warm.
#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {

namespace {

using Cell = std::function<double(const char*)>;

// error: of the model's run, beside what was measured.
std::vector<double> errors_of(const std::string& file, const std::string& board, SimOptions options,
                              const std::function<std::optional<double>(const SimReport&, const Cell&)>& error) {
  const Result<CsvTable> table = read_csv(NOTEG_SOURCE_DIR "/tests/data/" + file);
  EXPECT_TRUE(table) << to_string(table.errors());
  const arch::GpuSpec gpu = gpu_of(board);
  std::vector<double> errors;
  for (std::size_t row = 0; table && row < table->rows.size(); ++row) {
    const auto text = [&](const char* column) { return table->rows.at(row, *table->column(column)); };
    const Cell cell = [&](const char* column) { return *parse_number(text(column)); };
    const auto extent = [&](const char* column) { return static_cast<std::int64_t>(cell(column)); };
    if (table->column("sm_clock_mhz")) options.sm_clock_mhz = cell("sm_clock_mhz");
    const SimReport r = run(gpu, std::string(text("kernel_name")), {extent("M"), extent("N"), extent("K"), 1}, options);
    if (const std::optional<double> each = error(r, cell)) errors.push_back(std::abs(*each));
  }
  std::ranges::sort(errors);
  return errors;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Beats that reads of L2 take over those of long pieces.
double read_beats(const kernels::KernelConfig& config, const kernels::GemmShape& shape, double reads) {
  arch::GpuSpec gpu = gpu_of("a100-sxm4-80gb");
  gpu.l2.translation_reach = Bytes{128 << 20};
  gpu.l2.translation_reads = reads;
  SmCache cache;
  const Result<KernelLaunch> launch = launch_of(gpu, config, shape, {}, cache);
  EXPECT_TRUE(launch) << to_string(launch.errors());
  return launch ? launch->traffic.read_beats : 0;
}

// The same of tiles that all lie along K.
double beats_of_rows(std::int64_t k, int tile_k, double reads) {
  kernels::KernelConfig config;
  config.family = kernels::Family::triton;
  config.tile = {64, 64, tile_k};
  config.dtype_in = config.dtype_out = kernels::DataType::f16;
  config.layout = kernels::Layout::nt;
  return read_beats(config, {4096, 4096, k, 1}, reads);
}

TEST(Translation, TakesReadsOfEachLineOfRowsThatLieFurtherApartThanItReaches) {
  EXPECT_EQ(beats_of_rows(1024, 32, 1), beats_of_rows(1024, 32, 0));  // all rows lie in 16 MiB
  // Pieces of 64 bytes take a read each, those of 128 take two; nearly all of their lines wait another.
  EXPECT_NEAR(beats_of_rows(1 << 20, 32, 1) - beats_of_rows(1 << 20, 32, 0), 1, 0.1);
  EXPECT_NEAR(beats_of_rows(1 << 20, 64, 1) - beats_of_rows(1 << 20, 64, 0), 0.5, 0.05);
}

// Sixteen bits beside weights of four: A's pieces are four times as long as B's, and B's lie packed in whole lines.
TEST(Translation, CountsEachOperandInItsOwnType) {
  kernels::KernelConfig config;
  config.family = kernels::Family::mma;
  config.flavor = kernels::Flavor::cutlass;
  config.tile = {64, 128, 64};
  config.dtype_in = config.dtype_out = kernels::DataType::f16;
  config.layout = kernels::Layout::nt;
  const auto beats = [&](std::optional<kernels::DataType> weights, double reads) {
    config.dtype_b = weights;
    return read_beats(config, {4096, 8192, 65536, 1}, reads);
  };
  const double alone = beats(std::nullopt, 1) - beats(std::nullopt, 0);
  EXPECT_GT(alone, 0.2);
  EXPECT_NEAR(beats(kernels::DataType::s4, 1) - beats(kernels::DataType::s4, 0), alone, 0.15 * alone);
}

// What CTAs read again is what bands of tiles leave. From 12288 cubed on they read up to twice as much as that.
TEST(LibraryTraffic, IsThatOfBandsOfEightTiles) {
  const std::vector<double> errors = errors_of(
      "h200_nvjet_traffic.csv", "h200-sxm-141gb", starting_from(L2State::empty),
      [](const SimReport& r, const Cell& cell) { return r.memory.dram_read_bytes / cell("dram_read_bytes") - 1; });
  ASSERT_EQ(errors.size(), 36U);
  EXPECT_LT(errors[errors.size() / 2], 0.18);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.5);
}

// 128 rows or fewer wait for DRAM, and their CTAs drift apart: they share less than those of a GPC that stay together.
TEST(LibraryTraffic, SmsOfAGpcShareWhatBandsHaveInCommon) {
  constexpr double sector = 32, bytes_out = 2;
  const std::vector<double> errors =
      errors_of("h100_nvjet_launches.csv", "h100-sxm5-80gb", starting_from(L2State::warm),
                [](const SimReport& r, const Cell& cell) -> std::optional<double> {
                  if (cell("M") <= 128) return std::nullopt;
                  const double read = r.memory.l2_bytes - cell("M") * cell("N") * bytes_out;
                  return read / (sector * cell("sms_read_sectors")) - 1;
                });
  ASSERT_EQ(errors.size(), 51U);
  EXPECT_LT(mean(errors), 0.118);
}

// From 40,000 cycles on the start of a profiled launch, which is no part of the model, is small.
TEST(LibraryKernels, TakeTheCyclesOfNvjet) {
  constexpr double least = 40e3;
  const std::vector<double> errors =
      errors_of("h100_nvjet_launches.csv", "h100-sxm5-80gb", starting_from(L2State::warm),
                [](const SimReport& r, const Cell& cell) -> std::optional<double> {
                  if (cell("cycles") < least) return std::nullopt;
                  return (r.time_us - r.phases_us.launch) * r.sm_clock_mhz / cell("cycles") - 1;
                });
  ASSERT_EQ(errors.size(), 49U);
  EXPECT_LT(mean(errors), 0.035);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.08);
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
