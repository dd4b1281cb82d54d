// The shared grade of kernels with long trips: CTAs of an SM begin a trip one after the other, as they come to stand in
// long main loops, so that six trips say what a further one costs; and since work flows through the SM then, a round
// that is not full costs its share of one.
#include <algorithm>
#include <cmath>

#include "sim/gpu/sm_timer.hpp"

namespace noteg::gpu {

namespace {

constexpr std::int64_t few = 2, more = 6;  // trips; fewer than a dozen are not exact, but cost a fifth of the flow

}  // namespace

SmTime SmTimer::spread(const sm::MemoryEnvironment& environment, const sm::SmWork& work) {
  sm::SmWork brief = work;
  brief.ctas = std::min<std::int64_t>(work.resident, work.ctas);
  const auto side_by_side = static_cast<double>(brief.ctas);
  const double rounds = static_cast<double>(work.ctas) / side_by_side;
  brief.trips = few;
  const SmTime first = run(environment, brief);
  SmTime out;
  add(out, first, rounds);
  brief.launch_interval = std::round(first.cycles / static_cast<double>(few) / side_by_side);
  const double further = rounds * static_cast<double>(work.trips - few) / static_cast<double>(more - few);
  add(out, run(environment, brief), -further);
  brief.trips = more;
  add(out, run(environment, brief), further);
  return out;
}

}  // namespace noteg::gpu
