#include <gtest/gtest.h>

#include <sstream>

#include "sim/report/write.hpp"
#include "tests/report/sample_report.hpp"

namespace noteg {
namespace {

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(ReportText, FitsEightyColumns) { EXPECT_LE(longest_line(report::to_text(test::sample_report())), 80u); }

TEST(ReportText, FitsEightyColumnsWithTheLargestFiguresAndLongNames) {
  gpu::SimReport report = test::sample_report();
  report.arch_name = std::string(300, 'g');
  report.shape = {2147483647, 2147483647, 2147483647, 65535};
  report.time_us = 1e15;
  report.phases_us = {1e15, 0, 0, 0, 0};
  report.cycles = 1e18;
  report.tflops = 1e9;
  report.memory.l1_bytes = 1e21;
  report.bottleneck.because = std::string(700, 'w') + " because";
  EXPECT_LE(longest_line(report::to_text(report)), 80u);
}

TEST(ReportText, AKernelsNameStandsWholeToBeCopied) {
  gpu::SimReport report = test::sample_report();
  report.kernel.name = std::string(500, 'k');
  EXPECT_NE(report::to_text(report).find("kernel        " + report.kernel.name + "\n"), std::string::npos);
}

TEST(ReportText, SaysWhatLimitsAndWhatRemovingItWouldBring) {
  const std::string text = report::to_text(test::sample_report());
  EXPECT_NE(text.find("fma_pipe"), std::string::npos);
  EXPECT_NE(text.find("1.40x as fast"), std::string::npos);
}

TEST(ReportText, DividesWhatARunComputesByItsBytesOfDram) {
  gpu::SimReport report = test::sample_report();
  report.tflops = 2, report.time_us = 1000;
  report.memory.dram_read_bytes = 3e8, report.memory.dram_write_bytes = 1e8;
  EXPECT_NE(report::to_text(report).find("490 FLOP/B with each matrix moved once, 5.00 FLOP/B as run"),
            std::string::npos);
  report.shape = {};  // of compiled code
  EXPECT_NE(report::to_text(report).find("490 FLOP/B with its bytes moved once, 5.00 FLOP/B as run"),
            std::string::npos);
}

TEST(ReportText, SaysSoWhereNothingWasValidated) {
  gpu::SimReport report = test::sample_report();
  report.confidence = {-1, "none", {}, ""};
  EXPECT_NE(report::to_text(report).find("not validated"), std::string::npos);
}

TEST(ReportText, ShowsTheIntervalWithTheReasonForItsWidth) {
  gpu::SimReport report = test::sample_report();
  report.confidence.intervals.back() = {0.9 * report.time_us, 1.25 * report.time_us};
  report.confidence.validated_mape = -1;
  report.confidence.because = "nobody measured it";
  const std::string text = report::to_text(report);
  EXPECT_NE(text.find("90 % interval "), std::string::npos);
  EXPECT_NE(text.find("(-10 % to +25 %)"), std::string::npos) << text;
  EXPECT_NE(text.find("nobody measured it"), std::string::npos);
}

TEST(Figure, KeepsThreeSignificantDigits) {
  EXPECT_EQ(report::three_digits(0), "0");
  EXPECT_EQ(report::three_digits(0.01234), "0.0123");
  EXPECT_EQ(report::three_digits(1.234), "1.23");
  EXPECT_EQ(report::three_digits(9.999), "10.0");
  EXPECT_EQ(report::three_digits(12.34), "12.3");
  EXPECT_EQ(report::three_digits(1234.4), "1234");
}

TEST(Figure, ChangesPrefixAtAThousand) {
  EXPECT_EQ(report::figure(999.0, report::Unit::bytes), "999 B");
  EXPECT_EQ(report::figure(1000.0, report::Unit::bytes), "1.00 kB");
  EXPECT_EQ(report::figure(999.0, report::Unit::microseconds), "999 us");
  EXPECT_EQ(report::figure(1000.0, report::Unit::microseconds), "1.00 ms");
  EXPECT_EQ(report::figure(0.25, report::Unit::fraction), "25.0 %");
}

TEST(Bar, IsFilledToItsShareAndClamped) {
  EXPECT_EQ(report::bar(0, 4), "....");
  EXPECT_EQ(report::bar(0.5, 4), "##..");
  EXPECT_EQ(report::bar(7, 4), "####");
  EXPECT_EQ(report::bar(-1, 4), "....");
}

TEST(Wrap, BreaksBetweenWordsAndLosesNone) {
  EXPECT_EQ(report::wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(report::wrap("a sm80_xmma_gemm b", 7), (std::vector<std::string>{"a", "sm80_xm", "ma_gemm", "b"}));
  EXPECT_EQ(report::wrap("", 7), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace noteg
