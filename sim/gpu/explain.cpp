#include "sim/gpu/explain.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/gpu/bottleneck.hpp"
#include "sim/gpu/power_use.hpp"
#include "sim/gpu/run.hpp"
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
  int in_turn = 0;  // in its chain, from 1; 0: on its own
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
    {"dram_bandwidth", "dram", "infinite", Chain::memory, 1},
    {"power", "power", "infinite"},
    {"kernel_launch", "launch", "free"},
    {"ragged_tail", "tail", "free"},
}};

// What one experiment found: run time and clock.
struct Found {
  double time_us = 0, clock_mhz = 0;
};

// A limit with what it cost and how much it may cost, in the run's microseconds.
struct Candidate {
  const Limit* limit = nullptr;
  double most_us = 0;
  std::optional<LimitCost> cost;
};

class Laboratory {
 public:
  Laboratory(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
             const SimOptions& options, SmCache& cache, const SimReport& run)
      : gpu_(gpu), kernel_(kernel), shape_(shape), options_(options), cache_(cache), run_(run) {
    at_its_clock_ = options;
    at_its_clock_.jobs = 1;
    at_its_clock_.sm_clock_mhz = run.sm_clock_mhz;
  }

  // The run as it is, as experiments see it: at the clock that was settled on, which is a little off the one at which
  // the run was stepped, and by a first look.
  Result<bool> look_at_the_run() {
    Result<SimReport> same = with_changes({});
    if (!same) return same.errors();
    same_ = std::move(*same);
    return true;
  }

  [[nodiscard]] Result<LimitCost> cost_of(const Limit& limit, double most_us) const {
    Found before{run_.time_us, run_.sm_clock_mhz};
    Result<Found> found =
        limit.name == "power" ? at_the_highest_clock() : with_clock_settled(changes_of(limit, limit.in_turn));
    if (!found) return found.errors();
    const Found without = *found;
    if (limit.in_turn > 1) {
      found = with_clock_settled(changes_of(limit, limit.in_turn - 1));
      if (!found) return found.errors();
      before = *found;
    }
    const double gain = std::clamp(std::min(before.time_us, run_.time_us) - without.time_us, 0.0, most_us);
    LimitCost cost{std::string(limit.name), fmt::format("{}={}", limit.switch_name, limit.value),
                   run_.time_us - gain,     gain,
                   without.clock_mhz,       0};
    cost.pct_of_peak = run_.pct_of_peak * run_.sm_clock_mhz * run_.time_us / (without.clock_mhz * cost.time_us);
    return cost;
  }

  // The most that a limit may gain, in microseconds.
  [[nodiscard]] double most(const Limit& limit, Hertz highest_clock) const {
    if (limit.name == "power")
      return run_.throttled ? run_.time_us * (1 - run_.sm_clock_mhz * 1e6 / highest_clock.value) : 0;
    const double bound = limit_bound(limit.name, run_);
    if (bound <= 0 || !run_.throttled) return bound * run_.time_us;
    const Found found = settled([&](Hertz clock) { return run_.activity_at(clock).time * (1 - bound); });
    return std::clamp(run_.time_us - found.time_us, 0.0, bound * run_.time_us);
  }

 private:
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

  [[nodiscard]] Result<SimReport> with_changes(const Changes& changes) const {
    SimOptions options = at_its_clock_;
    for (const auto& [name, value] : changes) {
      const Result<Switches> changed = with_switch(options.switches, name, value);
      if (!changed) return changed.errors();
      options.switches = *changed;
    }
    return simulate_as(gpu_, kernel_, shape_, options, cache_, Grade::search);
  }

  // The run itself: its clock is the only thing that changes.
  [[nodiscard]] Result<Found> at_the_highest_clock() const {
    SimOptions options = options_;
    options.switches.power = false;
    const Result<SimReport> without = simulate(gpu_, kernel_, shape_, options, cache_);
    if (!without) return without.errors();
    return Found{without->time_us, without->sm_clock_mhz};
  }

