// Data sets from files: groups, numbers and words, and what is refused.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "sim/dataset/read_table.hpp"

namespace noteg::dataset {
namespace {

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("noteg_table_" + std::to_string(::getpid()) + name)).string();
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

}  // namespace
}  // namespace noteg::dataset
