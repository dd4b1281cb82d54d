#include "sim/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "sim/gpu/operating_point.hpp"
#include "sim/support/work_sharing.hpp"
#include "sim/workload/power_trace.hpp"

namespace noteg::workload {
namespace {

// Everything that a launch's kernel depends on: a library chooses for the GPU, whatever its power limit is.
std::string machine_identity(const Machine& machine) {
  std::string changed;
  for (const std::string& key : machine.gpu.changed) changed += " " + key;
  return fmt::format("{} {} {} {} {}", machine.gpu.file, machine.gpu.sms, machine.gpu.dram.bandwidth.value,
                     machine.gpu.l2.size.value, changed);
}

// One operation of a case, and where the costs of its launches are.
struct Placed {
  const Operation* operation = nullptr;
  const Block* block = nullptr;
  Expansion expansion;
  std::vector<std::size_t> costs;
};

// Distinct launches of distinct cases, in the order in which they are met.
class Plan {
 public:
  explicit Plan(const Request& request) {
    for (const Case& one : request.cases) {
      seen_.clear();
      std::vector<Placed> placed;
      for (const Block& block : request.steps[one.step].blocks)
        for (const Operation& operation : block.operations) placed.push_back(place(one, block, operation));
      cases.push_back(std::move(placed));
    }
  }

  std::vector<std::vector<Placed>> cases;
  std::vector<Launch> launches;
  std::vector<const Machine*> machines;  // of each launch
  std::vector<std::size_t> case_of;
  std::size_t all = 0;

 private:
  Placed place(const Case& one, const Block& block, const Operation& operation) {
    Placed out{&operation, &block, launches_of(operation), {}};
    for (const Launch& launch : out.expansion.launches) {
      ++all;
      const auto [found, fresh] = seen_.try_emplace(launch.identity(), launches.size());
      if (fresh) {
        launches.push_back(launch);
        machines.push_back(&one.machine);
        case_of.push_back(cases.size());
      }
      out.costs.push_back(found->second);
    }
    return out;
  }

  std::map<std::string, std::size_t> seen_;  // of the case
};

OperationResult result_of(const Placed& placed, const std::vector<LaunchCost>& costs) {
  OperationResult out;
  out.operation = placed.operation;
  out.block = placed.block->name;
  out.modelled_as = placed.expansion.modelled_as;
  out.count = static_cast<double>(placed.operation->count) * static_cast<double>(placed.block->repeat);
  out.flops = flops_of(*placed.operation) * out.count;
  double longest = -1;
  for (std::size_t i = 0; i < placed.costs.size(); ++i) {
    const LaunchCost& cost = costs[placed.costs[i]];
    out.time_us += cost.time_us * out.count;
    out.energy_mj += cost.energy_mj * out.count;
    out.dram_bytes += cost.dram_bytes * out.count;
    out.launches.push_back({placed.expansion.launches[i].what, cost});
    if (cost.time_us <= longest) continue;
    longest = cost.time_us;
    out.limiter = cost.limiter;
    if (!cost.kernel.empty()) out.kernel = cost.kernel;
  }
  return out;
}

// A host that runs ahead where it can: the step takes what the GPU takes, or what the host takes, and the first call.
double waiting_us(const Request& request, const CaseResult& result) {
  if (request.launch == LaunchMode::graph) return 0;
  double launches = 0;
  for (const OperationResult& operation : result.operations)
    launches += operation.count * static_cast<double>(operation.launches.size());
  const double dispatch = request.dispatch.value * 1e6;
  return std::max(0.0, launches * dispatch - result.time_us) + dispatch;
}

CaseResult result_of(const Request& request, const Case& one, const std::vector<Placed>& placed,
                     const std::vector<LaunchCost>& costs) {
  CaseResult out;
  out.of = &one;
  out.step = &request.steps[one.step];
  out.lowest_clock_mhz = 1e9;
  double throttled_w = 0;
  for (const Placed& each : placed) {
    OperationResult operation = result_of(each, costs);
    out.time_us += operation.time_us;
    out.energy_mj += operation.energy_mj;
    out.flops += operation.flops;
    out.dram_bytes += operation.dram_bytes;
    for (const LaunchResult& launch : operation.launches) {
      out.lowest_clock_mhz = std::min(out.lowest_clock_mhz, launch.cost.sm_clock_mhz);
      out.highest_clock_mhz = std::max(out.highest_clock_mhz, launch.cost.sm_clock_mhz);
      if (launch.cost.throttled && launch.cost.power_w > throttled_w) {
        throttled_w = launch.cost.power_w;
        out.throttle_reason = launch.cost.throttle_reason;
      }
      out.throttled = out.throttled || launch.cost.throttled;
    }
    out.operations.push_back(std::move(operation));
  }
  out.waiting_us = waiting_us(request, out);
  out.time_us += out.waiting_us;
  out.energy_mj += out.waiting_us * one.machine.gpu.power.idle.value * 1e-3;
  return out;
}

// The work of a step in one piece, at any clock.
power::ActivityAt activity_of(const CaseResult& result) {
  std::vector<CountedActivity> parts;
  for (const OperationResult& operation : result.operations)
    for (const LaunchResult& launch : operation.launches)
      if (launch.cost.activity_at) parts.push_back({operation.count, launch.cost.activity_at});
  parts.push_back({1, [waiting = Seconds{result.waiting_us * 1e-6}](Hertz) { return idle_for(waiting); }});
  return [parts = std::move(parts)](Hertz clock) { return sum_at(parts, clock); };
}

// The cases of a request on their way to their clocks. One clock for a step depends on the power, the power on the
// time, the time on the clock: rounds until it settles.
class Settling {
 public:
  Settling(const Request& request, const Plan& plan)
      : request_(request),
        plan_(plan),
        settled_(request.cases.size(), request.clocks == Clocks::each),
        costs_(plan.launches.size()),
        wanted_(plan.launches.size()) {
    for (const Case& one : request.cases) machines_.push_back(one.machine);
    for (std::size_t i = 0; i < wanted_.size(); ++i) wanted_[i] = i;
  }

