#include "sim/compiled/source_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/gpu/simulate.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/recorder.hpp"
#include "sim/sm/sm.hpp"
#include "sim/support/csv.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

constexpr double most_watched = 400'000;  // warp instructions
constexpr std::int64_t usual_iterations = 24;

std::size_t column(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(stall_columns, name) - stall_columns.begin());
}

bool is_global_or_local(S s) {
  return s == S::load_global || s == S::store_global || s == S::load_local || s == S::store_local ||
         s == S::atomic_global || s == S::copy_to_shared;
}

// Queues towards memory are the LSU's for global and local accesses, the MIO's for all others.
std::size_t column_of(sm::Stall stall, S semantics, bool behind_jump) {
  switch (stall) {
    case sm::Stall::selected: return column("selected");
    case sm::Stall::not_selected: return column("not_selected");
    case sm::Stall::wait: return column("wait");
    case sm::Stall::short_scoreboard: return column("short_sb");
    case sm::Stall::long_scoreboard:
    case sm::Stall::async_copy: return column("long_sb");
    case sm::Stall::barrier: return column("barrier");
    case sm::Stall::math_pipe: return column("math");
    case sm::Stall::memory_queue: return column(is_global_or_local(semantics) ? "lg" : "mio");
    case sm::Stall::dispatch: return column("dispatch");
    case sm::Stall::no_instruction: return column(behind_jump ? "branch_resolving" : "no_inst");
    case sm::Stall::constant_miss: return column("imc");
    case sm::Stall::by_design: return column("sleep");
    case sm::Stall::drained: return column("drain");
    case sm::Stall::count_: break;
  }
  return column("misc");
}

double executed(const kernels::Program& program, std::int64_t most_trips) {
  double sum = 0;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    double times = 1;
    for (const kernels::Loop& loop : program.loops)
      if (static_cast<std::int32_t>(i) >= loop.begin && static_cast<std::int32_t>(i) <= loop.branch)
        times *= static_cast<double>(std::min(loop.trips, most_trips));
    sum += times;
  }
  return sum;
}

// Loops cut so short that the watched run stays small.
kernels::Program shortened(const kernels::Program& program, int resident) {
  kernels::Program out = program;
  std::int64_t trips = usual_iterations;
  while (trips > 2 && executed(program, trips) * program.warps * resident > most_watched) trips = trips * 2 / 3;
  for (kernels::Loop& loop : out.loops) loop.trips = std::min(loop.trips, trips);
  return out;
}

}  // namespace

std::vector<SourceLine> source_view(const CompiledRun& run, const arch::GpuSpec& gpu, const gpu::SimOptions& options) {
  const std::vector<Step>& steps = run.profile.code.steps;
  std::vector<SourceLine> out(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out[i].instruction = static_cast<std::int32_t>(i);
    out[i].counts = run.profile.counts[i];
  }
  sm::SmWork work = run.report.sm_run->work();
  work.ctas = std::min<std::int64_t>(work.ctas, work.resident);
  work.fidelity = sm::Fidelity::exact;
  sm::Recorder recorder;
  recorder.sample_interval = 1 << 20;
  work.recorder = &recorder;
  const kernels::Program program = shortened(*run.program, work.resident);
  const sm::DecodedProgram decoded = sm::decode(program, gpu.sm, {}, options.switches.core);
  static_cast<void>(sm::run_sm(decoded, gpu.sm, options.switches.core, run.report.sm_run->port(), work));

  std::vector<double> issues(steps.size());
  std::vector<std::vector<const sm::WaitRecord*>> waits;
  for (const sm::WaitRecord& wait : recorder.waits) {
    if (wait.warp >= waits.size()) waits.resize(wait.warp + 1u);
    waits[wait.warp].push_back(&wait);
  }
  std::vector<std::size_t> next(waits.size());
  std::vector<std::int32_t> last(waits.size(), -1);
  for (const sm::IssueRecord& issue : recorder.issues) {
    const std::int32_t at = run.origin[static_cast<std::size_t>(issue.pc)];
    const bool watched = issue.warp < waits.size();
    const bool jumped = watched && last[issue.warp] >= 0 && at >= 0 && last[issue.warp] + 1 != at;
    if (watched) last[issue.warp] = at;
    std::size_t& w = watched ? next[issue.warp] : next.emplace_back();
    while (watched && w < waits[issue.warp].size() && waits[issue.warp][w]->until <= issue.cycle) {
      const sm::WaitRecord& wait = *waits[issue.warp][w++];
      if (at < 0) continue;
      out[static_cast<std::size_t>(at)]
          .stalls[column_of(wait.reason, steps[static_cast<std::size_t>(at)].semantics, jumped)] +=
          static_cast<double>(wait.until - wait.from);
    }
    if (at < 0) continue;
    issues[static_cast<std::size_t>(at)] += 1;
    out[static_cast<std::size_t>(at)].stalls[column("selected")] += 1;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double factor = issues[i] > 0 ? out[i].counts.warps / issues[i] : 0;
    for (double& each : out[i].stalls) {
      each *= factor;
      out[i].samples += each;
    }
  }
  return out;
}

std::string to_csv(const std::vector<SourceLine>& view, const CompiledRun& run) {
  std::string out =
      "address,sass,source_line,warp_instructions,thread_instructions,shared_wavefronts,shared_wavefronts_ideal,l2_"
      "sectors,l2_sectors_ideal,samples";
  for (const std::string_view name : stall_columns) out += fmt::format(",stall_{}", name);
  out += "\n";
  for (const SourceLine& line : view) {
    const Instruction& in = *run.profile.code.steps[static_cast<std::size_t>(line.instruction)].in;
    out += fmt::format("{:04x},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f}", in.address, csv_field(in.text),
                       in.source_line > 0 ? fmt::format("{}", in.source_line) : "", line.counts.warps,
                       line.counts.threads, line.counts.wavefronts, line.counts.ideal_wavefronts, line.counts.sectors,
                       line.counts.ideal_sectors, line.samples);
    for (const double each : line.stalls) out += fmt::format(",{:.0f}", each);
    out += "\n";
  }
  return out;
}

std::string hottest(const std::vector<SourceLine>& view, const CompiledRun& run, std::size_t most) {
  std::vector<const SourceLine*> lines;
  double total = 0;
  for (const SourceLine& line : view) {
    total += line.samples;
    if (line.samples > 0) lines.push_back(&line);
  }
  std::ranges::stable_sort(lines, std::greater{}, &SourceLine::samples);
  lines.resize(std::min(lines.size(), most));
  std::string out = "\nhottest instructions (share of warp cycles, what their warps wait for)\n";
  for (const SourceLine* line : lines) {
    const Instruction& in = *run.profile.code.steps[static_cast<std::size_t>(line->instruction)].in;
    std::array<std::size_t, stall_columns.size()> order{};
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return line->stalls[a] > line->stalls[b]; });
    std::string why;
    for (std::size_t i = 0; i < 2; ++i)
      if (line->stalls[order[i]] > 0.05 * line->samples)
        why += fmt::format("{}{} {:.0f} %", why.empty() ? "" : ", ", stall_columns[order[i]],
                           100 * line->stalls[order[i]] / line->samples);
    out += fmt::format("  {:5.1f} %  {:04x}  {:<38.38} {}{}\n", 100 * line->samples / std::max(total, 1.0), in.address,
                       in.text, why, in.source_line > 0 ? fmt::format("  (line {})", in.source_line) : "");
  }
  return out;
}

}  // namespace noteg::compiled
