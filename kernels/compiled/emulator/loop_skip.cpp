#include "kernels/compiled/emulator/loop_skip.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/compiled/emulator/warp.hpp"

namespace noteg::compiled {
namespace {

constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t most_decisions = 1 << 16;

}  // namespace

LoopSkip::Moment LoopSkip::moment(const Arrival& arrival, const EmulatedCode& code, const Registers& registers) {
  Moment out;
  out.position = arrival.position;
  out.lanes = arrival.lanes;
  out.values.reserve(code.live.size() + code.live_uniform.size());
  for (const std::int16_t r : code.live) out.values.push_back(registers.r[static_cast<std::size_t>(r)]);
  for (const std::int16_t r : code.live_uniform) out.values.push_back(registers.u[static_cast<std::size_t>(r)]);
  for (std::size_t i = 0; i < 8; ++i) {
    out.predicates[i] = registers.p[i];
    out.predicates[8 + i] = registers.up[i];
  }
  return out;
}

bool LoopSkip::is_affine(const Moment& a, const Moment& b, const Moment& c) {
  if (a.lanes != b.lanes || b.lanes != c.lanes) return false;
  for (std::size_t i = 0; i < a.predicates.size(); ++i) {
    const Predicate &x = a.predicates[i], &y = b.predicates[i], &z = c.predicates[i];
    if (x.bits != y.bits || y.bits != z.bits || x.known != y.known || y.known != z.known) return false;
  }
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const Lanes &x = a.values[i], &y = b.values[i], &z = c.values[i];
    if (x.known != y.known || y.known != z.known) return false;
    std::uint32_t wrong = 0;
    for (std::size_t lane = 0; lane < 32; ++lane)
      wrong |= static_cast<std::uint32_t>(y.value[lane] - x.value[lane] != z.value[lane] - y.value[lane]) << lane;
    if ((wrong & x.known) != 0) return false;
  }
  return true;
}

// Periods that follow in which every decision falls as in the last one: [from, middle) and [middle, to) are two.
LoopSkip::Ahead LoopSkip::safe_periods(std::size_t from, std::size_t middle, std::size_t to) const {
  if (to - middle != middle - from) return {};
  std::int64_t safe = for_ever;
  bool bends = false;
  for (std::size_t i = 0; i < middle - from; ++i) {
    const Decisions::Entry &a = decisions_.entries[from + i], &b = decisions_.entries[middle + i];
    if (a.in != b.in || a.known != b.known) return {};
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((b.known >> lane & 1) == 0) continue;
      const std::int64_t d = b.difference[lane], step = d - a.difference[lane];
      if (step == 0) continue;
      if (b.is_bent) return {};
      if (b.bends) {
        bends = true;
        break;
      }
      if (d == 0) return {};
      constexpr std::int64_t far = std::int64_t{1} << 31;  // where 32-bit values come round
      if ((d > 0) == (step > 0))
        safe = std::min(safe, (far - std::min(far, std::abs(d))) / std::abs(step));
      else
        safe = std::min(safe, (std::abs(d) - 1) / std::abs(step));
    }
  }
  return {safe, bends};
}

void LoopSkip::advance(const EmulatedCode& code, Registers& registers, const Moment& before, const Moment& now,
                       std::int64_t times) {
  const auto move = [&](Lanes& out, std::size_t i) {
    for (std::size_t lane = 0; lane < 32; ++lane)
      out.value[lane] = now.values[i].value[lane] +
                        (now.values[i].value[lane] - before.values[i].value[lane]) * static_cast<std::uint32_t>(times);
  };
  std::size_t i = 0;
  for (const std::int16_t r : code.live) move(registers.r[static_cast<std::size_t>(r)], i++);
  for (const std::int16_t r : code.live_uniform) move(registers.u[static_cast<std::size_t>(r)], i++);
}

Decisions* LoopSkip::arrives(const Arrival& arrival, const EmulatedCode& code, Registers& registers,
                             WarpWatcher& watcher) {
  Loop& loop = loops_[arrival.header];
  // An outer loop's iteration ends those of the loops inside it: they are entered afresh.
  for (auto& [header, other] : loops_) {
    if (header <= arrival.header) continue;
    other.moments.clear();
    other.iterations = other.next_try = 0;
  }
  if (decisions_.entries.size() > most_decisions) {
    decisions_.entries.clear();
    for (auto& [header, other] : loops_) other.moments.clear();
  }
  const auto has_moments = [](const auto& each) { return !each.second.moments.empty(); };
  if (loop.hopeless) return std::ranges::any_of(loops_, has_moments) ? &decisions_ : nullptr;
  if (loop.iterations == 0) {  // what was made before the loop is as good as a constant in it
    registers.bent.reset();
    registers.bent_uniform.reset();
  }
  Moment now = moment(arrival, code, registers);
  now.decisions = decisions_.entries.size();
  loop.moments.push_back(std::move(now));
  ++loop.iterations;
  const std::size_t n = loop.moments.size();
  const bool tries = loop.iterations >= loop.next_try;
  if (tries && n > 2) loop.next_try = loop.iterations + 1 + loop.iterations / 8;
  for (const std::size_t period : periods) {
    if (!tries || n < 2 * period + 1) break;
    const Moment &c = loop.moments[n - 1], &b = loop.moments[n - 1 - period], &a = loop.moments[n - 1 - 2 * period];
    if (!watcher.repeats(arrival.warp, a.position, b.position, c.position) || !is_affine(a, b, c)) continue;
    const Ahead ahead = safe_periods(a.decisions, b.decisions, c.decisions);
    std::int64_t times = ahead.periods;
    if (times == for_ever) break;  // nothing counts this loop: it is run until something does
    // The last periods are run, so that what ends the loop is seen as it comes.
    times = std::min<std::int64_t>(times, std::int64_t{1} << 31) - 1;
    if (ahead.bends) times = std::min<std::int64_t>(times, 4 * loop.iterations / static_cast<std::int64_t>(period));
    if (times < 2) break;
    watcher.repeat(arrival.warp, b.position, c.position, times);
    loop.iterations += times * static_cast<std::int64_t>(period);
    advance(code, registers, b, c, times);
    loop.moments.clear();
    return &decisions_;
  }
  if (loop.moments.size() > most_moments) {
    loop.moments.erase(loop.moments.begin(),
                       loop.moments.begin() + static_cast<std::ptrdiff_t>(loop.moments.size() - most_moments));
    if (++loop.give_up > 64) {
      loop.hopeless = true;
      loop.moments.clear();
    }
  }
  return &decisions_;
}

}  // namespace noteg::compiled
