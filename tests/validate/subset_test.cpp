// The measured subset of the repository is whole and readable, without simulating it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "arch/load.hpp"
#include "kernels/config/config.hpp"
#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_set.hpp"

namespace noteg::validate {
namespace {

class MeasuredSubset : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<MeasuredData> data = read_measured({NOTEG_SOURCE_DIR "/tests/data/measured_subset.csv"});
    ASSERT_TRUE(data) << to_string(data.errors());
    data_ = *data;
  }
  MeasuredData data_;
};

TEST_F(MeasuredSubset, HasOnlySourcesWhoseConventionsAreKnown) {
  for (const MeasuredRow& row : data_.rows) {
    RowView view(data_, row);
    const std::string source(view.text("source"));
    EXPECT_TRUE(std::ranges::any_of(measured_sets(), [&](const MeasuredSet& set) { return set.source == source; }))
        << source;
  }
}

TEST_F(MeasuredSubset, HasOnlyGpusWithAnArchitectureFile) {
  std::map<std::string, int> gpus;
  for (const MeasuredRow& row : data_.rows) ++gpus[std::string(RowView(data_, row).text("gpu"))];
  for (const auto& [gpu, rows] : gpus) EXPECT_TRUE(arch::load_gpu(gpu)) << gpu;
}

TEST_F(MeasuredSubset, SkipsOnlyWhatTheTablesDoNotRecord) {
  std::map<std::string, int> reasons;
  int resolved = 0;
  for (const MeasuredRow& row : data_.rows) {
    const CaseOrReason built = case_of(data_, row);
    if (const auto* reason = std::get_if<std::string>(&built)) {
      ++reasons[*reason];
      continue;
    }
    const auto& measured = std::get<MeasuredCase>(built);
    resolved += kernels::resolve(measured.config, measured.shape) ? 1 : 0;
  }
  EXPECT_EQ(reasons.size(), 3u);
  EXPECT_EQ(reasons["tile was not recorded"] + reasons["library call: its kernel was not recorded"] +
                reasons["kernel without a shared-memory tile, which no family here has"],
            19);
  EXPECT_EQ(resolved, 1211 - 19);
}

// Shape, layout and tile of every neusight row give the grid that its trace recorded.
TEST_F(MeasuredSubset, ReproducesTheRecordedGridOfEveryTrace) {
  int checked = 0;
  for (const MeasuredRow& row : data_.rows) {
    RowView view(data_, row);
    if (view.text("source") != "neusight") continue;
    const CaseOrReason built = case_of(data_, row);
    const auto* measured = std::get_if<MeasuredCase>(&built);
    ASSERT_NE(measured, nullptr);
    if (measured->config.swizzle_log2 != 0) continue;  // such a raster launches idle CTAs too
    const auto tiles = [](std::int64_t extent, int tile) { return (extent + tile - 1) / tile; };
    const std::int64_t expected = tiles(measured->shape.m, measured->config.tile.m) *
                                  tiles(measured->shape.n, measured->config.tile.n) * measured->shape.batch *
                                  measured->config.split_k;
    EXPECT_EQ(*view.integer("grid_x", 1) * *view.integer("grid_y", 1) * *view.integer("grid_z", 1), expected)
        << row.row;
    ++checked;
  }
  EXPECT_GT(checked, 500);
}

}  // namespace
}  // namespace noteg::validate