  [[nodiscard]] Result<Found> with_clock_settled(const Changes& changes) const {
    const Result<SimReport> without = with_changes(changes);
    if (!without) return without.errors();
    return settled([&](Hertz clock) {
      return run_.activity_at(clock).time * (without->activity_at(clock).time / same_.activity_at(clock).time);
    });
  }

  // At the clock that the limits allow for the events of the run in such a time.
  template <class TimeAt>
  [[nodiscard]] Found settled(const TimeAt& time_at) const {
    const power::OperatingPoint point = power::solve_clock(clock_request(gpu_, options_), [&](Hertz clock) {
      power::Activity activity = run_.activity_at(clock);
      activity.time = time_at(clock);
      return activity;
    });
    return {time_at(point.clock).value * 1e6, point.clock.value * 1e-6};
  }

  const arch::GpuSpec& gpu_;
  const kernels::KernelConfig& kernel_;
  const kernels::GemmShape& shape_;
  const SimOptions& options_;
  SmCache& cache_;
  const SimReport& run_;
  SimOptions at_its_clock_;
  SimReport same_;
};

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

// From the limit that may gain most on: none is tried that may not gain more than another was found to gain.
std::optional<Diagnostics> try_limits(const Laboratory& laboratory, std::vector<Candidate>& candidates,
                                      const Bottleneck& roof, Experiments experiments, unsigned jobs) {
  const auto pays = [&](const Candidate& one) {
    if (one.cost || one.most_us <= 0) return false;
    if (experiments == Experiments::all) return true;
    const LimitCost* best = dearest(candidates, roof, keeps_below_roof(*one.limit, roof));
    return best == nullptr || one.most_us > best->gain_us;
  };
  while (true) {
    std::vector<Candidate*> next;
    for (Candidate& one : candidates)
      if (next.size() < std::clamp(jobs, 1U, 2U) && pays(one)) next.push_back(&one);
    if (next.empty()) return std::nullopt;
    std::vector<Result<LimitCost>> found(next.size(), Diagnostic{});
    share_work(next.size(), jobs, {},
               [&](std::size_t i) { found[i] = laboratory.cost_of(*next[i]->limit, next[i]->most_us); });
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (!found[i]) return found[i].errors();
      next[i]->cost = *found[i];
    }
  }
}

Bottleneck named_by(const SimReport& report, const std::vector<Candidate>& candidates, Bottleneck out) {
  const LimitCost* top = dearest(candidates, out, false);
  const LimitCost* below = dearest(candidates, out, true);
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

Result<Explanation> explain(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                            const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache,
                            Experiments experiments) {
  const Result<SimReport> run = simulate(gpu, kernel, shape, options, cache);
  if (!run) return run.errors();
  Laboratory laboratory(gpu, kernel, shape, options, cache, *run);
  if (const Result<bool> same = laboratory.look_at_the_run(); !same) return same.errors();
  const Hertz highest = power::highest_clock(gpu, kernels::on_tensor_cores(run->kernel));
  const Bottleneck roof = roof_of(*run, highest);
  std::vector<Candidate> candidates;
  for (const Limit& limit : limits) candidates.push_back({&limit, laboratory.most(limit, highest), std::nullopt});
  std::ranges::stable_sort(candidates, std::greater{}, &Candidate::most_us);
  if (const auto errors = try_limits(laboratory, candidates, roof, experiments, options.jobs)) return *errors;

  Explanation out{*run, {}, {}};
  out.report.bottleneck = named_by(*run, candidates, roof);
  out.steps = roof_to_run(out.report);
  for (const Candidate& one : candidates) {
    if (!one.cost && experiments != Experiments::all) continue;
    out.costs.push_back(one.cost.value_or(LimitCost{std::string(one.limit->name),
                                                    fmt::format("{}={}", one.limit->switch_name, one.limit->value),
                                                    run->time_us, 0, run->sm_clock_mhz, run->pct_of_peak}));
  }
  std::ranges::stable_sort(out.costs, std::greater{}, &LimitCost::gain_us);
  return out;
}

}  // namespace noteg::gpu
