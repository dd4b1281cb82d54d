// CSV: formulas become texts and come back, mistakes and memory are bounded.
#include "sim/support/csv.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "sim/support/output_file.hpp"

namespace noteg {
namespace {

std::string errors_of(std::string_view text) {
  const Result<CsvTable> table = parse_csv(text, "t.csv");
  return table ? "" : to_string(table.errors());
}

TEST(Csv, FormulasBecomeTextsAndNumbersStay) {
  EXPECT_EQ(csv_line({"=HYPERLINK(1)", "+a", "-b", "@SUM", "\t=1"}), "'=HYPERLINK(1),'+a,'-b,'@SUM,'\t=1\n");
  EXPECT_EQ(csv_line({"-1.5", "+2", "-1e-9", "-inf", "-nan", "-", "a=b", "'quoted"}),
            "-1.5,+2,-1e-9,-inf,-nan,-,a=b,'quoted\n");
  EXPECT_EQ(csv_line({"=A1,\"x\""}), "\"'=A1,\"\"x\"\"\"\n");
}

TEST(Csv, WhatWasWrittenReadsBackTheSame) {
  const std::vector<std::string> fields{"=A1", "'=A1", "''=A1", "'a", "-x", "-1", "a,b", "\"", "two\nlines", ""};
  std::vector<std::string> header;
  for (std::size_t i = 0; i < fields.size(); ++i) header.push_back("c" + std::to_string(i));
  const Result<CsvTable> table = parse_csv(csv_line(header) + csv_line(fields), "t.csv");
  ASSERT_TRUE(table) << to_string(table.errors());
  ASSERT_EQ(table->rows.size(), 1u);
  EXPECT_EQ(table->rows.row(0), fields);
}

TEST(Csv, ShowsControlCharactersInsteadOfWritingThem) { EXPECT_EQ(csv_line({"a\x1b[2J"}), "a\\u001b[2J\n"); }

TEST(Csv, SaysWhereBytesAreNoText) {
  EXPECT_EQ(errors_of("a,b\n1,\"x\ny\"\n2,caf\xe9\n"), "t.csv:4:2: expected text in UTF-8, found the byte 0xe9\n");
  EXPECT_EQ(errors_of("a\n\x1b[2J\n"), "t.csv:2:1: expected text in UTF-8, found the control character 0x1b\n");
}

TEST(Csv, HasBoundsForMistakesColumnsAndFields) {
  std::string header = "gpu";
  for (int i = 0; i < 1'000'000; ++i) header += ",gpu";
  const std::string errors = errors_of(header + "\n1\n");
  EXPECT_LT(errors.size(), 2000u);
  EXPECT_NE(errors.find("gpu: expected each column once, found it twice"), std::string::npos);
  std::string wide = "c0";
  for (int i = 1; i <= 4096; ++i) wide += ",c" + std::to_string(i);
  EXPECT_EQ(errors_of(wide + "\n"), "t.csv:1: expected at most 4096 columns, found 4097\n");
  EXPECT_EQ(errors_of("a\n" + std::string(1'000'000, ',')),
            "t.csv:2:2: expected 1 fields, as in the header, found 1000001\n");
}

TEST(Csv, ShortRowsTakeAboutTheMemoryOfTheirText) {
  // 4 MB of one-letter rows, a few kB packed: each field costs its byte and four more, and its line four.
  const std::string path = testing::TempDir() + "noteg_short_rows.csv.gz";
  std::string text = "a\n";
  for (int i = 0; i < 2'000'000; ++i) text += "1\n";
  std::ofstream(path, std::ios::binary) << gzipped(text);
  const Result<CsvTable> table = read_csv(path);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 2'000'000u);
  EXPECT_EQ(table->rows.at(1'999'999, 0), "1");
}

TEST(Csv, EndlessDevicesEndQuickly) {
  const auto start = std::chrono::steady_clock::now();
  const Result<CsvTable> zeros = read_csv("/dev/zero");
  ASSERT_FALSE(zeros);
  EXPECT_EQ(zeros.errors().front().found, "a zero byte");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace noteg
