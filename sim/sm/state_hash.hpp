// The state of the SM in one number: each unit adds all that decides what happens from now on, times relative to now.
// Equal states give equal numbers, others practically never do. A unit takes its state apart by a structured binding,
// which names every field or does not compile: none can be forgotten.
#pragma once

#include <cmath>
#include <cstdint>

namespace noteg::sm {

class StateHash {
 public:
  explicit StateHash(std::uint64_t now) : now_(now) {}

  void operator()(std::uint64_t value) {
    mixed_ = (mixed_ ^ value) * 0x9e37'79b9'7f4a'7c15u;
    mixed_ ^= mixed_ >> 29;
  }

  // A time that does not matter once it is over; may be `never`.
  void until(std::uint64_t time) { (*this)(time == never ? never : time > now_ ? time - now_ : 0); }
  // The same in fractions of a cycle, told apart to 1/64.
  void until(double time) {
    const double left = time - static_cast<double>(now_);
    (*this)(left > 0 ? static_cast<std::uint64_t>(std::llround(left * 64)) : 0);
  }
  // A time on either side of now.
  void at(std::uint64_t time) { (*this)(time == never ? never : time - now_); }

  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t value() const { return mixed_; }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t now_;
  std::uint64_t mixed_ = 0x2545'f491'4f6c'dd1du;
};

}  // namespace noteg::sm
