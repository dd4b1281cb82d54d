#include "sim/gpu/limits/explain.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/gpu/kernel_report.hpp"
#include "sim/gpu/limits/bottleneck.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::gpu {

namespace {

using Changes = std::vector<std::pair<std::string_view, std::string_view>>;

// Limits that are taken away one after the other, since what frees the later ones frees the earlier too.
enum class Chain : std::uint8_t { none, issue, memory };

struct Limit {
  std::string_view name;
  std::string_view switch_name, value;
  Chain chain = Chain::none;
  int in_turn = 0;            // in its chain, from 1; 0: on its own
  bool is_beside_sm = false;  // an SM without it runs as one with it
};

constexpr std::array<Limit, 17> limits{{
    {"tensor_pipe", "core.tensor", "double"},
    {"fma_pipe", "core.fma", "double", Chain::issue, 3},
    {"issue_slots", "core.issue", "double", Chain::issue, 2},
    {"register_ports", "core.rf", "ideal", Chain::issue, 1},
    {"instruction_cache", "core.icache", "perfect"},
    {"fixed_latency", "core.pipe_latency", "none"},
    {"barriers", "core.barriers", "free"},
    {"shared_memory", "memory.path", "shared-infinite"},
    {"bank_conflicts", "memory.bank_conflicts", "off"},
    {"shared_latency", "memory.shared_latency", "none"},
    {"l1_bandwidth", "memory.path", "l1-infinite"},
    {"memory_latency", "memory.latency", "l1"},
    {"l2_bandwidth", "l2", "infinite", Chain::memory, 2},
    {"dram_bandwidth", "dram", "infinite", Chain::memory, 1, true},
    {"power", "power", "infinite", Chain::none, 0, true},
    {"kernel_launch", "launch", "free"},
    {"ragged_tail", "tail", "free"},
}};

// What one experiment found: run time and clock.
struct Found {
  double time_us = 0, clock_mhz = 0;
};

// A limit with what it cost, the run that its absence makes at best, and what it is thought to cost, in the run's
// microseconds.
struct Candidate {
  const Limit* limit = nullptr;
  Found at_best;
  double most_us = 0, estimated_us = 0;
  std::optional<LimitCost> cost;
};

// Machines without a limit. Each runs the kernel's pilot iterations, as the machine with all its limits does, at the
// clock and the mean wait of the run; the ratio of both is what the limit makes of the run's own cycles.
class Laboratory {
 public:
  Laboratory(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options, SmCache& cache,
             const SimReport& run)
      : gpu_(gpu), launch_(launch), options_(options), cache_(cache), run_(run) {}

  [[nodiscard]] LimitCost cost_of(const Candidate& one) const {
    const Limit& limit = *one.limit;
    Found without = found(changes_of(limit, limit.in_turn));
    const Found before =
        limit.in_turn > 1 ? found(changes_of(limit, limit.in_turn - 1)) : Found{run_.time_us, run_.sm_clock_mhz};
    double gain = std::max(0.0, std::min(before.time_us, run_.time_us) - without.time_us);
    if (gain > one.most_us) {
      gain = one.most_us;
      without.clock_mhz = one.at_best.clock_mhz;
    }
    LimitCost cost{std::string(limit.name), fmt::format("{}={}", limit.switch_name, limit.value),
                   run_.time_us - gain,     gain,
                   without.clock_mhz,       0};
    cost.pct_of_peak = run_.pct_of_peak * run_.sm_clock_mhz * run_.time_us / (without.clock_mhz * cost.time_us);
    return cost;
  }

  // The fastest run that the absence of a limit may make.
  [[nodiscard]] Found at_best(const Limit& limit, Hertz highest_clock) const {
    const Found run{run_.time_us, run_.sm_clock_mhz};
    const double highest_mhz = highest_clock.value * 1e-6;
    if (limit.name == "power")
      return run_.throttled ? Found{run.time_us * run.clock_mhz / highest_mhz, highest_mhz} : run;
    const double bound = limit_bound(limit.name, run_);
    const double least_us = run.time_us * (1 - bound);
    if (bound <= 0 || !run_.throttled) return {least_us, run.clock_mhz};
    const Found least = settled(options_, [&](Hertz clock) { return timed().time.at(clock) * (1 - bound); });
    return {std::clamp(least.time_us, least_us, run.time_us), least.clock_mhz};
  }

 private:
  [[nodiscard]] const TimedKernel& timed() const { return run_.sm_run->timed; }
  [[nodiscard]] Hertz clock() const { return timed().point.clock; }

