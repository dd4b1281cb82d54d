#include "kernels/access/lane_expression.hpp"

#include <charconv>

namespace noteg::kernels {

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
