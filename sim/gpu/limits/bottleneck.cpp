#include "sim/gpu/limits/bottleneck.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/gpu/simulate.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::gpu {

namespace {

// Resources that overlap, as shares of the busy time of an SM. Dispatch and lanes are stations of one instruction:
// the slower one counts. The others run beside them, and two that are both nearly busy hinder each other.
struct Shares {
  double ports = 0, issue = 0, fma = 0, lsu = 0, l2 = 0, dram = 0;

  [[nodiscard]] double together() const {
    constexpr double sharpness = 8;
    double sum = 0;
    for (const double share : {std::max(ports + issue, fma), lsu, l2, dram}) sum += portable::pow(share, sharpness);
    return portable::pow(sum, 1.0 / sharpness);
  }
};

struct Gains {  // shares of the busy time
  double ports = 0, issue = 0, fma = 0, lsu = 0, l2 = 0, dram = 0, slack = 0;
};

// Slots that are freed are only partly filled: what FFMAs wait for each other stays. About half, by experiments with
// doubled slots and lanes (gpu::explain).
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

double share_of(const SimReport& r, sm::Stall s) { return r.stalls[static_cast<std::size_t>(s)]; }

// What warps waited for while nothing was busy enough to explain it.
void add_latencies(std::vector<EstimatedGain>& out, const SimReport& r, double slack_us) {
  using sm::Stall;
  const std::array<std::pair<std::string_view, double>, 5> waits{
      {{"instruction_cache", share_of(r, Stall::no_instruction)},
       {"fixed_latency", share_of(r, Stall::wait)},
       {"shared_latency", share_of(r, Stall::short_scoreboard)},
       {"memory_latency", share_of(r, Stall::long_scoreboard) + share_of(r, Stall::async_copy)},
       {"barriers", share_of(r, Stall::barrier)}}};
  double sum = 0;
  for (const auto& [limit, share] : waits) sum += share;
  for (const auto& [limit, share] : waits) out.push_back({std::string(limit), sum > 0 ? slack_us * share / sum : 0});
}

// Share of the run in which an SM that has CTAs is at work.
double working_share(const SimReport& r) {
  return std::max(1e-6, 1 - (r.phases_us.launch + r.phases_us.tail) / std::max(r.time_us, 1e-12));
}

double opcodes(const SimReport& r, std::string_view prefix) {
  double count = 0;
  for (const auto& [opcode, each] : r.instructions_by_opcode)
    if (opcode.starts_with(prefix)) count += each;
  return count;
}

// Slots of the SMs that a grid leaves empty in its last round, if CTAs could be divided.
double tail_bound(const SimReport& r) {
  const sm::SmWork& work = r.sm_run->work();
  const std::int64_t resident = std::max(1, r.occupancy.ctas_per_sm);
  const std::int64_t full = work.ctas <= resident ? work.ctas : ceil_div(work.ctas, resident) * resident;
  const double slots = static_cast<double>(full * work.tiles) * r.sm_run->kernel_sms;
  return 1 - static_cast<double>(r.grid_ctas) * r.occupancy.tiles_per_cta / slots;
}

double launch_bound(const SimReport& r) {
  const sm::SmWork& work = r.sm_run->work();
  const double rounds = static_cast<double>(work.ctas) / std::max(1, work.resident);
  const double cycles = work.end_interval * work.resident + (work.cta_launch_latency + 1) * rounds;
  return r.phases_us.launch / r.time_us + cycles / std::max(1.0, r.cycles);
}

// What shared memory gives and takes, the operands of the tensor cores among it.
double data_bound(const SimReport& r) {
  const sm::CoreCounters& c = r.sm_run->events().counters;
  return c.shared_wavefronts / (std::max(1.0, r.cycles) * r.sm_run->kernel_sms);
}

// Without the roof.
double own_bound(std::string_view limit, const SimReport& r) {
  using sm::Stall;
  const double warps = r.occupancy.warps_per_sm, working = working_share(r);
  const auto waits = [&](Stall stall) { return warps * share_of(r, stall); };
  const double memory_waits = waits(Stall::long_scoreboard) + waits(Stall::async_copy);
  const double path = 2 * r.pipes.lsu / working;  // the SM's stage, and the one of each sub-core before it
  const double dram = r.roofline.dram_us / r.time_us;
  if (limit == "tensor_pipe") return r.pipes.tensor / working / 2;
  if (limit == "fma_pipe") return r.pipes.fma / working / 2;
  if (limit == "issue_slots") return r.pipes.issue / working / 2;
  if (limit == "register_ports")
    return r.rf.bank_conflict_cycles / (std::max(1.0, r.cycles) * r.sm_run->kernel_sms * r.sm_run->sub_cores) / working;
  if (limit == "instruction_cache") return waits(Stall::no_instruction);
  if (limit == "fixed_latency") return waits(Stall::wait);
  if (limit == "barriers") return opcodes(r, "BAR") > 0 ? waits(Stall::barrier) + path : 0;
  if (limit == "shared_memory") return path + data_bound(r) / working;
  if (limit == "bank_conflicts") return r.memory.shared_conflict_wavefronts > 0 ? path + data_bound(r) / working : 0;
  if (limit == "l1_bandwidth") return r.memory.l1_bytes > 0 ? path + memory_waits : 0;
  if (limit == "shared_latency") return opcodes(r, "LDS") > 0 ? waits(Stall::short_scoreboard) : 0;
  if (limit == "memory_latency") return memory_waits;
  if (limit == "l2_bandwidth") return r.roofline.l2_us / r.time_us / working + dram + memory_waits;
  if (limit == "dram_bandwidth") return dram;
  if (limit == "kernel_launch") return launch_bound(r);
  if (limit == "ragged_tail") return tail_bound(r);
  return 1;
}

// Cycles for which the data stage of the busiest SM's load/store path is at work whether there is the limit or not.
double path_cycles(std::string_view limit, const sm::CoreCounters& c) {
  constexpr double wavefront_bytes = 128;
  if (limit == "shared_memory" || limit == "bank_conflicts") return 0;
  if (limit == "l1_bandwidth") return c.shared_bytes / wavefront_bytes;
  if (limit == "barriers") return c.lsu_cycles - c.issued[static_cast<std::size_t>(kernels::Opcode::bar_sync)];
  return c.lsu_cycles;
}

// Share of the run for which a part of the busiest SM is at work that is as busy without the limit.
double busy_share(std::string_view limit, const SimReport& r) {
  if (limit == "ragged_tail") return 0;
  const TimedKernel& timed = r.sm_run->timed;
  const sm::SmResult run = timed.runs.mixed();
  const sm::CoreCounters& c = run.counters;
  const double working = timed.time.sm_cycles_at(timed.point.clock) / (r.sm_clock_mhz * r.time_us);
  double busy = 0;  // cycles
  if (limit != "tensor_pipe") busy = std::max(busy, c.tensor_cycles / r.sm_run->sub_cores);
  if (limit != "fma_pipe") busy = std::max(busy, c.fma_cycles / r.sm_run->sub_cores);
  if (limit != "fma_pipe" && limit != "issue_slots") busy = std::max(busy, c.issue_cycles / r.sm_run->sub_cores);
  busy = std::max(busy, path_cycles(limit, c));
  return busy / std::max(1.0, run.cycles) * working;
}

}  // namespace

