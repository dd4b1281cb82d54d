#include "sim/dataset/sampling.hpp"

#include <fmt/format.h>
#include <boost/random/sobol.hpp>
#include <numeric>
#include <utility>

#include "sim/dataset/hash.hpp"

namespace noteg::dataset {
namespace {

// Purposes that draw numbers of their own.
constexpr std::uint64_t for_strata = 1, for_shift = 2, within_stratum = 3;

// Fisher and Yates: the standard library's shuffle may differ between implementations.
std::vector<std::uint32_t> permutation(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[mix(seed, i) % i]);
  return order;
}

}  // namespace

std::string fingerprint(std::string_view text) { return fmt::format("{:016x}", mix(hash_of(text))); }

struct Points::Sobol {
  explicit Sobol(std::size_t dimensions) : engine(dimensions) {}
  boost::random::sobol engine;
};

Points::Points(Method method, std::size_t rows, std::size_t dimensions, std::uint64_t seed)
    : method_(method), rows_(rows), dimensions_(dimensions), seed_(seed) {
  if (method == Method::latin_hypercube)
    for (std::size_t d = 0; d < dimensions; ++d) strata_.push_back(permutation(rows, mix(seed, for_strata, d)));
  if (method == Method::sobol) sobol_ = std::make_unique<Sobol>(dimensions);
}

Points::~Points() = default;
Points::Points(Points&&) noexcept = default;

std::vector<double> Points::at(std::size_t row) const {
  switch (method_) {
    case Method::grid: break;
    case Method::random: return random(row);
    case Method::latin_hypercube: return latin(row);
    case Method::sobol: return sobol(row);
  }
  return std::vector<double>(dimensions_);
}

std::vector<double> Points::random(std::size_t row) const {
  std::vector<double> point;
  for (std::size_t d = 0; d < dimensions_; ++d) point.push_back(share_of(mix(seed_, row, d)));
  return point;
}

std::vector<double> Points::latin(std::size_t row) const {
  std::vector<double> point;
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const double inside = share_of(mix(mix(seed_, within_stratum), row, d));
    point.push_back((strata_[d][row] + inside) / static_cast<double>(rows_));
  }
  return point;
}

// Every dimension is shifted by the seed's own bits, which keeps the sequence's evenness.
std::vector<double> Points::sobol(std::size_t row) const {
  boost::random::sobol engine = sobol_->engine;
  engine.seed(row);
  std::vector<double> point;
  for (std::size_t d = 0; d < dimensions_; ++d) point.push_back(share_of(engine() ^ mix(seed_, for_shift, d)));
  return point;
}

}  // namespace noteg::dataset
