// Recognises that a state of the SM has come before: from there on everything repeats exactly, so whole periods can be
// passed over without an error. A state is known by a fingerprint of all that decides the future, times relative to
// now (Engine::fingerprint).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/sm/engine.hpp"

namespace noteg::sm {

// Mixes values into 64 bits; equal sequences give equal fingerprints, others practically never do.
class Fingerprint {
 public:
  void operator()(std::uint64_t value) {
    mixed_ = (mixed_ ^ value) * 0x9e37'79b9'7f4a'7c15u;
    mixed_ ^= mixed_ >> 29;
  }
  [[nodiscard]] std::uint64_t value() const { return mixed_; }

 private:
  std::uint64_t mixed_ = 0x2545'f491'4f6c'dd1du;
};

class Recurrence {
 public:
  struct Moment {
    std::uint64_t time = 0;
    std::int64_t launched = 0, finished = 0;  // CTAs
    std::vector<std::int64_t> trips;          // of each CTA slot's leading warp
    CoreCounters count;
  };

  void forget() { prints_.clear(); }

  // What has not come back by now hardly will: no more questions.
  [[nodiscard]] bool full() const { return prints_.size() >= most; }

  // The earlier moment with this fingerprint, or null; then the moment is to be remembered.
  [[nodiscard]] const Moment* find(std::uint64_t fingerprint) const {
    for (std::size_t i = prints_.size(); i-- > 0;)
      if (prints_[i] == fingerprint) return &moments_[i];
    return nullptr;
  }

  Moment& remember(std::uint64_t fingerprint) {
    prints_.push_back(fingerprint);
    if (moments_.size() < prints_.size()) moments_.emplace_back();
    return moments_[prints_.size() - 1];
  }

 private:
  static constexpr std::size_t most = 256;
  std::vector<std::uint64_t> prints_;
  std::vector<Moment> moments_;
};

}  // namespace noteg::sm