std::vector<EstimatedGain> estimated_gains(const SimReport& r, const Limits& limits, Hertz highest_clock) {
  const double time = std::max(r.time_us, 1e-12);
  const double launch = r.phases_us.launch, tail = r.phases_us.tail;
  const double busy = std::max(time - launch - tail, 1e-12);
  const double kernel = std::max(time - launch, 1e-12);
  // Pipes are idle on SMs that the tail leaves idle; L2 and DRAM serve the whole kernel.
  const Shares shares{limits.ports / busy, limits.issue / busy, std::max(limits.fma, limits.tensor) / busy,
                      limits.lsu / busy,   limits.l2 / kernel,  limits.dram / kernel};
  const Gains gains = gains_of(shares);
  std::vector<EstimatedGain> out{{"dram_bandwidth", gains.dram * kernel},
                                 {"l2_bandwidth", gains.l2 * kernel},
                                 {limits.tensor > limits.fma ? "tensor_pipe" : "fma_pipe", gains.fma * kernel},
                                 {"issue_slots", gains.issue * kernel},
                                 {"register_ports", gains.ports * kernel},
                                 {"shared_memory", gains.lsu * kernel},
                                 {"kernel_launch", launch},
                                 {"ragged_tail", tail}};
  add_latencies(out, r, gains.slack * kernel);
  const double clock = r.sm_clock_mhz * 1e6 / highest_clock.value;
  out.push_back({"power", r.throttled ? (1 - clock) * std::max(0.0, kernel - limits.dram) : 0});
  std::ranges::stable_sort(out, std::greater{}, &EstimatedGain::gain_us);
  return out;
}

