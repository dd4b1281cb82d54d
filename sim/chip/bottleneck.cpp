#include "sim/chip/bottleneck.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace noteg::chip {

namespace {

struct Candidate {
  std::string_view name;
  double time_us;
  std::string because;
};

double stall(const SimReport& r, core::Stall s) { return 100.0 * r.stalls[static_cast<std::size_t>(s)]; }

}  // namespace

Bottleneck find_bottleneck(const SimReport& r, const Limits& limits) {
  const double time = std::max(r.time_us, 1e-12);
  const std::array<Candidate, 5> candidates{{
      {"dram_bandwidth", limits.dram,
       fmt::format("moving {:.1f} MB to and from DRAM takes {:.0f} % of the run",
                   (r.memory.dram_read_bytes + r.memory.dram_write_bytes) * 1e-6, 100 * limits.dram / time)},
      {"l2_bandwidth", limits.l2,
       fmt::format("moving {:.1f} MB through L2 takes {:.0f} % of the run", r.memory.l2_bytes * 1e-6,
                   100 * limits.l2 / time)},
      {"fma_pipe", limits.fma, fmt::format("the FP32 pipe is busy {:.0f} % of the run", 100 * limits.fma / time)},
      {"shared_memory", limits.lsu,
       fmt::format("the load/store path is busy {:.0f} % of the run", 100 * limits.lsu / time)},
      {"issue_slots", limits.issue,
       fmt::format("schedulers issue in {:.0f} % of all cycles", 100 * limits.issue / time)},
  }};
  // Time that no resource explains is launch, ramp, tail or latency.
  const double launch = r.phases_us.launch, tail = r.phases_us.tail;
  const auto top = std::max_element(candidates.begin(), candidates.end(),
                                    [](const Candidate& a, const Candidate& b) { return a.time_us < b.time_us; });
  const double second = [&] {
    double best = 0;
    for (const Candidate& c : candidates)
      if (c.name != top->name) best = std::max(best, c.time_us);
    return best;
  }();
  Bottleneck out;
  if (launch + tail > 0.5 * time) {
    const bool is_launch = launch > tail;
    out.name = is_launch ? "kernel_launch" : "ragged_tail";
    out.because = is_launch ? fmt::format("launching the kernel is {:.0f} % of the run", 100 * launch / time)
                            : fmt::format("the grid of {} CTAs leaves SMs idle for {:.0f} % of the run", r.grid_ctas,
                                          100 * tail / time);
    out.speedup_if_removed = time / std::max(time - (is_launch ? launch : tail), 1e-12);
    return out;
  }
  if (top->time_us < 0.6 * time) {
    // Nothing is near saturation: warps wait for something.
    std::size_t worst = static_cast<std::size_t>(core::Stall::wait);
    for (const core::Stall s : {core::Stall::wait, core::Stall::short_scoreboard, core::Stall::long_scoreboard,
                                core::Stall::barrier, core::Stall::async_copy, core::Stall::dispatch}) {
      if (r.stalls[static_cast<std::size_t>(s)] > r.stalls[worst]) worst = static_cast<std::size_t>(s);
    }
    const auto s = static_cast<core::Stall>(worst);
    out.name = fmt::format("latency_{}", core::name_of(s));
    out.because = fmt::format("no unit is saturated; warps spend {:.0f} % of their time {}", stall(r, s),
                              core::description_of(s));
    out.speedup_if_removed = time / std::max({top->time_us, time * (1.0 - r.stalls[worst]), 1e-12});
    return out;
  }
  out.name = top->name;
  out.because = top->because;
  // Without this limit the run still needs what the next resource needs, plus launch and tail.
  out.speedup_if_removed = std::max(1.0, time / std::max(time - (top->time_us - second), 1e-12));
  return out;
}

}  // namespace noteg::chip
