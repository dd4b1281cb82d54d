// Independent items by several threads. Every item writes to its own place, so that the number of threads never shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/support/arithmetic.hpp"

namespace noteg::forest {

// work(0) ... work(count - 1), each once. The first exception is thrown again when all threads have ended.
void share(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

// Numbers that look random and are the same on every machine: SplitMix64, one stream per tree.

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