Bottleneck roof_of(const SimReport& r, Hertz highest_clock) {
  Bottleneck out;
  const Roofline& roofs = r.roofline;
  switch (roofs.bound) {
    case Bound::compute: out.roof = roofs.tensor ? "tensor" : "fp32"; break;
    case Bound::l2: out.roof = "l2"; break;
    case Bound::dram: out.roof = "dram"; break;
  }
  const double roof_us = std::max({roofs.compute_us, roofs.l2_us, roofs.dram_us});
  out.share_of_roof_pct = std::clamp(100 * roof_us / std::max(r.time_us, 1e-12), 0.0, 100.0);
  out.clock_held_by = r.throttled ? r.throttle_reason : "none";
  out.highest_clock_mhz = r.throttled ? highest_clock.value * 1e-6 : r.sm_clock_mhz;
  return out;
}

std::string_view limit_of_roof(const Bottleneck& bottleneck) {
  if (bottleneck.roof == "tensor") return "tensor_pipe";
  if (bottleneck.roof == "fp32") return "fma_pipe";
  return bottleneck.roof == "l2" ? "l2_bandwidth" : "dram_bandwidth";
}

std::string sentence_of(const Bottleneck& b, const SimReport& r, double below_share) {
  constexpr double worth_a_word = 0.005;
  std::string text = fmt::format("{:.0f} % of the {} roof", b.share_of_roof_pct, b.roof);
  if (!b.below_roof_by.empty() && below_share >= worth_a_word)
    text += fmt::format(", kept below it most by {} ({:.1f} %)", b.below_roof_by, 100 * below_share);
  if (r.throttled) {
    text += fmt::format("; the {} is held to {:.0f} of {:.0f} MHz by {}", b.roof == "dram" ? "clock" : "roof itself",
                        r.sm_clock_mhz, b.highest_clock_mhz, b.clock_held_by);
  }
  return text;
}

namespace {

// What is left of a gain where power sets the clock: the same work in less time draws more, and the clock falls.
double gain_under_power(const SimReport& r, const power::ClockRequest& request, double gain_us) {
  const double left = 1 - std::min(1.0, gain_us / r.time_us);
  const auto faster = [&](Hertz clock) {
    power::Activity activity = r.activity_at(clock);
    activity.time = activity.time * left;
    activity.sm_cycles *= left;
    return activity;
  };
  return r.time_us - faster(power::solve_clock(request, faster).clock).time.value * 1e6;
}

// The dearest limit, with what power leaves of the gains of the others.
EstimatedGain dearest(const SimReport& r, const power::ClockRequest& request, const std::vector<EstimatedGain>& gains) {
  if (!r.throttled) return gains.front();
  EstimatedGain best = *std::ranges::find(gains, "power", &EstimatedGain::limit);
  for (const EstimatedGain& each : gains) {
    if (each.gain_us <= best.gain_us) break;  // the largest come first, and power adds to none
    const double gain_us = gain_under_power(r, request, each.gain_us);
    if (gain_us > best.gain_us) best = {each.limit, gain_us};
  }
  return best;
}

}  // namespace

Bottleneck estimated_bottleneck(const SimReport& r, const Limits& limits, const power::ClockRequest& request,
                                Hertz highest_clock) {
  Bottleneck out = roof_of(r, highest_clock);
  const std::vector<EstimatedGain> gains = estimated_gains(r, limits, highest_clock);
  const double time = std::max(r.time_us, 1e-12);
  const auto below = std::ranges::find_if(
      gains, [&](const EstimatedGain& gain) { return gain.limit != limit_of_roof(out) && gain.limit != "power"; });
  out.below_roof_by = below->limit;
  const EstimatedGain most = dearest(r, request, gains);
  out.name = most.limit;
  out.because = sentence_of(out, r, below->gain_us / time);
  out.speedup_if_removed = time / std::max(time - most.gain_us, 1e-12);
  return out;
}

double limit_bound(std::string_view limit, const SimReport& r) {
  const Bottleneck roof = roof_of(r, Hertz{1});
  const std::string_view roof_limit = limit_of_roof(roof);
  // With an infinite L2 nothing is asked of DRAM.
  const bool lifts_roof = limit == roof_limit || (limit == "l2_bandwidth" && roof_limit == "dram_bandwidth");
  const double below_roof = lifts_roof ? 1 : 1 - roof.share_of_roof_pct / 100;
  return std::clamp(own_bound(limit, r), 0.0, std::max(0.0, std::min(below_roof, 1 - busy_share(limit, r))));
}

}  // namespace noteg::gpu
