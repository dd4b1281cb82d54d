#include "sim/dataset/sampling.hpp"

#include <fmt/format.h>
#include <boost/random/sobol.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "arch/field.hpp"
#include "arch/read_spec.hpp"

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

namespace {

constexpr int draws = 20;

// With one partition there is no far half: one latency under two keys.
void keep_tied(arch::GpuSpec& gpu) {
  if (gpu.l2.partitions == 1) gpu.l2.far_latency = gpu.l2.latency;
}

bool rules_hold(const arch::GpuSpec& gpu) {
  return std::ranges::all_of(arch::rules(), [&](const arch::Rule& rule) { return rule.holds(gpu); });
}

}  // namespace

arch::GpuSpec perturbed(const arch::GpuSpec& gpu, const std::vector<Jitter>& jitter, std::uint64_t seed,
                        std::size_t copy) {
  arch::GpuSpec out = gpu;
  if (copy == 0) return out;
  const std::uint64_t own = mix(mix(seed, hash_of(gpu.id)), copy);
  for (const Jitter& one : jitter) {
    const arch::Field& field = arch::fields()[one.field];
    const double number = std::get<double>(field.get(gpu));
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      // The key, not its place in the table: a new key must not move the others' draws.
      const double share = share_of(mix(own, hash_of(field.key), draw));
      double value = number * one.low * std::pow(one.high / one.low, share);
      if (field.kind == arch::Kind::count) value = std::round(value);
      if (value < field.low || value > field.high) continue;
      field.set(out, arch::Value{value});
      keep_tied(out);
      if (rules_hold(out)) break;
      field.set(out, arch::Value{number});
      keep_tied(out);
    }
  }
  return out;
}

}  // namespace noteg::dataset
