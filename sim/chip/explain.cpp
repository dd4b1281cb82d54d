#include "sim/chip/explain.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/chip/bottleneck.hpp"

namespace noteg::chip {

namespace {

struct Limit {
  std::string_view name;
  std::string_view switch_name, value;
};

constexpr std::array<Limit, 3> issue_path{{
    {"register_ports", "core.rf", "ideal"},
    {"issue_slots", "core.issue", "double"},
    {"fma_pipe", "core.fma", "double"},
}};
constexpr std::array<Limit, 11> limits{{
    {"instruction_cache", "core.icache", "perfect"},
    {"fixed_latency", "core.pipe_latency", "none"},
    {"barriers", "core.barriers", "free"},
    {"shared_memory", "memory.path", "infinite"},
    {"bank_conflicts", "memory.bank_conflicts", "off"},
    {"shared_latency", "memory.shared_latency", "none"},
    {"memory_latency", "memory.latency", "l1"},
    {"l2_bandwidth", "l2", "infinite"},
    {"dram_bandwidth", "dram", "infinite"},
    {"kernel_launch", "launch", "free"},
    {"ragged_tail", "tail", "free"},
}};

using Changes = std::vector<std::pair<std::string_view, std::string_view>>;

class Experiments {
 public:
  Experiments(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
              const SimOptions& options, SmCache& cache)
      : gpu_(gpu), kernel_(kernel), shape_(shape), options_(options), cache_(cache) {}

  // With these switches besides those of the options.
  [[nodiscard]] Result<SimReport> run(const Changes& changes) const {
    SimOptions options = options_;
    for (const auto& [name, value] : changes) {
      const Result<Switches> changed = with_switch(options.switches, name, value);
      if (!changed) return changed.errors();
      options.switches = *changed;
    }
    return simulate(gpu_, kernel_, shape_, options, cache_);
  }

 private:
  const arch::GpuSpec& gpu_;
  const kernels::KernelConfig& kernel_;
  const kernels::GemmShape& shape_;
  const SimOptions& options_;
  SmCache& cache_;
};

// The experiment decides; the estimate's sentence stays where it found the same limit.
Bottleneck named_by(const SimReport& report, const LimitCost& top) {
  Bottleneck out = report.bottleneck;
  const double share = top.gain_us / std::max(report.time_us, 1e-12);
  if (share < least_named_gain) {
    out.name = "no_single_limit";
    out.because = fmt::format("several limits bind together; the dearest, {}, costs {:.1f} %", top.limit, 100 * share);
  } else if (out.name != top.limit) {
    out.name = top.limit;
    out.because = fmt::format("without it ({}) the run would take {:.1f} % less time", top.removed, 100 * share);
  }
  return out;
}

LimitCost cost_of(const Limit& limit, double time_us, double gained_us) {
  const double gain = std::max(0.0, gained_us);
  return {std::string(limit.name), fmt::format("{}={}", limit.switch_name, limit.value), time_us - gain, gain};
}

}  // namespace

Result<Explanation> explain(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                            const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache) {
  const Result<SimReport> plain = simulate(gpu, kernel, shape, options, cache);
  if (!plain) return plain.errors();
  // At one clock: what the power limit would make of a faster run is another question.
  SimOptions same_clock = options;
  same_clock.sm_clock_mhz = plain->sm_clock_mhz;
  const Experiments experiments(gpu, kernel, shape, same_clock, cache);
  const Result<SimReport> with_all = experiments.run({});
  if (!with_all) return with_all.errors();
  Explanation out{*plain, {}};
  const double time = plain->time_us;
  // The clock that was settled on is a little off the one at which the plain run was stepped.
  const double scale = time / std::max(with_all->time_us, 1e-12);
  for (const Limit& limit : limits) {
    Changes changes{{limit.switch_name, limit.value}};
    // Conflicts hold the path and make answers late: without the path they are gone altogether.
    if (limit.name == "shared_memory") changes.emplace_back("memory.bank_conflicts", "off");
    const Result<SimReport> without = experiments.run(changes);
    if (!without) return without.errors();
    out.costs.push_back(cost_of(limit, time, time - without->time_us * scale));
  }
  // Ports, slots, lanes: an instruction passes all three, each is judged with those before it out of the way.
  Changes changes;
  double before = time;
  for (const Limit& limit : issue_path) {
    changes.emplace_back(limit.switch_name, limit.value);
    const Result<SimReport> without = experiments.run(changes);
    if (!without) return without.errors();
    const double now = std::min(before, without->time_us * scale);
    out.costs.push_back(cost_of(limit, time, before - now));
    before = now;
  }
  std::ranges::stable_sort(out.costs, std::greater{}, &LimitCost::gain_us);
  const LimitCost& top = out.costs.front();
  out.report.bottleneck = named_by(out.report, top);
  out.report.bottleneck.speedup_if_removed = top.speedup();
  return out;
}

}  // namespace noteg::chip
