// Numbers that look random and depend on nothing but what they are made from: the same for any thread, rank and order.
// Points of a sweep, GPUs near real ones, and a fingerprint of texts are made from them. The mixing steps are those of
// SplitMix64 and FNV-1a, both public domain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arch/spec.hpp"
#include "sim/dataset/sweep.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::dataset {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) { return split_mix(x); }

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(mix(a) ^ b); }
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return mix(mix(a, b), c);
}

// 0 <= share < 1.
[[nodiscard]] constexpr double share_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);
}

[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

[[nodiscard]] std::string fingerprint(std::string_view text);  // 16 hexadecimal digits

// Points in the unit cube, one for each row. A point depends on method, seed, number of rows and its own row only, so
// that any worker can ask for any row.
class Points {
 public:
  // method: not grid.
  Points(Method method, std::size_t rows, std::size_t dimensions, std::uint64_t seed);
  ~Points();
  Points(Points&&) noexcept;

  [[nodiscard]] std::vector<double> at(std::size_t row) const;  // each 0 <= x < 1

 private:
  struct Sobol;
  [[nodiscard]] std::vector<double> random(std::size_t row) const;
  [[nodiscard]] std::vector<double> latin(std::size_t row) const;
  [[nodiscard]] std::vector<double> sobol(std::size_t row) const;

  Method method_;
  std::size_t rows_, dimensions_;
  std::uint64_t seed_;
  std::vector<std::vector<std::uint32_t>> strata_;  // Latin hypercube: of each dimension, a permutation of the rows
  std::unique_ptr<Sobol> sobol_;
};

// GPUs that do not exist, near ones that do: so that a forest sees what each number of the hardware does.

// copy 0 is the GPU itself. A factor that would break a rule between numbers (arch/validate.hpp) or leave the range of
// its key is drawn again, and the number stays as it is where no draw fits.
[[nodiscard]] arch::GpuSpec perturbed(const arch::GpuSpec& gpu, const std::vector<Jitter>& jitter, std::uint64_t seed,
                                      std::size_t copy);

}  // namespace noteg::dataset
