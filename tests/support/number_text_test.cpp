#include "sim/support/text.hpp"

#include <gtest/gtest.h>

namespace noteg {
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
}  // namespace noteg
