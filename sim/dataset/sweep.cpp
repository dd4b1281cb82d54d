#include "sim/dataset/sweep.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::dataset {

std::string_view name_of(Method method) {
  switch (method) {
    case Method::grid: return "grid";
    case Method::random: return "random";
    case Method::latin_hypercube: return "latin_hypercube";
    case Method::sobol: return "sobol";
  }
  return "";
}

std::int64_t Span::at(double share) const {
  const auto from = static_cast<double>(low), to = static_cast<double>(high);
  const double value = logarithmic ? from * std::pow(to / from, share) : from + (to - from) * share;
  const auto step = static_cast<double>(multiple_of);
  return std::clamp(static_cast<std::int64_t>(std::llround(value / step) * multiple_of), low, high);
}

}  // namespace noteg::dataset
