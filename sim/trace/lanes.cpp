#include "sim/trace/lanes.hpp"

#include <algorithm>

namespace noteg::trace {

std::size_t deal_lanes(std::vector<Slice>& slices) {
  std::ranges::stable_sort(slices, {}, &Slice::from);
  std::vector<std::uint64_t> free_at;
  for (Slice& slice : slices) {
    const auto free = std::ranges::find_if(free_at, [&](std::uint64_t at) { return at <= slice.from; });
    slice.lane = static_cast<std::size_t>(free - free_at.begin());
    if (free == free_at.end()) free_at.push_back(0);
    free_at[slice.lane] = slice.until;
  }
  return free_at.size();
}

}  // namespace noteg::trace
