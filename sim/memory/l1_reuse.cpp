#include "sim/memory/l1_reuse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/support/arithmetic.hpp"

namespace noteg::memory {

namespace {

// Members of a set of `all` that `draws` draws of `each` members touch, over the members drawn.
double distinct_share(double all, double each, double draws) {
  if (draws <= 1) return 1;
  if (all <= each) return 1 / draws;
  return all * (1.0 - portable::pow(1.0 - each / all, draws)) / (draws * each);
}

// CTAs of an SM stand an integer of SMs apart in the raster, where they share next to nothing, as long as the SM
// has few slots. With many slots, which are refilled one by one, they are as good as drawn at random from those that
// are live. H200M counters: hits of naive tiles of 4 (32 of 32 slots), 16 (8) and 24 (3) follow if the share of
// slots says how much of an SM's CTAs is drawn.
double drawn(const SharingCtas& ctas) {
  return std::min(1.0, static_cast<double>(ctas.resident) / std::max(1, ctas.slots));
}

}  // namespace

double straddle(std::int64_t bytes, std::int64_t pitch, std::int64_t sector) {
  // Starts fall on all multiples of the greatest step that pieces and lines have in common, equally often.
  const std::int64_t step = std::gcd(std::gcd(bytes, pitch), sector);
  return static_cast<double>(bytes + sector - step) / static_cast<double>(bytes);
}

double fetched_over_useful(const OperandLines& operand, const SharingCtas& ctas, double element_bytes) {
  const auto bytes = [&](std::int64_t elements) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(elements) * element_bytes));
  };
  const std::int64_t piece = bytes(operand.piece), pitch = bytes(operand.line);
  const double alone = straddle(piece, pitch, operand.sector);
  if (!operand.through_l1) return alone;
  const auto draws = static_cast<double>(ctas.resident), sector = static_cast<double>(operand.sector);
  // Along K the sector that two k tiles share is still there for the second.
  const double own = operand.along_k ? 1.0 : alone;
  const double each = operand.along_k ? 1.0 : own * static_cast<double>(piece) / sector;
  const double all = operand.along_k ? operand.live_tiles : operand.live_tiles * static_cast<double>(piece) / sector;
  return own * (1.0 - drawn(ctas) * (1.0 - distinct_share(all, each, draws)));
}

}  // namespace noteg::memory
