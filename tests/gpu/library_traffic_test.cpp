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
}  // namespace noteg::gpu
