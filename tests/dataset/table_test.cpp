// Data sets from files: groups, numbers and words, and what is refused.
#include <gtest/gtest.h>

#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/dataset/columns.hpp"
#include "sim/dataset/export.hpp"
#include "sim/dataset/table.hpp"

namespace noteg::dataset {
namespace {

Table small(const char* file, std::vector<double> numbers, std::vector<std::string> texts) {
  Table table{file, numbers.size(), {}, {}};
  table.columns.push_back({{"kernel.m", "", "", Group::config}, false, std::move(numbers), {}, {}});
  Values& words = table.columns.emplace_back(Values{{"arch", "", "", Group::config}, true, {}, {}, {}});
  for (const std::string& text : texts) {
    words.codes.push_back(text.empty() ? -1 : static_cast<std::int32_t>(words.words.size()));
    if (!text.empty()) words.words.push_back(text);
  }
  return table;
}

TEST(Columns, AreFoundInAnyOrder) {
  const Table table = small("a", {1, 2}, {"l4", ""});
  ColumnsInOrder columns(table);
  for (const char* name : {"arch", "kernel.m", "kernel.m", "arch"}) EXPECT_EQ(columns.find(name), table.find(name));
  EXPECT_EQ(columns.find("kernel.n"), nullptr);
}

TEST(Values, AreBlankWhereTheirTextIs) {
  const Table table = small("a", {1, std::nan("")}, {"l4", ""});
  for (const Values& values : table.columns)
    for (std::size_t row = 0; row < 2; ++row) EXPECT_EQ(values.is_blank(row), values.text(row).empty());
}

TEST(Join, PutsRowsBelowEachOther) {
  const Result<Table> all = join({small("a", {1, 2}, {"l4", "a40"}), small("b", {3, 4, 5}, {"a40", "", "h100"})});
  ASSERT_TRUE(all);
  EXPECT_EQ(to_csv(*all), "kernel.m,arch\n1,l4\n2,a40\n3,a40\n4,\n5,h100\n");
  EXPECT_EQ(all->file, "a, b");
}

TEST(Join, TakesAColumnWithoutValuesForWhateverTheOtherIs) {
  Table blank = small("b", {3}, {""});
  blank.columns[1] = {{"arch", "", "", Group::config}, false, {std::nan("")}, {}, {}};
  EXPECT_EQ(to_csv(*join({small("a", {1}, {"l4"}), blank})), "kernel.m,arch\n1,l4\n3,\n");
  EXPECT_EQ(to_csv(*join({blank, small("a", {1}, {"l4"})})), "kernel.m,arch\n3,\n1,l4\n");
}

TEST(Join, RefusesOtherColumns) {
  Table other = small("b", {3}, {"l4"});
  other.columns[0].column.name = "kernel.n";
  other.columns[1] = {{"arch", "", "", Group::config}, false, {4}, {}, {}};
  const Result<Table> all = join({small("a", {1}, {"l4"}), other});
  ASSERT_FALSE(all);
  const std::string errors = to_string(all.errors());
  EXPECT_NE(errors.find("b: kernel.m: expected a column of this name, as in a, found none"), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("a: kernel.n: expected a column of this name, as in b"), std::string::npos);
  EXPECT_NE(errors.find("b: arch: expected texts, as in a, found numbers"), std::string::npos);
}

// A folder that goes with the process.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "noteg_table_XXXXXX").string();
  Folder() {
    if (::mkdtemp(path.data()) == nullptr) path.clear();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

std::string temporary(const std::string& name) {
  static const Folder folder;
  return folder.path + "/table" + name;
}

std::string csv_file(const std::string& text) {
  const std::string path = temporary(".csv");
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::optional<Column> known(std::string_view name) {
  if (name == "m") return Column{"m", "count", "rows", Group::config};
  if (name == "time_us") return Column{"time_us", "us", "time", Group::target};
  return std::nullopt;
}

TEST(Table, TakesGroupsFromTheNamesThatAreKnown) {
  const Result<Table> table = read_table(csv_file("m,time_us,note\n1,2.5,a\n2,,b\n"), known);
  ASSERT_TRUE(table) << to_string(table.errors());
  EXPECT_EQ(table->rows, 2U);
  EXPECT_EQ(table->find("m")->column.group, Group::config);
  EXPECT_EQ(table->find("note")->column.group, Group::other);
  EXPECT_TRUE(table->find("note")->is_text);
  EXPECT_TRUE(std::isnan(table->find("time_us")->numbers[1]));
  EXPECT_EQ(table->find("absent"), nullptr);
  EXPECT_EQ(to_csv(*table), "m,time_us,note\n1,2.5,a\n2,,b\n");
}

TEST(Table, RefusesTextAmongNumbersAndNumbersThatAreNotFinite) {
  const Result<Table> table = read_table(csv_file("m,time_us\n1,2\n2,nan\n3,-inf\nfour,2\n5,3\n"), known);
  ASSERT_FALSE(table);
  const std::string errors = to_string(table.errors());
  EXPECT_NE(errors.find(":3:2: time_us: expected a finite number or nothing, found \"nan\""), std::string::npos)
      << errors;
  EXPECT_NE(errors.find(":4:2: time_us: expected a finite number or nothing, found \"-inf\""), std::string::npos);
  EXPECT_NE(errors.find(":5:1: m: expected a finite number or nothing, found \"four\""), std::string::npos);
}

TEST(Table, RefusesAFileWithoutRows) {
  const Result<Table> table = read_table(csv_file("m,time_us\n"), known);
  ASSERT_FALSE(table);
  EXPECT_NE(to_string(table.errors()).find("expected at least one row"), std::string::npos);
  EXPECT_FALSE(read_table("/nowhere/x.csv", known));
}

std::string sqlite_file(const std::string& sql) {
  const std::string path = temporary(".db");
  std::filesystem::remove(path);
  sqlite3* file = nullptr;
  sqlite3_open(path.c_str(), &file);
  sqlite3_exec(file, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(file);
  return path;
}

TEST(Table, ReadsSqliteWithItsOwnDescriptions) {
  const Result<Table> table = read_table(
      sqlite_file("CREATE TABLE columns(name,unit,meaning,grp); INSERT INTO columns VALUES('x','s','a time','counter');"
                  "CREATE TABLE rows(m INTEGER, x REAL, w TEXT); INSERT INTO rows VALUES(4,0.1,'a'),(5,NULL,'b');"),
      known);
  ASSERT_TRUE(table) << to_string(table.errors());
  EXPECT_EQ(table->find("x")->column.group, Group::counter);
  EXPECT_EQ(table->find("x")->numbers[0], 0.1);
  EXPECT_EQ(table->find("m")->column.group, Group::config);
  EXPECT_EQ(table->find("w")->text(1), "b");
}

TEST(Table, RefusesSqliteWithoutRowsAndUnknownGroups) {
  EXPECT_FALSE(read_table(sqlite_file("CREATE TABLE other(x);"), known));
  const Result<Table> table = read_table(
      sqlite_file("CREATE TABLE columns(name,unit,meaning,grp); INSERT INTO columns VALUES('x','s','a','magic');"
                  "CREATE TABLE rows(x); INSERT INTO rows VALUES(1);"),
      known);
  ASSERT_FALSE(table);
  EXPECT_NE(to_string(table.errors()).find("columns.x: expected config, arch"), std::string::npos);
}

TEST(Table, RefusesRowsThatAreComputedInsteadOfStored) {
  // The view has no end.
  const std::string view =
      "CREATE VIEW rows AS WITH RECURSIVE n(m) AS (SELECT 1 UNION ALL SELECT m + 1 FROM n) SELECT m FROM n;";
  const Result<Table> endless = read_table(sqlite_file(view), known);
  ASSERT_FALSE(endless);
  EXPECT_NE(to_string(endless.errors()).find("rows: expected a table, found a view"), std::string::npos)
      << to_string(endless.errors());
  const Result<Table> large = read_table(
      sqlite_file("CREATE TABLE rows(m, w TEXT AS (hex(zeroblob(5000000)))); INSERT INTO rows VALUES(1);"), known);
  ASSERT_FALSE(large);
  EXPECT_NE(to_string(large.errors()).find("too big"), std::string::npos) << to_string(large.errors());
}

TEST(Table, SaysWhereBytesAreNoText) {
  const Result<Table> csv = read_table(csv_file("m,w\n1,a\n2,caf\xe9\n"), known);
  ASSERT_FALSE(csv);
  EXPECT_NE(to_string(csv.errors()).find(":3:2: expected text in UTF-8, found the byte 0xe9"), std::string::npos)
      << to_string(csv.errors());
  const Result<Table> sqlite =
      read_table(sqlite_file("CREATE TABLE rows(m, w); INSERT INTO rows VALUES(1, CAST(x'e9' AS TEXT));"), known);
  ASSERT_FALSE(sqlite);
  EXPECT_NE(to_string(sqlite.errors()).find("row 1, w: expected text in UTF-8, found the byte 0xe9"),
            std::string::npos);
}

TEST(Describe, SaysWhatGoesWithTheTargetAndWhatLiesOutside) {
  const Result<Table> known_rows =
      read_table(csv_file("kernel.m,kernel.dtype_in,physics.waves,time_us\n64,f16,1,10\n128,f16,2,20\n256,bf16,3,40\n"),
                 known_column);
  ASSERT_TRUE(known_rows) << to_string(known_rows.errors());
  const Description described = describe(*known_rows);
  EXPECT_EQ(described.shapes, 3U);
  EXPECT_EQ(described.target, "time_us");
  EXPECT_DOUBLE_EQ(described.columns.front().correlation, 1);
  const Result<Table> measured =
      read_table(csv_file("M,dtype_in,time_ms\n100,fp16,1\n512,bf16,1\n64,fp32,1\n"), known_column);
  ASSERT_TRUE(measured) << to_string(measured.errors());
  const Coverage coverage = coverage_of(*known_rows, *measured);
  EXPECT_EQ(coverage.inside, 1U);
  ASSERT_EQ(coverage.outside.size(), 2U);
  EXPECT_EQ(coverage.outside.front().column, "kernel.m");
  EXPECT_EQ(coverage.outside.front().example, "512");
  EXPECT_EQ(coverage.outside.back().example, "fp32");
}

}  // namespace
}  // namespace noteg::dataset
