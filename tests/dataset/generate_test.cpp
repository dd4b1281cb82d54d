// Data sets: the same rows for any number of threads, shards and interruptions; another sweep is refused.
#include "sim/dataset/generate.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/dataset/columns.hpp"
#include "sim/dataset/export.hpp"
#include "sim/dataset/table.hpp"

namespace noteg::dataset {
namespace {

namespace fs = std::filesystem;

const std::string few_runs =
    "gpus: [l4]\nshape: {m: [64, 128], n: 64, k: [32, 64]}\nkernels:\n"
    "  - {family: simt, tile: [64x64x8, 32x64x8], stages: 2}\nlabels: [a, b]\n"
    "perturb: {copies: 1, factors: {l2.latency: [0.8, 1.25]}}\n";

Sweep sweep_of(const std::string& text) { return *read_sweep_text(text, "s.yaml"); }

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class DataSet : public testing::Test {
 protected:
  DataSet() {
    std::string name = (fs::temp_directory_path() / "noteg_data_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~DataSet() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  std::string csv_of(const std::string& data_set) const {
    export_csv(data_set, at("export.csv"), {});
    return contents(at("export.csv"));
  }

  Generated make(const std::string& sweep, const std::string& out, unsigned jobs = 1, Shard shard = {}) const {
    const Result<Generated> result = generate(sweep_of(sweep), out, {jobs, shard, {}, nullptr});
    EXPECT_TRUE(result) << to_string(result.errors());
    return result ? *result : Generated{};
  }

  fs::path folder_;
};

TEST_F(DataSet, IsTheSameForAnyNumberOfThreads) {
  EXPECT_EQ(make(few_runs, at("one.db")).rows, 32u);
  make(few_runs, at("three.db"), 3);
  EXPECT_EQ(csv_of(at("one.db")), csv_of(at("three.db")));
}

// Sharing runs between shapes costs more than it saves where a kernel has few of them.
TEST(Items, CountTheRunsOfEachKernel) {
  const Sweep grid = sweep_of(few_runs);  // four shapes of each of two kernels on a GPU and its copy; two replicas
  EXPECT_DOUBLE_EQ(Items(grid).runs_per_kernel(0), 4);
  const Sweep sample = sweep_of("method: random\nrows: 120\n" + few_runs);
  EXPECT_DOUBLE_EQ(Items(sample).runs_per_kernel(0), 30);
}

TEST_F(DataSet, IsTheSameAfterInterruptions) {
  make(few_runs, at("whole.db"));
  for (int tries = 0; tries < 40; ++tries) {
    std::atomic<bool> stop = false;
    GenerateOptions options{1, {}, [&](std::size_t done, std::size_t) { stop = done % 5 == 0; }, &stop};
    const Result<Generated> part = generate(sweep_of(few_runs), at("parts.db"), options);
    ASSERT_TRUE(part);
    if (part->complete()) break;
  }
  EXPECT_EQ(csv_of(at("whole.db")), csv_of(at("parts.db")));
}

TEST_F(DataSet, OfShardsPutTogetherIsTheSame) {
  make(few_runs, at("whole.db"));
  std::vector<std::string> parts;
  std::size_t rows = 0;
  for (std::size_t i = 1; i <= 3; ++i) {
    parts.push_back(at("part" + std::to_string(i) + ".db"));
    rows += make(few_runs, parts.back(), 1, {i, 3}).written;
  }
  EXPECT_EQ(rows, 32u);
  const Result<Merged> merged = merge_data_sets(parts, at("merged.db"));
  ASSERT_TRUE(merged) << to_string(merged.errors());
  EXPECT_EQ(merged->rows, merged->expected);
  EXPECT_EQ(csv_of(at("whole.db")), csv_of(at("merged.db")));
}

TEST_F(DataSet, AsCsvIsTheExportAndLeavesNothingBeside) {
  make(few_runs, at("a.db"));
  make(few_runs, at("b.csv"), 2);
  EXPECT_EQ(csv_of(at("a.db")), contents(at("b.csv")));
  EXPECT_FALSE(fs::exists(at("b.csv.part")));
  EXPECT_FALSE(generate(sweep_of(few_runs), at("b.csv"), {}));
}

TEST_F(DataSet, RefusesAnotherSweepAndSaysWhatDiffers) {
  make(few_runs, at("a.db"));
  std::string other = few_runs;
  other.replace(other.find("stages: 2"), 9, "stages: 1");
  const Result<Generated> result = generate(sweep_of(other), at("a.db"), {});
  ASSERT_FALSE(result);
  EXPECT_NE(to_string(result.errors()).find("\"kernels[0].stages = 1\" was \"kernels[0].stages = 2\""),
            std::string::npos)
      << to_string(result.errors());
  EXPECT_FALSE(generate(sweep_of(few_runs), at("a.db"), {1, {1, 2}, {}, nullptr}));
}

TEST_F(DataSet, RefusesOtherFiles) {
  std::ofstream(at("text.db")) << "this is no database, but long enough to look like one to a hasty reader\n";
  EXPECT_FALSE(generate(sweep_of(few_runs), at("text.db"), {}));
  Database(at("other.db"), Database::Access::write).run("CREATE TABLE rows(a)");
  EXPECT_FALSE(generate(sweep_of(few_runs), at("other.db"), {}));
  EXPECT_THROW((void)generate(sweep_of(few_runs), at("no/such/folder.db"), {}), StoreError);
  EXPECT_FALSE(merge_data_sets({at("other.db")}, at("m.db")));
}

TEST_F(DataSet, KeepsImpossibleRunsWithTheReason) {
  // 256x256x64 in 4 stages needs half a megabyte of shared memory.
  const Generated result =
      make("gpus: l4\nshapes: [256x256x64]\nkernels: [{family: simt, tile: [64x64x8, 256x256x64]}]\n", at("a.db"));
  EXPECT_EQ(result.failed, 1u);
  const Result<DataSetInfo> info = data_set_info(at("a.db"));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->failed, 1u);
  EXPECT_EQ(info->errors.size(), 1u);
  EXPECT_EQ(info->rows_by_gpu, (std::map<std::string, std::size_t>{{"l4", 2}}));
}

TEST_F(DataSet, IsReadBackWithItsGroups) {
  make(few_runs, at("a.db"));
  const Result<Table> table = read_table(at("a.db"), known_column);
  ASSERT_TRUE(table) << to_string(table.errors());
  EXPECT_EQ(table->rows, 32u);
  for (const Column& column : stored_columns()) {
    ASSERT_NE(table->find(column.name), nullptr) << column.name;
    EXPECT_EQ(table->find(column.name)->column.group, column.group) << column.name;
  }
}

TEST_F(DataSet, HoldsPerturbedCopiesAsTheySay) {
  make(few_runs, at("a.db"));
  Database database(at("a.db"), Database::Access::read);
  Statement latencies(database, "SELECT count(DISTINCT \"arch.l2.latency\") FROM rows");
  ASSERT_TRUE(latencies.step());
  EXPECT_EQ(latencies.integer(0), 2);
}

}  // namespace
}  // namespace noteg::dataset
