// Shapes divided into two halves by a hash, so that a constant of a measured set is fitted on one half and judged on
// the other. Every row of one shape is in the same half, on every GPU.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/config/shape.hpp"

namespace noteg::validate {

enum class Half : std::uint8_t { fitted, judged };

[[nodiscard]] constexpr std::uint64_t shape_hash(const kernels::GemmShape& shape) {
  std::uint64_t hash = 0;
  for (const std::int64_t extent : {shape.batch, shape.m, shape.n, shape.k}) {
    hash = (hash ^ static_cast<std::uint64_t>(extent)) * 0x9E3779B97F4A7C15U;  // 2^64 over the golden ratio
    hash ^= hash >> 32;
  }
  return hash;
}

[[nodiscard]] constexpr Half half_of(const kernels::GemmShape& shape) {
  return (shape_hash(shape) & 1) == 0 ? Half::fitted : Half::judged;
}

// One shape in five, by other bits of the hash than the halves.
[[nodiscard]] constexpr bool in_held_out_fifth(const kernels::GemmShape& shape) {
  return (shape_hash(shape) >> 1) % 5 == 0;
}

[[nodiscard]] constexpr std::string_view name_of(Half half) { return half == Half::fitted ? "fitted" : "judged"; }

}  // namespace noteg::validate
