#include "kernels/access/lane_form.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <vector>

namespace noteg::kernels {
namespace {

using Offsets = std::array<std::uint32_t, 32>;

// One summand: (lane / divisor) % modulus * weight; divisor 1 and modulus 32 drop out.
struct Term {
  std::uint32_t divisor = 1, modulus = 32;
  std::int64_t weight = 0;

  [[nodiscard]] std::int64_t at(std::uint32_t lane) const { return lane / divisor % modulus * weight; }

  [[nodiscard]] std::string text() const {
    std::string out = "lane";
    if (divisor > 1) out += fmt::format("/{}", divisor);
    if (modulus * divisor < 32) out += fmt::format("%{}", modulus);
    if (weight > 1) out += fmt::format("*{}", weight);
    return out;
  }
};

std::int64_t difference(const Offsets& offset, std::uint32_t lane) {
  return lane < 32 ? std::int64_t{offset[lane]} - std::int64_t{offset[0]} : 0;
}

// A sum of the terms whose weights follow from one lane each, if it gives every lane its offset.
std::optional<std::string> sum_of(const Offsets& offset, std::initializer_list<Term> terms) {
  std::vector<Term> kept;
  for (Term term : terms) {
    term.weight = difference(offset, term.divisor);
    if (term.weight < 0) return std::nullopt;
    if (term.weight > 0) kept.push_back(term);
  }
  std::string text;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::int64_t sum = offset[0];
    for (const Term& term : kept) sum += term.at(lane);
    if (sum != offset[lane]) return std::nullopt;
  }
  for (const Term& term : kept) text += (text.empty() ? "" : " + ") + term.text();
  if (offset[0] > 0 || kept.empty()) text += fmt::format("{}{}", text.empty() ? "" : " + ", offset[0]);
  return text;
}

// One or two terms: rows and columns of a tile whose width need not be a power of two.
std::optional<std::string> rows_and_columns(const Offsets& offset) {
  if (const auto text = sum_of(offset, {{1, 32, 0}})) return text;
  for (std::uint32_t width = 2; width < 32; ++width) {
    if (const auto text = sum_of(offset, {{width, 32, 0}, {1, width, 0}})) return text;
  }
  for (std::uint32_t outer = 4; outer < 32; ++outer) {
    for (std::uint32_t inner = 2; inner < outer; ++inner) {
      if (outer % inner != 0) continue;
      if (const auto text = sum_of(offset, {{outer, 32, 0}, {inner, outer / inner, 0}, {1, inner, 0}})) return text;
    }
  }
  return sum_of(offset, {{16, 2, 0}, {8, 2, 0}, {4, 2, 0}, {2, 2, 0}, {1, 2, 0}});
}

// Each bit of the lane flips its own bits of the offset.
std::optional<std::string> exclusive_or(const Offsets& offset) {
  std::array<std::uint32_t, 5> flips{};
  for (std::uint32_t bit = 0; bit < 5; ++bit) flips[bit] = offset[1U << bit] ^ offset[0];
  std::string text;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t value = offset[0];
    for (std::uint32_t bit = 0; bit < 5; ++bit) value ^= (lane >> bit & 1U) != 0 ? flips[bit] : 0;
    if (value != offset[lane]) return std::nullopt;
  }
  for (std::uint32_t bit = 5; bit-- > 0;) {
    if (flips[bit] == 0) continue;
    text += (text.empty() ? "" : " ^ ") + Term{1U << bit, 2, std::int64_t{flips[bit]}}.text();
  }
  if (offset[0] > 0) text += fmt::format(" ^ {}", offset[0]);
  return text;
}

}  // namespace

std::string lane_form(const Offsets& offset) {
  if (const auto text = rows_and_columns(offset)) return *text;
  if (const auto text = exclusive_or(offset)) return *text;
  return fmt::format("[{}]", fmt::join(offset, " "));
}

}  // namespace noteg::kernels