  Result<std::vector<CaseResult>> settle(Bench& bench) {
    constexpr int rounds = 5;
    for (int round = 0; round < rounds && !wanted_.empty(); ++round) {
      if (const Diagnostics errors = look(bench); !errors.empty()) return errors;
      results_.clear();
      for (std::size_t c = 0; c < request_.cases.size(); ++c) {
        results_.push_back(result_of(request_, request_.cases[c], plan_.cases[c], costs_));
        if (request_.clocks == Clocks::shared) take_clock(c);
      }
      std::erase_if(wanted_, [&](std::size_t i) { return settled_[plan_.case_of[i]]; });
    }
    return std::move(results_);
  }

 private:
  Diagnostics look(Bench& bench) {
    std::vector<Launch> launches;
    std::vector<const Machine*> machines;
    for (const std::size_t i : wanted_) {
      launches.push_back(plan_.launches[i]);
      machines.push_back(&machines_[plan_.case_of[i]]);
    }
    Result<std::vector<LaunchCost>> found = bench.costs(launches, machines, request_.jobs, request_.progress);
    if (!found) return found.errors();
    for (std::size_t j = 0; j < wanted_.size(); ++j) costs_[wanted_[j]] = std::move((*found)[j]);
    return {};
  }

  void take_clock(std::size_t c) {
    constexpr double near = 0.005;
    const Machine& as_asked = request_.cases[c].machine;
    const power::OperatingPoint point =
        power::solve_clock(gpu::clock_request(as_asked.gpu, as_asked.sim), activity_of(results_[c]));
    const double clock = point.clock.value * 1e-6;
    std::optional<double>& at = machines_[c].sim.sm_clock_mhz;
    results_[c].throttled = point.throttled;
    results_[c].throttle_reason = gpu::throttle_reason(as_asked.gpu, as_asked.sim, point);
    settled_[c] = settled_[c] || (at && std::abs(clock / *at - 1) < near);
    if (!settled_[c]) at = clock;
  }

