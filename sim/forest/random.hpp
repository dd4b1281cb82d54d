// Numbers that look random and are the same on every machine: SplitMix64, one stream per tree.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/support/arithmetic.hpp"

namespace noteg::forest {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_(seed + split_mix_step * (stream + 1)) {
    (void)next();
    state_ ^= next() << 1;
  }

  std::uint64_t next() {
    const std::uint64_t out = split_mix(state_);
    state_ += split_mix_step;
    return out;
  }

  // 0 ... count - 1; count below 2^32.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(((next() >> 32) * std::uint64_t{count}) >> 32);
  }

 private:
  std::uint64_t state_;
};

// Each order equally likely (Fisher and Yates).
template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random.below(static_cast<std::uint32_t>(i))]);
}

}  // namespace noteg::forest
