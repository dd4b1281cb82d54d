#include "kernels/access/wavefronts.hpp"

#include <fmt/format.h>

#include <charconv>
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

namespace {

constexpr int max_depth = 64;

class Parser {
 public:
  Parser(std::string_view text, std::int64_t lane) : text_(text), lane_(lane) {}

  std::optional<std::int64_t> all() {
    auto value = binary(0, 0);
    skip();
    if (!value || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  static int precedence(char op) {
    switch (op) {
      case '^': return 0;
      case '&': return 1;
      case '+':
      case '-': return 2;
      case '*':
      case '/':
      case '%': return 3;
      default: return -1;
    }
  }

  std::optional<std::int64_t> primary(int depth) {
    skip();
    if (depth > max_depth || at_ >= text_.size()) return std::nullopt;
    if (text_[at_] == '(') {
      ++at_;
      auto inner = binary(0, depth + 1);
      skip();
      if (!inner || at_ >= text_.size() || text_[at_] != ')') return std::nullopt;
      ++at_;
      return inner;
    }
    if (text_.substr(at_).starts_with("lane")) {
      at_ += 4;
      return lane_;
    }
    int base = 10;
    if (text_.substr(at_).starts_with("0x")) {
      base = 16;
      at_ += 2;
    }
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, base);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::optional<std::int64_t> binary(int least, int depth) {
    auto left = primary(depth);
    while (left) {
      skip();
      if (at_ >= text_.size()) break;
      const char op = text_[at_];
      const int level = precedence(op);
      if (level < least) break;
      ++at_;
      const auto right = binary(level + 1, depth + 1);
      if (!right) return std::nullopt;
      left = apply(op, *left, *right);
    }
    return left;
  }

  static std::optional<std::int64_t> apply(char op, std::int64_t a, std::int64_t b) {
    constexpr std::int64_t limit = std::int64_t{1} << 31;
    std::int64_t value = 0;
    switch (op) {
      case '^': value = a ^ b; break;
      case '&': value = a & b; break;
      case '+': value = a + b; break;
      case '-': value = a - b; break;
      case '*': value = a * b; break;
      default:
        if (b == 0) return std::nullopt;
        value = op == '/' ? a / b : a % b;
    }
    if (value > limit || value < -limit) return std::nullopt;
    return value;
  }

  std::string_view text_;
  std::int64_t lane_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> evaluate_lane_expression(std::string_view text, std::int64_t lane) {
  return Parser(text, lane).all();
}

}  // namespace noteg::kernels