  static Changes changes_of(const Limit& limit, int turn) {
    if (limit.in_turn == 0) {
      Changes changes{{limit.switch_name, limit.value}};
      // Conflicts hold the path and make answers late: without the path they are gone altogether.
      if (limit.name == "shared_memory") changes.emplace_back("memory.bank_conflicts", "off");
      return changes;
    }
    Changes changes;
    for (const Limit& each : limits)
      if (each.chain == limit.chain && each.in_turn <= turn) changes.emplace_back(each.switch_name, each.value);
    return changes;
  }

  // Of the busiest SM, whose steps all wait as long as they do in the mean.
  [[nodiscard]] double pilot_cycles(const PortRequest& ports, const SimOptions& options, const sm::SmWork& work) const {
    sm::MemoryPort port = port_to_l2(ports, clock());
    const double dram = port_to_dram(ports, clock(), timed().time.dram_latency_at(clock())).latency;
    port.latency += ports.traffic.waiting_steps * (dram - port.latency);
    return sm_timer(launch_.program, launch_.addresses, gpu_.sm, options.switches, cache_)->estimate(port, work).cycles;
  }

  // At the clock that the limits allow for the events of the run in the time of the experiment.
  [[nodiscard]] Found found(const Changes& changes) const {
    SimOptions without = options_;
    for (const auto& [name, value] : changes) without.switches = *with_switch(without.switches, name, value);
    PortRequest ports = port_request(gpu_, launch_, without);
    PortRequest ports_with = port_request(gpu_, launch_, options_);
    ports.l2_wait = ports_with.l2_wait = timed().ports.l2_wait;
    if (!ports.l2_limits) ports.l2_wait = 0;
    ports_with.traffic = ports.traffic;
    sm::SmWork work = busiest_sm_work(gpu_, launch_, without.switches);
    sm::SmWork work_with = busiest_sm_work(gpu_, launch_, options_.switches);
    const double even = options_.switches.tail && !without.switches.tail ? even_share(launch_.geometry, work.ctas) : 1;
    // Where the work stays the same, one wave tells as well as all do what a limit costs, and so do a pilot's tiles.
    if (work == work_with) {
      work.ctas = work_with.ctas = work.resident;
      work.tiles = work_with.tiles = std::min(work.tiles, SmTimer::pilot_tiles);
    }
    const double factor =
        even * pilot_cycles(ports, without, work) / std::max(1.0, pilot_cycles(ports_with, options_, work_with));
    const KernelTime time = timed().time.elsewhere(ports, without.switches, factor);
    return settled(without, [&](Hertz clock) { return time.at(clock); });
  }

  template <class TimeAt>
  [[nodiscard]] Found settled(const SimOptions& options, const TimeAt& time_at) const {
    const power::OperatingPoint point = operating_point(gpu_, options, [&](Hertz clock) {
      power::Activity activity = run_.activity_at(clock);
      activity.time = time_at(clock);
      return activity;
    });
    return {time_at(point.clock).value * 1e6, point.clock.value * 1e-6};
  }

