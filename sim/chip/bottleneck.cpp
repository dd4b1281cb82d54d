#include "sim/chip/bottleneck.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace noteg::chip {

namespace {

// Resources that overlap, as shares of the busy time of an SM. Dispatch and lanes are stations of one instruction:
// the slower one counts. The others run beside them, and two that are both nearly busy hinder each other.
struct Shares {
  double ports = 0, issue = 0, fma = 0, lsu = 0, l2 = 0, dram = 0;

  [[nodiscard]] double together() const {
    constexpr double sharpness = 8;
    double sum = 0;
    for (const double share : {std::max(ports + issue, fma), lsu, l2, dram}) sum += std::pow(share, sharpness);
    return std::pow(sum, 1.0 / sharpness);
  }
};

struct Gains {  // shares of the busy time
  double ports = 0, issue = 0, fma = 0, lsu = 0, l2 = 0, dram = 0, slack = 0;
};

// Slots that are freed are only partly filled: what FFMAs wait for each other stays. About half, by experiments with
// doubled slots and lanes (chip::explain).
constexpr double slots_filled_again = 0.5;

Gains gains_of(const Shares& all) {
  const double now = all.together();
  if (now <= 0) return {};
  const auto without = [&](double Shares::*member) {
    Shares rest = all;
    rest.*member = 0;
    return (now - rest.together()) / now;
  };
  Gains gains;
  gains.lsu = without(&Shares::lsu);
  gains.l2 = without(&Shares::l2);
  gains.dram = without(&Shares::dram);
  gains.slack = std::max(0.0, 1 - now);
  // Ports, then slots, then lanes, as in explain().
  Shares path = all;
  path.ports = 0;
  const double no_ports = path.together();
  path.issue /= 2;
  const double more_slots = path.together();
  path.fma /= 2;
  const double slots = (no_ports - more_slots) / now;
  gains.ports = (now - no_ports) / now;
  gains.issue = slots_filled_again * slots;
  gains.fma = (more_slots - path.together()) / now + (1 - slots_filled_again) * slots;
  return gains;
}

double share_of(const SimReport& r, core::Stall s) { return r.stalls[static_cast<std::size_t>(s)]; }

// What warps waited for while nothing was busy enough to explain it.
void add_latencies(std::vector<EstimatedGain>& out, const SimReport& r, double slack_us) {
  struct Wait {
    std::string_view limit;
    double share;
    core::Stall named;
  };
  using core::Stall;
  const std::array<Wait, 4> waits{
      {{"fixed_latency", share_of(r, Stall::wait), Stall::wait},
       {"shared_latency", share_of(r, Stall::short_scoreboard), Stall::short_scoreboard},
       {"memory_latency", share_of(r, Stall::long_scoreboard) + share_of(r, Stall::async_copy), Stall::long_scoreboard},
       {"barriers", share_of(r, Stall::barrier), Stall::barrier}}};
  double sum = 0;
  for (const Wait& wait : waits) sum += wait.share;
  for (const Wait& wait : waits) {
    out.push_back({std::string(wait.limit),
                   fmt::format("nothing is saturated; warps spend {:.0f} % of their time {}", 100 * wait.share,
                               core::description_of(wait.named)),
                   sum > 0 ? slack_us * wait.share / sum : 0});
  }
}

}  // namespace

std::vector<EstimatedGain> estimated_gains(const SimReport& r, const Limits& limits) {
  const double time = std::max(r.time_us, 1e-12);
  const double launch = r.phases_us.launch, tail = r.phases_us.tail;
  const double busy = std::max(time - launch - tail, 1e-12);
  const double kernel = std::max(time - launch, 1e-12);
  const auto percent = [time](double us) { return 100 * us / time; };
  // Pipes are idle on SMs that the tail leaves idle; L2 and DRAM serve the whole kernel.
  Shares shares{limits.ports / busy, limits.issue / busy, std::max(limits.fma, limits.tensor) / busy,
                limits.lsu / busy,   limits.l2 / kernel,  limits.dram / kernel};
  const Gains gains = gains_of(shares);
  const bool on_tensor = limits.tensor > limits.fma;
  std::vector<EstimatedGain> out{
      {"dram_bandwidth",
       fmt::format("moving {:.1f} MB to and from DRAM takes {:.0f} % of the run",
                   (r.memory.dram_read_bytes + r.memory.dram_write_bytes) * 1e-6, percent(limits.dram)),
       gains.dram * kernel},
      {"l2_bandwidth",
       fmt::format("moving {:.1f} MB through L2 takes {:.0f} % of the run", r.memory.l2_bytes * 1e-6,
                   percent(limits.l2)),
       gains.l2 * kernel},
      {on_tensor ? "tensor_pipe" : "fma_pipe",
       fmt::format("the {} busy {:.0f} % of the run", on_tensor ? "tensor cores are" : "FP32 pipe is",
                   percent(on_tensor ? limits.tensor : limits.fma)),
       gains.fma * kernel},
      {"issue_slots", fmt::format("schedulers issue in {:.0f} % of all cycles", percent(limits.issue)),
       gains.issue * kernel},
      {"register_ports",
       fmt::format("operands that wait for a register bank hold dispatch for {:.0f} % of the run",
                   percent(limits.ports)),
       gains.ports * kernel},
      {"shared_memory", fmt::format("the load/store path is busy {:.0f} % of the run", percent(limits.lsu)),
       gains.lsu * kernel},
      {"kernel_launch", fmt::format("launching the kernel is {:.0f} % of the run", percent(launch)), launch},
      {"ragged_tail",
       fmt::format("the grid of {} CTAs leaves SMs idle for {:.0f} % of the run", r.grid_ctas, percent(tail)), tail},
  };
  add_latencies(out, r, gains.slack * kernel);
  std::ranges::stable_sort(out, std::greater{}, &EstimatedGain::gain_us);
  return out;
}

Bottleneck find_bottleneck(const SimReport& r, const Limits& limits) {
  const EstimatedGain top = estimated_gains(r, limits).front();
  const double time = std::max(r.time_us, 1e-12);
  Bottleneck out{top.limit, top.because, time / std::max(time - top.gain_us, 1e-12)};
  if (top.gain_us < least_named_gain * time) {
    out.name = "no_single_limit";
    out.because = fmt::format("several limits bind together; the dearest, {}, costs {:.1f} %", top.limit,
                              100 * top.gain_us / time);
  }
  return out;
}

}  // namespace noteg::chip
