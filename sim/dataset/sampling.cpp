#include "sim/dataset/sampling.hpp"

#include <fmt/format.h>
#include <boost/random/sobol.hpp>

#include <algorithm>
#include <array>
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

namespace {

// Hidden sizes of language models in use, their multiples in gated layers, and both shared among several GPUs.
constexpr std::array<std::int64_t, 14> widths{768,  1024, 1536, 2048, 2560,  3072,  4096,
                                              5120, 6144, 7168, 8192, 11008, 14336, 28672};
constexpr double most_tokens = 16384, most_images = 64;

// Outputs of an image, filters, channels x taps (three channels filled up to eight): ResNet-50 (He et al., arXiv
// 1512.03385, table 1) and VGG-16 (Simonyan and Zisserman, arXiv 1409.1556, table 1).
struct Convolution {
  std::int64_t outputs, filters, depth;
};
constexpr std::array<Convolution, 18> convolutions{{{12544, 64, 392},
                                                    {3136, 64, 64},
                                                    {3136, 64, 576},
                                                    {3136, 256, 64},
                                                    {3136, 64, 256},
                                                    {784, 128, 1152},
                                                    {784, 512, 128},
                                                    {784, 128, 512},
                                                    {196, 256, 2304},
                                                    {196, 1024, 256},
                                                    {196, 256, 1024},
                                                    {49, 512, 4608},
                                                    {49, 2048, 512},
                                                    {49, 512, 2048},
                                                    {50176, 64, 576},
                                                    {12544, 128, 1152},
                                                    {3136, 256, 2304},
                                                    {784, 512, 4608}}};

template <class Array>
const auto& pick(const Array& all, double share) {
  return all[std::min(static_cast<std::size_t>(share * static_cast<double>(all.size())), all.size() - 1)];
}

}  // namespace

kernels::GemmShape layer_shape(double tokens, double n, double k) {
  const double exact = std::exp(tokens * std::log(most_tokens));
  const std::int64_t m = exact < 64 ? std::max<std::int64_t>(1, std::llround(exact)) : std::llround(exact / 8) * 8;
  return {m, pick(widths, n), pick(widths, k), 1};
}

kernels::GemmShape convolution_shape(double images, double layer) {
  const Convolution& one = pick(convolutions, layer);
  return {std::max<std::int64_t>(1, std::llround(std::exp(images * std::log(most_images)))) * one.outputs, one.filters,
          one.depth, 1};
}

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
