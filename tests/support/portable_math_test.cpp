#include "sim/support/arithmetic.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace noteg {
namespace {

// Units in the last place of `expected`.
double off(double value, double expected) {
  const double unit = std::nextafter(std::abs(expected), std::numeric_limits<double>::infinity()) - std::abs(expected);
  return std::abs(value - expected) / unit;
}

TEST(PortableMath, IsWithinTwoUnitsOfTheCLibrary) {
  for (int i = -4000; i <= 4000; ++i) {
    const double x = i * 0.1737;
    EXPECT_LE(off(portable::exp(x), std::exp(x)), 2) << x;
    EXPECT_LE(off(portable::log(std::exp(x)), std::log(std::exp(x))), 2) << std::exp(x);
    EXPECT_LE(off(portable::log(1 + 1e-4 * i / 4001), std::log(1 + 1e-4 * i / 4001)), 2) << i;
    EXPECT_LE(off(portable::exp2(x / 4), std::exp2(x / 4)), 3) << x / 4;
  }
}

TEST(PortableMath, PowersLoseNoMoreThanTheirLogarithmIsLarge) {
  for (const double x : {1.03, 1.15, 0.999999, 0.5, 7.25, 1e-5})
    for (int y = -60; y <= 60; ++y) {
      const double most = 3 + 2 * std::abs(y * std::log(x));
      EXPECT_LE(off(portable::pow(x, y), std::pow(x, y)), most) << x << "^" << y;
    }
}

TEST(PortableMath, KnowsTheEndsOfTheRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(1000), infinity);
  EXPECT_EQ(portable::exp(-1000), 0);
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_EQ(portable::log(0), -infinity);
  EXPECT_TRUE(std::isnan(portable::log(-1)));
  EXPECT_EQ(portable::log2(1024), 10);
  EXPECT_EQ(portable::exp2(-3), 0.125);
  EXPECT_EQ(portable::pow(0, 2), 0);
  EXPECT_EQ(portable::pow(0, 0), 1);
  EXPECT_EQ(portable::pow(3, 0), 1);
}

// Bits written down once: any machine, any compiler, any C library has to give these.
TEST(PortableMath, HasTheSameBitsEverywhere) {
  std::uint64_t mixed = 0;
  for (int i = 1; i <= 1000; ++i)
    for (const double value : {portable::exp(i / 2.0 - 250), portable::log(0.377 * i), portable::exp2(-0.01 * i),
                               portable::pow(1.0 - 1.0 / (i + 1), 0.5 * i)})
      mixed = mixed * 1099511628211ULL + std::bit_cast<std::uint64_t>(value);
  EXPECT_EQ(mixed, 12078552722275335157ULL);
}

}  // namespace
}  // namespace noteg
