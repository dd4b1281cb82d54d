// Numbers that look random and depend on nothing but what they are made from: the same for any thread, rank and order.
// And a fingerprint of texts. The mixing steps are those of SplitMix64 and FNV-1a, both public domain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace noteg::dataset {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

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

}  // namespace noteg::dataset
