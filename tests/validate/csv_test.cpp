#include "sim/support/csv.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

namespace noteg {
namespace {

TEST(Csv, ReadsQuotesCommasAndNewlinesInsideFields) {
  const Result<CsvTable> table = parse_csv("a,b\n\"1,2\",\"x\"\"y\nz\"\n3,4\n", "t.csv");
  ASSERT_TRUE(table) << to_string(table.errors());
  EXPECT_EQ(table->rows.row(0), (std::vector<std::string>{"1,2", "x\"y\nz"}));
  EXPECT_EQ(table->rows.row(1), (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->lines, (std::vector<int>{2, 4}));
}

TEST(Csv, ReadsCrlfByteOrderMarkMissingLastNewlineAndEmptyLines) {
  const Result<CsvTable> table = parse_csv(
      "\xef\xbb\xbf"
      "a,b\r\n1,2\r\n\r\n3,",
      "t.csv");
  ASSERT_TRUE(table) << to_string(table.errors());
  EXPECT_EQ(table->columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table->rows.row(0), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(table->rows.row(1), (std::vector<std::string>{"3", ""}));
  EXPECT_EQ(table->rows.size(), 2U);
}

TEST(Csv, ReadsBackWhatItWrites) {
  const std::vector<std::string> fields{"plain", "", "a,b", "say \"so\"", "two\nlines"};
  const Result<CsvTable> table = parse_csv("a,b,c,d,e\n" + csv_line(fields), "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.row(0), fields);
}

TEST(Csv, NamesLineAndFieldOfEveryMistake) {
  const Result<CsvTable> table = parse_csv("a,b,a\n1,2\n1,2,3\n4,5,6,7,8\n\"x\",\"y\"z,1\n", "t.csv");
  ASSERT_FALSE(table);
  EXPECT_EQ(to_string(table.errors()),
            "t.csv:1:3: a: expected each column once, found it twice\n"
            "t.csv:2:2: expected 3 fields, as in the header, found 2\n"
            "t.csv:4:4: expected 3 fields, as in the header, found 5\n"
            "t.csv:5:2: expected a comma or the end of the line after a closing quote, found \"z\"\n");
}

TEST(Csv, ReadsBackANameThatBeginsLikeAByteOrderMark) {
  const std::string name =
      "\xef\xbb\xbf"
      "a";
  const Result<CsvTable> table = parse_csv(csv_line({name, "b"}) + csv_line({"1", "2"}), "t.csv");
  ASSERT_TRUE(table) << to_string(table.errors());
  EXPECT_EQ(table->columns, (std::vector<std::string>{name, "b"}));
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_FALSE(parse_csv("", "t.csv"));
  EXPECT_FALSE(parse_csv("a,b\n\"open\n", "t.csv"));
  EXPECT_FALSE(parse_csv("a,b\n\"x\"y,2\n", "t.csv"));
  EXPECT_FALSE(parse_csv(std::string_view("a\0b\n", 4), "t.csv"));
  EXPECT_FALSE(read_csv("no/such/file.csv"));
  EXPECT_FALSE(read_csv("."));
}

class CsvGzip : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("noteg_csv_" + std::to_string(::getpid()) + ".csv.gz");
    gzFile file = gzopen(path_.c_str(), "wb");
    std::string text = "a,b\n";
    for (int i = 0; i < 5000; ++i) text += std::to_string(i) + ",x" + std::to_string(i * 7919) + "\n";
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::filesystem::path path_;
};

TEST_F(CsvGzip, IsReadLikeAPlainFile) {
  const Result<CsvTable> table = read_csv(path_);
  ASSERT_TRUE(table) << to_string(table.errors());
  EXPECT_EQ(table->rows.size(), 5000u);
  EXPECT_EQ(table->rows.at(4999, 0), "4999");
}

TEST_F(CsvGzip, IsRefusedWhereTruncated) {
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  EXPECT_FALSE(read_csv(path_));
}

}  // namespace
}  // namespace noteg
