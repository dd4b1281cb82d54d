#include "sim/compiled/source_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "kernels/ir/listing.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/observer.hpp"
#include "sim/sm/sm.hpp"
#include "sim/support/csv.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

constexpr double most_watched = 200'000;  // warp instructions
constexpr std::int64_t usual_iterations = 24;

std::size_t column(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(stall_columns, name) - stall_columns.begin());
}

bool is_global_or_local(S s) { return asks_global(s) || s == S::load_local; }

// Queues towards memory are the LSU's for global and local accesses, the MIO's for all others.
std::size_t column_of(sm::Stall stall, const Step& step) {
  const S semantics = step.semantics;
  switch (stall) {
    case sm::Stall::selected: return column("selected");
    case sm::Stall::not_selected: return column("not_selected");
    case sm::Stall::wait: return column("wait");
    case sm::Stall::short_scoreboard: return column("short_sb");
    case sm::Stall::long_scoreboard:
    case sm::Stall::async_copy: return column("long_sb");
    case sm::Stall::barrier: return column("barrier");
    case sm::Stall::math_pipe:
      return column(step.in->base.ends_with("GMMA") || step.in->base == "WARPGROUP" ? "gmma" : "math");
    case sm::Stall::memory_queue: return column(is_global_or_local(semantics) ? "lg" : "mio");
    case sm::Stall::dispatch: return column("dispatch");
    case sm::Stall::no_instruction: return column("no_inst");
    case sm::Stall::constant_miss: return column("imc");
    case sm::Stall::by_design: return column("sleep");
    case sm::Stall::drained: return column("drain");
    case sm::Stall::count_: break;
  }
  return column("misc");
}

// Of cycles in which a warp has no instruction, those that its branch takes to name the next one: three behind a taken
// branch, all behind BSYNC, which fetches nothing anew (H200M: samples of 20 launches).
double resolving(double cycles, bool jumped, bool converged) {
  constexpr double to_target = 3;
  return converged ? cycles : jumped ? std::min(cycles, to_target) : 0;
}

// Which instruction of a warp set each dependence counter last.
struct Setters {
  std::array<std::int32_t, 6> of{-1, -1, -1, -1, -1, -1};

  void issued(const kernels::Control& control, std::int32_t at) {
    for (const std::int8_t counter : {control.write_barrier, control.read_barrier})
      if (counter >= 0 && counter < 6) of[static_cast<std::size_t>(counter)] = at;
  }
  void blame(const kernels::Control& control, std::int32_t at, double cycles,
             std::vector<std::map<std::int32_t, double>>& blamed) const {
    for (std::size_t counter = 0; counter < of.size(); ++counter)
      if ((control.wait_mask >> counter & 1) != 0 && of[counter] >= 0)
        blamed[static_cast<std::size_t>(at)][of[counter]] += cycles;
  }
};

double executed(const kernels::Program& program, std::int64_t most_iterations) {
  double sum = 0;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    double times = 1;
    for (const kernels::Loop& loop : program.loops)
      if (static_cast<std::int32_t>(i) >= loop.begin && static_cast<std::int32_t>(i) <= loop.branch)
        times *= static_cast<double>(std::min(loop.iterations, most_iterations));
    sum += times;
  }
  return sum;
}

// The innermost loops around bulk copies and multiplications of warpgroups, which hand each other stages: by place.
std::set<std::ptrdiff_t> loops_of_stages(const kernels::Program& program) {
  std::set<std::ptrdiff_t> out;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const int async = program.code[i].async;
    if (async < 0) continue;
    const kernels::AsyncKind kind = program.async[static_cast<std::size_t>(async)].kind;
    if (kind != kernels::AsyncKind::load_box && kind != kernels::AsyncKind::matmul) continue;
    if (const kernels::Loop* loop = kernels::innermost_loop(program, static_cast<int>(i)))
      out.insert(loop - program.loops.data());
  }
  return out;
}

// Loops cut so short that the watched run stays small. Those that hand each other stages keep their proportion: one
// that is unrolled four times has a quarter of the other's iterations.
kernels::Program shortened(const kernels::Program& program, int resident) {
  kernels::Program out = program;
  std::int64_t iterations = usual_iterations;
  while (iterations > 2 && executed(program, iterations) * program.warps * resident > most_watched)
    iterations = iterations * 2 / 3;
  std::int64_t longest = 0, common = 0;
  const std::set<std::ptrdiff_t> of_stages = loops_of_stages(out);
  for (const std::ptrdiff_t place : of_stages) {
    const std::int64_t all = out.loops[static_cast<std::size_t>(place)].iterations;
    longest = std::max(longest, all);
    common = std::gcd(common, all);
  }
  std::int64_t part = (longest + iterations - 1) / iterations;
  while (part < common && common % part != 0) ++part;
  if (part > 1 && part <= common)
    for (const std::ptrdiff_t place : of_stages) out.loops[static_cast<std::size_t>(place)].iterations /= part;
  for (kernels::Loop& loop : out.loops) loop.iterations = std::min(loop.iterations, iterations);
  return out;
}

