// Bytes that are no text: where they are, and what is shown of them.
#include <gtest/gtest.h>

#include "sim/support/result.hpp"
#include "sim/support/text.hpp"

namespace noteg {

namespace {

TEST(TextBytes, FindsTheFirstByteThatNoTextHolds) {
  EXPECT_EQ(first_non_text("plain\ttext\r\n"), std::string_view::npos);
  EXPECT_EQ(first_non_text("\xc2\xb5s \xe2\x82\xac \xf0\x9f\x9a\x80"), std::string_view::npos);
  EXPECT_EQ(first_non_text("a\x1b[2J"), 1u);
  EXPECT_EQ(first_non_text("a\x7f"), 1u);
  EXPECT_EQ(first_non_text("caf\xe9"), 3u);
  EXPECT_EQ(first_non_text("\xc2\x9b"
                           "2J"),
            0u);                              // CSI as one character
  EXPECT_EQ(first_non_text("\xc0\xaf"), 0u);  // overlong
  EXPECT_EQ(first_non_text("\xe0\x80\xaf"), 0u);
  EXPECT_EQ(first_non_text("\xed\xa0\x80"), 0u);      // a surrogate
  EXPECT_EQ(first_non_text("\xf4\x90\x80\x80"), 0u);  // beyond Unicode
  EXPECT_EQ(first_non_text("\xe2\x82"), 0u);          // cut off
}

TEST(TextBytes, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[2J\n\tb"), "a\\u001b[2J\n\tb");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\r"),
            "\\u009b2J\\u000d");
  EXPECT_EQ(printable("caf\xe9 \xc2\xb5"), "caf\\u00e9 \xc2\xb5");
  EXPECT_EQ(printable_line("a\nb"), "a\\u000ab");
  EXPECT_EQ(printable_line(std::string(100, 'x'), 10), "xxxxxxxxxx...");
}

TEST(Diagnostics, AreLinesThatATerminalDoesNotObey) {
  const Diagnostic error{"f\x1b[1m.yaml", 1, 2, "k\ney", "x", "\x07"};
  EXPECT_EQ(error.to_string(), "f\\u001b[1m.yaml:1:2: k\\u000aey: expected x, found \\u0007");
}

TEST(Diagnostics, AreBoundedInNumberAndLength) {
  const std::string text = to_string(Diagnostics(1000, {"f", 1, 1, std::string(1 << 16, 'k'), "x", "y"}));
  EXPECT_LT(text.size(), 300'000u);
  EXPECT_TRUE(text.ends_with("and 900 mistakes more\n"));
}

}  // namespace

namespace {

TEST(NumberText, LeadingZeroIsDecimalNotOctal) { EXPECT_EQ(parse_integer("010"), 10); }

TEST(NumberText, IntegerIsTheWholeText) {
  for (const char* text : {"", " 1", "1 ", "1.0", "1e3", "0x10", "+1", "one", "99999999999999999999"}) {
    EXPECT_FALSE(parse_integer(text).has_value()) << text;
  }
  EXPECT_EQ(parse_integer("-12"), -12);
}

TEST(NumberText, NumberIsFinite) {
  for (const char* text : {"", ".nan", "nan", "inf", "-inf", "1e400", "1,5", "0x1p3", "1 000"}) {
    EXPECT_FALSE(parse_number(text).has_value()) << text;
  }
  EXPECT_EQ(parse_number("1e-3"), 0.001);
}

TEST(NumberText, FormatReadsBackAsTheSameNumber) {
  for (const double value : {0.1, 1.0 / 3.0, 4.07, 1e-12, 123456789.0, 1e300, -2.5}) {
    EXPECT_EQ(parse_number(format_number(value)), value);
  }
  EXPECT_EQ(format_number(36), "36");
  EXPECT_EQ(format_number(0.92), "0.92");
}

}  // namespace

namespace {

TEST(NearestName, DistanceCountsSingleSlips) {
  EXPECT_EQ(edit_distance("latency", "latency"), 0);
  EXPECT_EQ(edit_distance("latency", "LATENCY"), 0);
  EXPECT_EQ(edit_distance("latncy", "latency"), 1);
  EXPECT_EQ(edit_distance("latecny", "latency"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(NearestName, NearestComesFirstAndFarOnesAreLeftOut) {
  const std::vector<std::string> names{"rtx3090", "rtx4070", "l4", "h100-sxm5-80gb"};
  EXPECT_EQ(nearest_names("rtx4071", names, 3), (std::vector<std::string>{"rtx4070"}));
  EXPECT_EQ(nearest_names("h100", names, 3), (std::vector<std::string>{"h100-sxm5-80gb"}));
  EXPECT_TRUE(nearest_names("voodoo", names, 3).empty());
}

TEST(NearestName, AVeryLongTextCostsNothing) {
  EXPECT_TRUE(nearest_names(std::string(1000000, 'x'), {"rtx4070"}, 3).empty());
}

TEST(NearestName, JoinsAsASentence) {
  EXPECT_EQ(join_or({}), "");
  EXPECT_EQ(join_or({"a"}), "a");
  EXPECT_EQ(join_or({"a", "b", "c"}), "a, b or c");
}

}  // namespace

}  // namespace noteg
