// Values of a register in the 32 lanes of a warp, each known or not. What is computed from an unknown value is unknown.
#pragma once

#include <array>
#include <cstdint>

namespace noteg::compiled {

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

struct alignas(32) Lanes {
  std::array<std::uint32_t, 32> value{};
  std::uint32_t known = all_lanes;  // bit i: of lane i

  [[nodiscard]] static Lanes of(std::uint32_t v) {
    Lanes out;
    out.value.fill(v);
    return out;
  }
  [[nodiscard]] static Lanes unknown() {
    Lanes out;
    out.known = 0;
    return out;
  }
};

// A predicate in the 32 lanes. Bits of unknown lanes are zero.
struct Predicate {
  std::uint32_t bits = 0;
  std::uint32_t known = all_lanes;
};

struct Wide {
  std::array<std::uint64_t, 32> value{};
  std::uint32_t known = all_lanes;
};

// Of Lanes or Wide, value by value.
template <class V, class F>
V map(const V& a, F f) {
  V out;
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = f(a.value[i]);
  out.known = a.known;
  return out;
}

template <class V, class F>
V map(const V& a, const V& b, F f) {
  V out;
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = f(a.value[i], b.value[i]);
  out.known = a.known & b.known;
  return out;
}

template <class V, class F>
V map(const V& a, const V& b, const V& c, F f) {
  V out;
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = f(a.value[i], b.value[i], c.value[i]);
  out.known = a.known & b.known & c.known;
  return out;
}

}  // namespace noteg::compiled