// What the watched SM sees of the rest: its loads wait for DRAM as often as with flushed caches, and where DRAM needs
// longer than the SMs, they bring what comes in the kernel's time, without the reserve that a first burst finds.
sm::MemoryPort watched_port(const CompiledRun& run) {
  const gpu::TimedKernel& timed = run.report.sm_run->timed;
  const Hertz clock = run.report.sm_run->clock();
  sm::MemoryPort out = timed.runs.port;
  const double missing = std::min(1.0, run.cold.dram_read_bytes / std::max(1.0, timed.ports.traffic.l2_read_bytes));
  out.latency += missing * std::max(0.0, timed.time.dram_latency_at(clock) - out.latency);
  const double bytes = timed.ports.traffic.l2_read_bytes / std::max(1, run.report.sm_run->active_sms);
  const double cycles = timed.cycles();
  if (bytes > 0 && cycles > timed.time.sm_cycles_at(clock)) {
    out.read_bytes_per_cycle = std::min(out.read_bytes_per_cycle, bytes / cycles);
    out.read_burst_bytes_per_cycle = 0;
  }
  return out;
}

WatchedRun watch_shortened(const kernels::Program& program, WatchedRun out, const arch::GpuSpec& gpu,
                           const gpu::SimOptions& options) {
  out.work.fidelity = sm::Fidelity::exact;
  out.program = std::make_shared<const kernels::Program>(shortened(program, out.work.resident));
  sm::SmWork work = out.work;
  work.recorder = &out.log;
  const sm::DecodedProgram decoded = sm::decode(*out.program, gpu.sm, {}, options.switches.core);
  out.result = sm::run_sm(decoded, gpu.sm, options.switches.core, out.port, work);
  return out;
}

}  // namespace

WatchedRun watch(const CompiledRun& run, const arch::GpuSpec& gpu, const gpu::SimOptions& options,
                 std::uint64_t sample_interval) {
  WatchedRun out;
  out.port = watched_port(run);
  out.work = run.report.sm_run->work();
  out.work.ctas = std::min<std::int64_t>(out.work.ctas, out.work.resident);
  out.log.sample_interval = sample_interval;
  return watch_shortened(*run.program, std::move(out), gpu, options);
}

WatchedRun watch_cta(const kernels::Program& program, const sm::MemoryPort& port, const arch::GpuSpec& gpu,
                     const gpu::SimOptions& options) {
  WatchedRun out;
  out.port = port;
  return watch_shortened(program, std::move(out), gpu, options);
}

std::vector<SourceLine> source_view(const CompiledRun& run, const arch::GpuSpec& gpu, const gpu::SimOptions& options) {
  return source_view(run, watch(run, gpu, options));
}

