// tests/data/kernel_names.csv: names that profilers printed, each with the reading that the rule of its scheme gives
// (docs/reference/kernel-names.md), or with a piece of the reason for which it is refused. None may be read as
// something else.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "kernels/config/config.hpp"
#include "sim/support/csv.hpp"

namespace noteg::kernels {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of_table() {
  const Result<CsvTable> table = read_csv(NOTEG_SOURCE_DIR "/tests/data/kernel_names.csv");
  std::vector<Row> rows;
  if (!table) return rows;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    Row& row = rows.emplace_back();
    for (std::size_t j = 0; j < table->columns.size(); ++j) row[table->columns[j]] = table->rows.at(i, j);
  }
  return rows;
}

std::string pair_text(int a, int b) { return std::to_string(a) + "x" + std::to_string(b); }

std::string warps_text(const KernelConfig& c) {
  if (c.warp_m) return pair_text(c.tile.m / *c.warp_m, c.tile.n / *c.warp_n);
  return std::to_string(c.threads.value_or(0) / 32) + " in all";
}

std::string split_text(const KernelConfig& c) {
  return c.split_k_mode == SplitKMode::none ? "" : std::string(name_of(c.split_k_mode));
}

std::string epilogue_text(const KernelConfig& c) {
  return std::string(c.bias ? "bias" : "") + (c.bias && c.reads_c ? " " : "") + (c.reads_c ? "c" : "");
}

// As the table writes it. What a name cannot say is blank there: stages that fit, warps by default.
Row reading_of(const KernelConfig& c) {
  const Tile& i = c.instruction;
  return {{"family", std::string(name_of(c.family))},
          {"instruction", pair_text(i.m, i.n) + "x" + std::to_string(i.k)},
          {"dtype_in", std::string(name_of(c.dtype_in))},
          {"dtype_acc", std::string(name_of(c.dtype_acc))},
          {"dtype_out", std::string(name_of(c.dtype_out))},
          {"tile_m", std::to_string(c.tile.m)},
          {"tile_n", std::to_string(c.tile.n)},
          {"tile_k", std::to_string(c.tile.k)},
          {"stages", std::to_string(c.stages.value_or(0))},
          {"layout", std::string(name_of(c.layout))},
          {"raster", std::string(name_of(c.raster))},
          {"warps", warps_text(c)},
          {"sliced_k", std::to_string(c.sliced_k.value_or(1))},
          {"align", std::to_string(c.align_a.value_or(0))},
          {"cluster", pair_text(c.cluster_m, c.cluster_n)},
          {"schedule", c.schedule ? std::string(name_of(*c.schedule)) : "none"}};
}

// Empty where every stated value is read as stated.
std::string differences(const Row& row, const KernelConfig& config) {
  std::string text;
  const auto compare = [&](const std::string& key, const std::string& found) {
    if (row.at(key) != found) text += " " + key + " " + found + " instead of " + row.at(key) + ";";
  };
  for (const auto& [key, found] : reading_of(config))
    if (!row.at(key).empty()) compare(key, found);
  compare("split_k", split_text(config));
  compare("epilogue", epilogue_text(config));
  return text;
}

TEST(KernelNameTable, NamesAreReadAsTheirSchemeSaysOrRefusedWithTheReason) {
  const std::vector<Row> rows = rows_of_table();
  ASSERT_GE(rows.size(), 150U);
  std::size_t right = 0, gemms = 0, refused_gemms = 0;
  for (const Row& row : rows) {
    const std::string &name = row.at("name"), &reason = row.at("refused");
    const Result<KernelConfig> config = config_from_name(name);
    gemms += reason.empty() ? 1 : 0;
    if (config) {
      EXPECT_EQ(reason, "") << name << " is not to be read";
      const std::string wrong = reason.empty() ? differences(row, *config) : "";
      EXPECT_EQ(wrong, "") << name;
      right += reason.empty() && wrong.empty() ? 1 : 0;
      continue;
    }
    const Diagnostic& error = config.errors().front();
    if (reason.empty()) {
      ++refused_gemms;
      ADD_FAILURE() << name << ": " << error.to_string();
      continue;
    }
    const bool said = (error.expected + " " + error.found).find(reason) != std::string::npos;
    EXPECT_TRUE(said) << name << ": " << error.to_string() << " does not say " << reason;
    right += said ? 1 : 0;
  }
  EXPECT_GE(static_cast<double>(right), 0.95 * static_cast<double>(rows.size()));
  EXPECT_GE(static_cast<double>(gemms - refused_gemms), 0.95 * static_cast<double>(gemms));
  EXPECT_GE(gemms, 150U);
}

// A shape that every alignment and type fits; a few readings are of tiles that the model cannot build.
TEST(KernelNameTable, WhatIsReadCanBeRun) {
  std::size_t read = 0, runs = 0;
  for (const Row& row : rows_of_table()) {
    const Result<KernelConfig> config = config_from_name(row.at("name"));
    if (!config) continue;
    ++read;
    const Result<KernelConfig> resolved = resolve(*config, {4096, 4096, 4096, 1});
    if (!resolved) std::cout << row.at("name") << ": " << to_string(resolved.errors());
    runs += resolved ? 1 : 0;
  }
  EXPECT_GE(static_cast<double>(runs), 0.95 * static_cast<double>(read));
}

TEST(KernelNameTable, EachNameIsThereOnceWithItsOrigin) {
  std::vector<std::string> names;
  for (const Row& row : rows_of_table()) {
    names.push_back(row.at("name"));
    EXPECT_FALSE(row.at("origin").empty()) << row.at("name");
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace noteg::kernels
