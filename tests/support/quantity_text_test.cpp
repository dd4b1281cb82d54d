#include "sim/support/quantity_text.hpp"

#include <gtest/gtest.h>

namespace noteg {
namespace {

TEST(QuantityText, PrefixesScaleExactly) {
  EXPECT_EQ(parse_quantity_as<Bytes>("36 MiB")->value, 36.0 * 1024 * 1024);
  EXPECT_EQ(parse_quantity_as<Bytes>("21 KiB")->value, 21504.0);
  EXPECT_EQ(parse_quantity_as<Bytes>("12 GB")->value, 12e9);
  EXPECT_EQ(parse_quantity_as<BytesPerSecond>("504 GB/s")->value, 504e9);
  EXPECT_EQ(parse_quantity_as<BytesPerCycle>("5120 B/clk")->value, 5120.0);
  EXPECT_EQ(parse_quantity_as<Hertz>("2.475 GHz")->value, 2475000000.0);
  EXPECT_EQ(parse_quantity_as<Seconds>("54 ns")->value, 54e-9);
  EXPECT_EQ(parse_quantity_as<Watts>("72 W")->value, 72.0);
  EXPECT_EQ(parse_quantity_as<Joules>("12 pJ")->value, 12e-12);
}

TEST(QuantityText, ThreeWordsForOneClockCycle) {
  for (const char* text : {"4 cycles", "4 cycle", "4 clk", "4clk", "4   cycles"}) {
    EXPECT_EQ(parse_quantity_as<Cycles>(text)->value, 4.0) << text;
  }
}

TEST(QuantityText, DecimalPrefixGivesTheNearestDouble) {
  // 0.3 * 1e9 is 300000000.00000006 in doubles that round each step.
  EXPECT_EQ(parse_quantity_as<Hertz>("0.3 GHz")->value, 3e8);
  EXPECT_EQ(parse_quantity_as<Seconds>("0.55 us")->value, 0.55e-6);
}

TEST(QuantityText, ExponentIsPartOfTheNumber) {
  EXPECT_EQ(parse_quantity_as<Bytes>("1e3 MB")->value, 1e9);
  EXPECT_EQ(parse_quantity_as<Bytes>("1e3 B")->value, 1e3);
}

TEST(QuantityText, WrongKindIsNamed) {
  const Result<double> size = parse_quantity("504 GB/s", Unit::bytes);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.errors().front().expected, "a size such as 36 MiB (in B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)");
  EXPECT_EQ(size.errors().front().found, "\"504 GB/s\", which is a bandwidth");
}

TEST(QuantityText, MissingUnitIsNamed) {
  const Result<double> size = parse_quantity("36", Unit::bytes);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.errors().front().found, "\"36\" without a unit");
}

TEST(QuantityText, UnitsAreCaseSensitive) {
  EXPECT_FALSE(parse_quantity("36 mib", Unit::bytes));
  EXPECT_FALSE(parse_quantity("2 GHZ", Unit::hertz));
}

TEST(QuantityText, RefusesWhatIsNotOneNumber) {
  for (const char* text : {"", "B", "x B", "nan B", "inf B", "1e400 B", "1.2.3 B", "0x10 B", "+3 B", "1 2 B", "1 B B",
                           "--1 B", "1e B", " 1 B", "1 B "}) {
    EXPECT_FALSE(parse_quantity(text, Unit::bytes)) << text;
  }
}

TEST(QuantityText, FormatChoosesThePrefixThatReadsWell) {
  EXPECT_EQ(format_quantity(Bytes{36.0 * 1024 * 1024}), "36 MiB");
  EXPECT_EQ(format_quantity(Bytes{80e9}), "80 GB");
  EXPECT_EQ(format_quantity(BytesPerSecond{504e9}), "504 GB/s");
  EXPECT_EQ(format_quantity(Seconds{8e-7}), "800 ns");
  EXPECT_EQ(format_quantity(Seconds{54e-9}), "54 ns");
  EXPECT_EQ(format_quantity(Cycles{4.07}), "4.07 cycles");
  EXPECT_EQ(format_quantity(Bytes{0}), "0 B");
  EXPECT_EQ(format_quantity(Watts{-3}), "-3 W");
}

TEST(QuantityText, FormatThenParseGivesTheSameValue) {
  for (const Unit unit :
       {Unit::bytes, Unit::bytes_per_cycle, Unit::bytes_per_second, Unit::cycles, Unit::hertz, Unit::joules,
        Unit::seconds, Unit::watts, Unit::volts, Unit::celsius, Unit::kelvin_per_watt}) {
    for (const double value :
         {0.0, 1.0, 1.0 / 3.0, 2.475e9, 54e-9, 5.5e-7, 166912.0, 504e9, 1.2345678e15, 7e-12, 1e300}) {
      const Result<double> back = parse_quantity(format_quantity(value, unit), unit);
      ASSERT_TRUE(back) << format_quantity(value, unit);
      EXPECT_EQ(*back, value) << format_quantity(value, unit);
    }
  }
}

}  // namespace
}  // namespace noteg
