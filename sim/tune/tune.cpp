#include "sim/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/support/work_sharing.hpp"

namespace noteg::tune {
namespace {

// Pilot runs are some per cent off: so many more than asked for are timed again.
constexpr std::size_t again(std::size_t top) { return top + 4; }

double score(const gpu::SimReport& report, Objective objective) {
  return Scored{{}, report.time_us, report.energy_mj}.score(objective);
}

void sort_and_cut(std::vector<gpu::SimReport>& reports, const TuneOptions& options) {
  std::ranges::stable_sort(reports, {}, [&](const gpu::SimReport& r) { return score(r, options.objective); });
  if (reports.size() > options.top) reports.resize(options.top);
}

std::vector<gpu::SimReport> timed(const arch::GpuSpec& gpu, const Problem& problem, const std::vector<Scored>& ranked,
                                  const TuneOptions& options) {
  const std::size_t count = std::min(ranked.size(), options.quick > 0 ? ranked.size() : again(options.top));
  std::vector<std::optional<gpu::SimReport>> reports(count);
  gpu::SmCache cache;
  share_work(count, options.jobs, {}, [&](std::size_t i) {
    Result<gpu::SimReport> report = gpu::simulate(gpu, ranked[i].config, problem.shape, options.sim, cache);
    if (report) reports[i] = std::move(*report);
  });
  std::vector<gpu::SimReport> out;
  for (std::optional<gpu::SimReport>& report : reports)
    if (report) out.push_back(std::move(*report));
  sort_and_cut(out, options);
  return out;
}

// Those that are simulated as they are, without pilot runs before.
Ranking chosen(std::vector<Candidate> candidates) {
  Ranking out;
  out.simulated = candidates.size();
  for (Candidate& one : candidates) out.best.push_back({std::move(one.config), one.bound.value * 1e6, 0});
  return out;
}

// The other rasters of a launch.
std::vector<Candidate> launches_like(const std::vector<Candidate>& candidates, const kernels::KernelConfig& kernel) {
  std::vector<Candidate> out;
  for (const Candidate& one : candidates)
    if (same_program(one.config, kernel) && one.config.split_k == kernel.split_k && !(one.config == kernel))
      out.push_back(one);
  return out;
}

struct Figure {
  std::string_view what;
  double winner, other;
  bool more_is_better;
};

}  // namespace

bool same_program(const kernels::KernelConfig& a, const kernels::KernelConfig& b) {
  return a.family == b.family && a.tile == b.tile && a.warp_m == b.warp_m && a.warp_n == b.warp_n &&
         a.stages == b.stages;
}

std::string why_it_wins(const std::vector<gpu::SimReport>& top, Objective objective) {
  if (top.empty()) return "";
  const gpu::SimReport& w = top.front();
  std::string text = fmt::format("by estimate, the winner is limited by {} ({:.2f}x without it)", w.bottleneck.name,
                                 w.bottleneck.speedup_if_removed);
  const auto other =
      std::ranges::find_if(top, [&](const gpu::SimReport& r) { return !same_program(r.kernel, w.kernel); });
  if (other == top.end()) return text;
  text += fmt::format(", the runner-up of another program, {:.1f} % behind in {}, by {} ({:.2f}x)",
                      100 * (score(*other, objective) / score(w, objective) - 1), name_of(objective),
                      other->bottleneck.name, other->bottleneck.speedup_if_removed);
  const std::array figures{Figure{"tail", w.phases_us.tail / w.time_us, other->phases_us.tail / other->time_us, false},
                           Figure{"prologue and epilogue", (w.phases_us.prologue + w.phases_us.epilogue) / w.time_us,
                                  (other->phases_us.prologue + other->phases_us.epilogue) / other->time_us, false},
                           Figure{"issue slots used", w.pipes.issue, other->pipes.issue, false},
                           Figure{"load/store path busy", w.pipes.lsu, other->pipes.lsu, false},
                           Figure{"FP32 pipe busy", w.pipes.fma, other->pipes.fma, true},
                           Figure{"tensor pipe busy", w.pipes.tensor, other->pipes.tensor, true},
                           Figure{"L2 hits", w.memory.l2_hit_rate, other->memory.l2_hit_rate, true}};
  const auto gap = [](const Figure& f) { return (f.more_is_better ? 1 : -1) * (f.winner - f.other); };
  const auto best = std::ranges::max_element(figures, {}, gap);
  if (gap(*best) > 0.005)
    text += fmt::format("; largest difference in its favour: {} {:.0f} % against {:.0f} %", best->what,
                        100 * best->winner, 100 * best->other);
  return text;
}

namespace {

// Why none can run: what the first combination's rules say, where they say something.
std::string nothing_runs(const std::vector<kernels::KernelConfig>& all, const Problem& problem) {
  if (all.empty()) return "no combination for these types and rows";
  const std::string none = fmt::format("none among {} combinations", all.size());
  const auto resolved = kernels::resolve(all.front(), problem.shape);
  return resolved ? none : none + "; of the first, " + resolved.errors().front().to_string();
}

}  // namespace

Result<Tuned> tune(const arch::GpuSpec& gpu, const Problem& problem, const TuneOptions& options) {
  if (const auto error = gpu::beyond_memory(gpu, problem.frame, problem.shape)) return *error;
  Tuned out;
  out.problem = problem;
  const std::vector<kernels::KernelConfig> all = configurations(gpu, problem, options.space);
  out.considered = all.size();
  const std::vector<Candidate> candidates = candidates_of(gpu, all, problem.shape, options.sim);
  out.valid = candidates.size();
  RankRequest request;
  request.gpu = &gpu;
  request.shape = problem.shape;
  request.sim = options.sim;
  request.objective = options.objective;
  request.wanted = again(options.top);
  request.jobs = options.jobs;
  request.stop = options.stop;
  request.progress = options.progress;
  Ranking ranking =
      options.quick > 0 ? chosen(quickest(candidates, request, options.quick)) : rank(candidates, request);
  out.simulated = ranking.simulated;
  out.pruned = ranking.pruned;
  out.failed = ranking.failed;
  out.stopped = ranking.stopped;
  out.top = timed(gpu, problem, ranking.best, options);
  if (options.quick > 0 && !out.top.empty()) {  // the best one's other rasters
    Ranking more = chosen(launches_like(candidates, out.top.front().kernel));
    out.simulated += more.simulated;
    const std::vector<gpu::SimReport> others = timed(gpu, problem, more.best, options);
    out.top.insert(out.top.end(), others.begin(), others.end());
    sort_and_cut(out.top, options);
  }
  if (out.top.empty() && !out.stopped)
    return Diagnostic{"",
                      0,
                      0,
                      "tune",
                      fmt::format("a configuration that runs {} on {}", name_of(problem.frame.dtype_in), gpu.id),
                      nothing_runs(all, problem)};
  out.ranked = std::move(ranking.best);
  out.why = why_it_wins(out.top, options.objective);
  return out;
}

}  // namespace noteg::tune