  const arch::GpuSpec& gpu_;
  const KernelLaunch& launch_;
  SimOptions options_;
  SmCache& cache_;
  const SimReport& run_;
};

// Of the run time: what gains less is not named as what keeps a run below its roof.
constexpr double worth_naming = 0.02;

bool keeps_below_roof(const Limit& limit, const Bottleneck& roof) {
  return limit.name != "power" && limit.name != limit_of_roof(roof);
}

// The dearest of those that were tried, the first of several; null: none costs anything.
const LimitCost* dearest(const std::vector<Candidate>& candidates, const Bottleneck& roof, bool below_roof) {
  const LimitCost* best = nullptr;
  for (const Candidate& one : candidates) {
    if (!one.cost || one.cost->gain_us <= 0 || (below_roof && !keeps_below_roof(*one.limit, roof))) continue;
    if (best == nullptr || one.cost->gain_us > best->gain_us) best = &*one.cost;
  }
  return best;
}

// Limits that leave the SM as it is cost no run to try: they come first, then what is thought to be dearest.
std::vector<Candidate> in_order(const Laboratory& laboratory, const arch::GpuSpec& gpu, const SimReport& run,
                                Hertz highest) {
  const std::vector<EstimatedGain> estimates = estimated_gains(run, limits_of(run, gpu), highest);
  std::vector<Candidate> out;
  for (const Limit& limit : limits) {
    const auto found = std::ranges::find(estimates, limit.name, &EstimatedGain::limit);
    const double estimated = found == estimates.end() ? 0 : found->gain_us;
    const Found best = laboratory.at_best(limit, highest);
    out.push_back(
        {&limit, best, run.time_us - best.time_us, limit.is_beside_sm ? run.time_us : estimated, std::nullopt});
  }
  std::ranges::stable_sort(out, [](const Candidate& a, const Candidate& b) {
    return std::pair(a.estimated_us, a.most_us) > std::pair(b.estimated_us, b.most_us);
  });
  return out;
}

// None is tried that may not gain more than another was found to gain, nor, below the roof, what is worth naming
// (least_us).
void try_limits(const Laboratory& laboratory, std::vector<Candidate>& candidates, const Bottleneck& roof,
                Experiments experiments, unsigned jobs, double least_us) {
  const auto pays = [&](const Candidate& one) {
    if (one.cost || one.most_us <= 0) return false;
    if (experiments == Experiments::all) return true;
    const auto exceeds = [&](bool below_roof) {
      const LimitCost* best = dearest(candidates, roof, below_roof);
      return best == nullptr || one.most_us > best->gain_us;
    };
    return exceeds(false) || (keeps_below_roof(*one.limit, roof) && one.most_us >= least_us && exceeds(true));
  };
  while (true) {
    std::vector<Candidate*> next;
    for (Candidate& one : candidates)
      if (next.size() < std::clamp(jobs, 1U, 2U) && pays(one)) next.push_back(&one);
    if (next.empty()) return;
    share_work(next.size(), jobs, {}, [&](std::size_t i) { next[i]->cost = laboratory.cost_of(*next[i]); });
  }
}

Bottleneck named_by(const SimReport& report, const std::vector<Candidate>& candidates, Bottleneck out) {
  const LimitCost* top = dearest(candidates, out, false);
  const LimitCost* below = dearest(candidates, out, true);
  if (below != nullptr && below->gain_us < worth_naming * report.time_us) below = nullptr;
  out.estimated = false;
  out.name = top == nullptr ? "none" : top->limit;
  out.speedup_if_removed = top == nullptr ? 1 : top->speedup();
  if (below != nullptr) out.below_roof_by = below->limit;
  out.because = sentence_of(out, report, below == nullptr ? 0 : below->gain_us / report.time_us);
  return out;
}

RoofToRun roof_to_run(const SimReport& r) {
  const double roof = r.time_us * r.bottleneck.share_of_roof_pct / 100;
  // DRAM does not wait for the clock of the SMs.
  const double share = r.bottleneck.roof == "dram" ? 1 : r.sm_clock_mhz / r.bottleneck.highest_clock_mhz;
  return {roof * share, roof * (1 - share), r.time_us - roof};
}

}  // namespace

Explanation explain_launch(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimReport& run,
                           const SimOptions& options, SmCache& cache, Experiments experiments) {
  const Laboratory laboratory(gpu, launch, options, cache, run);
  const Hertz highest = power::highest_clock(gpu, launch.arithmetic.tensor_cores);
  const Bottleneck roof = roof_of(run, highest);
  std::vector<Candidate> candidates = in_order(laboratory, gpu, run, highest);
  try_limits(laboratory, candidates, roof, experiments, options.jobs, worth_naming * run.time_us);

  Explanation out{run, {}, {}};
  out.report.bottleneck = named_by(run, candidates, roof);
  out.steps = roof_to_run(out.report);
  for (const Candidate& one : candidates) {
    if (!one.cost && experiments != Experiments::all) continue;
    out.costs.push_back(one.cost.value_or(LimitCost{std::string(one.limit->name),
                                                    fmt::format("{}={}", one.limit->switch_name, one.limit->value),
                                                    run.time_us, 0, run.sm_clock_mhz, run.pct_of_peak}));
  }
  std::ranges::stable_sort(out.costs, std::greater{}, &LimitCost::gain_us);
  return out;
}

Result<Explanation> explain(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                            const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache,
                            Experiments experiments) {
  const Result<KernelLaunch> launch = launch_of(gpu, kernel, shape, options, cache);
  if (!launch) return launch.errors();
  const Result<SimReport> run = simulate(gpu, kernel, shape, options, cache);
  if (!run) return run.errors();
  return explain_launch(gpu, *launch, *run, options, cache, experiments);
}

}  // namespace noteg::gpu
