#include "sim/learn/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace noteg::learn {
namespace {

constexpr double side = 300, margin = 52;  // of the square, and around it, in pixels

struct Axis {
  int low = 0, high = 1;  // powers of ten

  [[nodiscard]] double place(double value) const { return side * (std::log10(value) - low) / (high - low); }
};

bool is_shown(const std::pair<double, double>& point) {
  return point.first > 0 && point.second > 0 && std::isfinite(point.first) && std::isfinite(point.second);
}

Axis axis_for(const Scatter& scatter) {
  double low = 1e300, high = 1e-300;
  for (const auto& point : scatter.points) {
    if (!is_shown(point)) continue;
    low = std::min({low, point.first, point.second});
    high = std::max({high, point.first, point.second});
  }
  if (low > high) return {};
  Axis axis{static_cast<int>(std::floor(std::log10(low))), static_cast<int>(std::ceil(std::log10(high)))};
  if (axis.high <= axis.low) axis.high = axis.low + 1;
  return axis;
}

std::string ticks(const Axis& axis) {
  std::string text;
  for (int power = axis.low; power <= axis.high; ++power) {
    const double at = side * (power - axis.low) / (axis.high - axis.low);
    const double x = margin + at, y = margin + side - at;
    text += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{1:.1f} {3:.1f}H{2:.1f}\" stroke=\"#ddd\"/>\n", x, margin,
                        margin + side, y);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">1e{}</text>\n", x, margin + side + 14,
                        power);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">1e{}</text>\n", margin - 4, y + 4, power);
  }
  return text;
}

}  // namespace

std::string to_svg(const Scatter& scatter) {
  const Axis axis = axis_for(scatter);
  const double whole = side + 2 * margin, middle = margin + side / 2;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{0}\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<text x=\"{1}\" y=\"{2}\" text-anchor=\"middle\" font-size=\"13\">{3}</text>\n",
      whole, middle, margin - 14, scatter.title);
  text += ticks(axis);
  text += fmt::format("<path d=\"M{0} {1}L{1} {0}\" stroke=\"#888\"/>\n", margin, margin + side);
  for (const auto& point : scatter.points)
    if (is_shown(point))
      text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.5\" fill=\"#1f5fa8\" fill-opacity=\"0.4\"/>\n",
                          margin + axis.place(point.first), margin + side - axis.place(point.second));
  text +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">true, {}</text>\n", middle, whole - 14, scatter.unit);
  text += fmt::format(
      "<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">predicted, {}</text>\n</svg>\n", middle,
      scatter.unit);
  return text;
}

}  // namespace noteg::learn
