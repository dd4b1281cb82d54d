// Which of the warps of a sub-core that may be ready is tried first. A policy is an enumerator, a row with its name and
// a case: from candidates, a bit for each warp, the younger the larger, to the bit that is taken. A greedy policy lets
// the warp that issued last go on while it can before it is asked at all.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace noteg::sm {

enum class Scheduler : std::uint8_t {
  cggty,   // compiler-guided greedy, then the youngest, or of the oldest CTA who waited longest where the SM does so
  gto,     // greedy, then the oldest
  lrr,     // loose round robin
  oldest,  // the oldest, always
};

struct SchedulerRow {
  std::string_view name, sentence;
  bool is_greedy;
};

inline constexpr std::array<SchedulerRow, 4> scheduler_rows{{
    {"cggty", "a warp goes on issuing while it can, then the youngest ready one", true},
    {"gto", "greedy, then the oldest", true},
    {"lrr", "ready warps take turns", false},
    {"oldest", "the oldest ready one", false},
}};

[[nodiscard]] inline std::vector<std::string_view> scheduler_names() {
  std::vector<std::string_view> out;
  for (const SchedulerRow& row : scheduler_rows) out.push_back(row.name);
  return out;
}

[[nodiscard]] constexpr bool is_greedy(Scheduler policy) {
  return scheduler_rows[static_cast<std::size_t>(policy)].is_greedy;
}

// What a policy may look at.
struct SchedulerView {
  std::int32_t last = -1;                              // bit of the warp that issued last
  const std::array<std::uint64_t, 32>* issued_last{};  // cycle of each warp's last issue
  bool longest_waiting_first = false;                  // as the SM's specification says
};

namespace policy {

inline int youngest(std::uint32_t candidates) { return 31 - std::countl_zero(candidates); }
inline int oldest(std::uint32_t candidates) { return std::countr_zero(candidates); }

inline int after_last(const SchedulerView& view, std::uint32_t candidates) {
  const std::uint32_t later = view.last >= 31 ? 0 : candidates & ~0u << (view.last + 1);
  return oldest(later != 0 ? later : candidates);
}

// The warp whose last issue lies furthest back, the youngest of several.
inline int longest_waiting(const SchedulerView& view, std::uint32_t candidates) {
  int best = -1;
  std::uint64_t since = ~std::uint64_t{0};
  for (; candidates != 0; candidates &= candidates - 1) {
    const int bit = std::countr_zero(candidates);
    const std::uint64_t last = (*view.issued_last)[static_cast<std::size_t>(bit)];
    if (best >= 0 && last > since) continue;
    best = bit;
    since = last;
  }
  return best;
}

}  // namespace policy

// One candidate at least.
[[nodiscard]] inline int first_choice(Scheduler scheduler, const SchedulerView& view, std::uint32_t candidates) {
  switch (scheduler) {
    case Scheduler::cggty:
      return view.longest_waiting_first ? policy::longest_waiting(view, candidates) : policy::youngest(candidates);
    case Scheduler::gto:
    case Scheduler::oldest: return policy::oldest(candidates);
    case Scheduler::lrr: return policy::after_last(view, candidates);
  }
  return policy::oldest(candidates);
}

}  // namespace noteg::sm