  const Request& request_;
  const Plan& plan_;
  std::vector<Machine> machines_;
  std::vector<bool> settled_;
  std::vector<LaunchCost> costs_;
  std::vector<std::size_t> wanted_;  // launches whose case has not settled
  std::vector<CaseResult> results_;
};

// The GEMMs of a list, each once for a GPU, and the kernels that a library has for them.
class Choices {
 public:
  Choices(const std::vector<Launch>& launches, const std::vector<const Machine*>& machines) : of_(launches.size()) {
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const auto* gemm = std::get_if<GemmLaunch>(&launches[i].work);
      if (gemm == nullptr) continue;
      const auto [found, fresh] =
          known.try_emplace({machine_identity(*machines[i]), launches[i].identity()}, all_.size());
      if (fresh) all_.push_back({gemm, machines[i], Diagnostic{}});
      of_[i] = found->second;
    }
  }

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  void choose(std::size_t place, tune::KernelChooser& chooser) {
    Choice& one = all_[place];
    arch::GpuSpec gpu = one.machine->gpu;
    if (one.machine->board_limit) gpu.power.limit = *one.machine->board_limit;
    one.kernel = chooser.best(gpu, {one.gemm->shape, one.gemm->frame}, one.machine->sim);
  }
  [[nodiscard]] const Result<kernels::KernelConfig>& kernel_of(std::size_t launch) const {
    return all_[of_[launch]].kernel;
  }

 private:
  struct Choice {
    const GemmLaunch* gemm;
    const Machine* machine;
    Result<kernels::KernelConfig> kernel;
  };
  std::vector<Choice> all_;
  std::vector<std::size_t> of_;
};

Result<LaunchCost> cost_of(const Machine& machine, const Launch& launch, const Choices& choices, std::size_t place,
                           gpu::SmCache& cache) {
  if (const auto* stream = std::get_if<StreamLaunch>(&launch.work)) return cost_of(machine, *stream);
  if (const auto* collective = std::get_if<CollectiveLaunch>(&launch.work)) return cost_of(machine, *collective);
  if (const auto* attention = std::get_if<AttentionLaunch>(&launch.work))
    return cost_of(machine, GemmLaunch{attention->shape, attention->kernel}, attention->kernel, cache);
  const Result<kernels::KernelConfig>& kernel = choices.kernel_of(place);
  if (!kernel) return kernel.errors();
  return cost_of(machine, std::get<GemmLaunch>(launch.work), *kernel, cache);
}

}  // namespace

Result<std::vector<LaunchCost>> Bench::costs(const std::vector<Launch>& launches,
                                             const std::vector<const Machine*>& machines, unsigned jobs,
                                             const std::function<void(std::size_t, std::size_t)>& progress) {
  Choices choices(launches, machines);
  const std::size_t total = choices.size() + launches.size();
  const auto report = [&](std::size_t before) {
    return [&progress, before, total](std::size_t done, std::size_t) {
      if (progress) progress(before + done, total);
    };
  };
  share_work(choices.size(), jobs, report(0), [&](std::size_t c) { choices.choose(c, chooser_); });
  std::vector<Result<LaunchCost>> costs(launches.size(), Diagnostic{});
  share_work(launches.size(), jobs, report(choices.size()),
             [&](std::size_t i) { costs[i] = cost_of(*machines[i], launches[i], choices, i, cache_); });
  std::vector<LaunchCost> out;
  Diagnostics errors;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i]) out.push_back(std::move(*costs[i]));
    for (Diagnostic error : costs[i].errors()) {
      error.key = fmt::format("{} on {}: {}", launches[i].identity(), machines[i]->gpu.id, error.key);
      errors.push_back(std::move(error));
    }
  }
  if (!errors.empty()) return errors;
  return out;
}

Result<Results> run(Request given, Bench& bench) {
  const auto request = std::make_shared<const Request>(std::move(given));
  const Plan plan(*request);
  Result<std::vector<CaseResult>> cases = Settling(*request, plan).settle(bench);
  if (!cases) return cases.errors();
  return Results{request, std::move(*cases), plan.all, plan.launches.size()};
}

}  // namespace noteg::workload