std::vector<SourceLine> source_view(const CompiledRun& run, const WatchedRun& stretch) {
  const sm::Recorder& recorder = stretch.log;
  const kernels::Program& program = *stretch.program;
  const std::vector<Step>& steps = run.profile.code.steps;
  std::vector<SourceLine> out(steps.size());
  const std::vector<int> live = live_registers(run.profile.code);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out[i].instruction = static_cast<std::int32_t>(i);
    out[i].counts = run.profile.counts[i];
    out[i].live_registers = live[i];
  }
  std::vector<double> issues(steps.size());
  std::vector<std::vector<const sm::WaitRecord*>> waits;
  for (const sm::WaitRecord& wait : recorder.waits) {
    if (wait.warp >= waits.size()) waits.resize(wait.warp + 1u);
    waits[wait.warp].push_back(&wait);
  }
  std::vector<std::size_t> next(waits.size());
  std::vector<std::int32_t> last(waits.size(), -1);
  std::vector<Setters> setters(waits.size());
  std::vector<std::map<std::int32_t, double>> blamed(steps.size());
  for (const sm::IssueRecord& issue : recorder.issues) {
    const std::int32_t at = run.origin[static_cast<std::size_t>(issue.pc)];
    const bool watched = issue.warp < waits.size();
    const bool jumped = watched && last[issue.warp] >= 0 && at >= 0 && last[issue.warp] + 1 != at;
    const bool converged =
        watched && last[issue.warp] >= 0 && steps[static_cast<std::size_t>(last[issue.warp])].in->base == "BSYNC";
    if (watched) last[issue.warp] = at;
    std::size_t& w = watched ? next[issue.warp] : next.emplace_back();
    while (watched && w < waits[issue.warp].size() && waits[issue.warp][w]->until <= issue.cycle) {
      const sm::WaitRecord& wait = *waits[issue.warp][w++];
      if (at < 0) continue;
      auto& stalls = out[static_cast<std::size_t>(at)].stalls;
      const auto cycles = static_cast<double>(wait.until - wait.from);
      const double branch = wait.reason == sm::Stall::no_instruction ? resolving(cycles, jumped, converged) : 0;
      stalls[column("branch_resolving")] += branch;
      const Step& before = steps[static_cast<std::size_t>(std::max(at - 1, 0))];
      const bool by_fence = wait.reason == sm::Stall::long_scoreboard && before.semantics == S::fence && before.acts;
      const std::size_t of = by_fence ? column("membar") : column_of(wait.reason, steps[static_cast<std::size_t>(at)]);
      stalls[of] += cycles - branch;
      if (wait.reason == sm::Stall::long_scoreboard || wait.reason == sm::Stall::short_scoreboard)
        setters[issue.warp].blame(program.code[static_cast<std::size_t>(issue.pc)].control, at,
                                  static_cast<double>(wait.until - wait.from), blamed);
    }
    if (watched) setters[issue.warp].issued(program.code[static_cast<std::size_t>(issue.pc)].control, at);
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
    const auto most = std::ranges::max_element(blamed[i], {}, [](const auto& each) { return each.second; });
    if (most != blamed[i].end()) out[i].waited_for = most->first;
  }
  return out;
}

namespace {

std::uint32_t address_at(const CompiledRun& run, std::int32_t at) {
  return run.profile.code.steps[static_cast<std::size_t>(at)].in->address;
}

}  // namespace

std::vector<SourceRow> source_rows(const std::vector<SourceLine>& view, const CompiledRun& run) {
  double total = 0;
  for (const SourceLine& line : view) total += line.samples;
  std::vector<SourceRow> out;
  for (const SourceLine& line : view) {
    const Instruction& in = *run.profile.code.steps[static_cast<std::size_t>(line.instruction)].in;
    SourceRow row;
    row.address = in.address;
    row.sass = in.text;
    const std::vector<std::string>& files = run.profile.code.listing->sources;
    if (in.source_line > 0) {
      const bool known = in.source_file >= 0 && static_cast<std::size_t>(in.source_file) < files.size();
      row.source = fmt::format("{}:{}", known ? files[static_cast<std::size_t>(in.source_file)] : "", in.source_line);
    }
    row.executions = line.counts.warps;
    row.thread_executions = line.counts.threads;
    row.shared_wavefronts = line.counts.wavefronts;
    row.l2_sectors = line.counts.sectors;
    row.samples = line.samples;
    row.share = total > 0 ? line.samples / total : 0;
    row.live_registers = line.live_registers;
    if (line.waited_for >= 0)
      row.waited_for = fmt::format("{:04x} {}", address_at(run, line.waited_for),
                                   run.profile.code.steps[static_cast<std::size_t>(line.waited_for)].in->text);
    for (std::size_t i = 0; i < stall_columns.size(); ++i)
      if (line.stalls[i] > 0) row.stalls.emplace_back(stall_columns[i], line.stalls[i]);
    std::ranges::stable_sort(row.stalls, std::greater{}, [](const auto& each) { return each.second; });
    out.push_back(std::move(row));
  }
  return out;
}

std::string to_csv(const std::vector<SourceLine>& view, const CompiledRun& run) {
  std::string out =
      "address,sass,source_line,warp_instructions,thread_instructions,shared_wavefronts,shared_wavefronts_ideal,l2_"
      "sectors,l2_sectors_ideal,samples";
  for (const std::string_view name : stall_columns) out += fmt::format(",stall_{}", name);
  out += ",live_registers,waited_for\n";
  for (const SourceLine& line : view) {
    const Instruction& in = *run.profile.code.steps[static_cast<std::size_t>(line.instruction)].in;
    out += fmt::format("{:04x},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f}", in.address, csv_field(in.text),
                       in.source_line > 0 ? fmt::format("{}", in.source_line) : "", line.counts.warps,
                       line.counts.threads, line.counts.wavefronts, line.counts.ideal_wavefronts, line.counts.sectors,
                       line.counts.ideal_sectors, line.samples);
    for (const double each : line.stalls) out += fmt::format(",{:.0f}", each);
    out += fmt::format(",{},{}\n", line.live_registers,
                       line.waited_for >= 0 ? fmt::format("{:04x}", address_at(run, line.waited_for)) : "");
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
