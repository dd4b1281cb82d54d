#include "kernels/ir/ir.hpp"

#include <algorithm>

namespace noteg::kernels {

std::int64_t main_trips(const Program& program, std::int64_t k) {
  if (program.k_per_trip <= 0 || k <= 0) return 0;
  const std::int64_t tiles = (k + program.k_per_trip - 1) / program.k_per_trip;
  return std::max<std::int64_t>(0, tiles - program.peeled_tiles);
}

std::int64_t executed_instructions(const Program& program, std::int64_t k) {
  std::int64_t total = 0;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(program.code.size()); ++at) {
    std::int64_t times = 1;
    for (const Loop& loop : program.loops) {
      if (at >= loop.begin && at <= loop.branch) times *= loop.is_main ? main_trips(program, k) : loop.trips;
    }
    total += times;
  }
  return total;
}

}  // namespace noteg::kernels
