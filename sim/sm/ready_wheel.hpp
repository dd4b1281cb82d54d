// Which warps of a sub-core are past their stall count, kept as a bit mask: a ring of 64 cycles holds the warps that
// become ready in each, so that warps which still wait cost nothing per cycle.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace noteg::sm {

class ReadyWheel {
 public:
  // Warp `bit` becomes ready at `at`. One that lies further ahead than the ring wakes early and has to be put in again.
  void put(int bit, std::uint64_t at, std::uint64_t now) {
    advance(now);
    ready_ |= 1u << bit;
    put_off(1u << bit, at, now);
  }

  // The same of a warp that is ready and will not be before `at`, which lies ahead. Call ready(now) before.
  void put_back(int bit, std::uint64_t at, std::uint64_t now) {
    ready_ &= ~(1u << bit);
    await(1u << bit, at, now);
  }

  // Those of a mask that are ready wait until `at`. Call ready(now) before.
  void put_off(std::uint32_t mask, std::uint64_t at, std::uint64_t now) {
    mask &= ready_;
    if (mask == 0 || at <= now) return;
    ready_ &= ~mask;
    await(mask, at, now);
  }

  // Warps that are ready at `now`.
  [[nodiscard]] std::uint32_t ready(std::uint64_t now) {
    advance(now);
    return ready_;
  }

  // First cycle after `now` in which one of `warps` becomes ready, or `otherwise`. Call ready(now) before.
  [[nodiscard]] std::uint64_t next(std::uint32_t warps, std::uint64_t now, std::uint64_t otherwise) const {
    std::uint64_t ahead = std::rotr(occupied_, static_cast<int>((now + 1) % ring));
    while (ahead != 0) {
      const std::uint64_t at = now + 1 + static_cast<std::uint64_t>(std::countr_zero(ahead));
      if ((cells_[at % ring] & warps) != 0) return at;
      ahead &= ahead - 1;
    }
    return otherwise;
  }

 private:
  static constexpr std::uint64_t ring = 64;

  void await(std::uint32_t mask, std::uint64_t at, std::uint64_t now) {
    const std::uint64_t cell = std::min(at, now + ring - 1) % ring;
    cells_[cell] |= mask;
    occupied_ |= std::uint64_t{1} << cell;
  }

  void advance(std::uint64_t now) {
    if (now == at_) return;
    const std::uint64_t by = now - at_;
    std::uint64_t past = std::rotr(occupied_, static_cast<int>((at_ + 1) % ring));
    past &= by < ring ? (std::uint64_t{1} << by) - 1 : ~std::uint64_t{0};
    // Mostly one cell or none, which no host foresees: the first is passed without asking.
    do {
      const std::uint64_t any = past != 0 ? 1 : 0;
      constexpr std::uint64_t last = std::uint64_t{1} << (ring - 1);
      const std::uint64_t cell = (at_ + 1 + static_cast<std::uint64_t>(std::countr_zero(past | last))) % ring;
      const auto taken = static_cast<std::uint32_t>(0 - any);
      ready_ |= cells_[cell] & taken;
      cells_[cell] &= ~taken;
      occupied_ &= ~(any << cell);
      past &= past - 1;
    } while (past != 0);
    at_ = now;
  }

  std::array<std::uint32_t, ring> cells_{};
  std::uint64_t occupied_ = 0, at_ = 0;
  std::uint32_t ready_ = 0;
};

}  // namespace noteg::sm
