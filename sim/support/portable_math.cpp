#include "sim/support/arithmetic.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace noteg::portable {
namespace {

// ln 2 as a sum: multiples of the first part are exact up to 2^20.
constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33, ln2 = 0x1.62e42fefa39efp-1;
// 1 / i!, of Taylor's series of e^r.
constexpr std::array<double, 15> taylor = [] {
  std::array<double, 15> out{1};
  for (std::size_t i = 1; i < out.size(); ++i) out[i] = out[i - 1] / static_cast<double>(i);
  return out;
}();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// e^x = 2^k e^r with |r| <= ln 2 / 2; e^r by Taylor's series, whose first term left out is below 2^-60.
double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.79) return infinity;
  if (x < -745.14) return 0;
  const double k = std::round(x / ln2), r = (x - k * ln2_high) - k * ln2_low;
  double sum = 0;
  for (std::size_t i = taylor.size(); i-- > 1;) sum = (sum + taylor[i]) * r;
  return std::ldexp(1 + sum, static_cast<int>(k));
}

// log x = k ln 2 + 2 artanh s with s = (m - 1) / (m + 1), x = 2^k m and 1/2 <= m^2 < 2, by the series of artanh.
double log(double x) {
  if (std::isnan(x) || x < 0) return not_a_number;
  if (x == 0) return -infinity;
  if (std::isinf(x)) return x;
  int k = 0;
  double m = std::frexp(x, &k);
  if (m * m < 0.5) {
    m *= 2;
    --k;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  constexpr int terms = 11;
  double sum = 0;
  for (int i = terms; i > 0; --i) sum = (sum + 1.0 / (2 * i + 1)) * z;
  return k * ln2_high + (2 * s * sum + k * ln2_low + 2 * s);
}

double exp2(double x) {
  const double whole = std::round(x);
  if (!(std::abs(whole) < 2000)) return exp(x * ln2);
  return std::ldexp(exp((x - whole) * ln2), static_cast<int>(whole));
}

double log2(double x) {
  int k = 0;
  const double m = std::frexp(x, &k);
  return m == 0.5 ? k - 1 : log(x) / ln2;
}

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x == 0) return y > 0 ? 0 : infinity;
  return exp(y * log(x));
}

}  // namespace noteg::portable
