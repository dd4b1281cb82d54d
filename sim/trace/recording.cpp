#include "sim/trace/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/ir/listing.hpp"

namespace noteg::gpu {
namespace {

// So many iterations beyond the window keep the deepest pipelines full to its end.
constexpr std::int64_t iterations_behind = 10;

// First issues of the iterations of the first CTA's leading warp, or of the first that runs the loop where that one
// does not, and behind them the first issue after the last iteration.
std::vector<std::uint64_t> iteration_begins(const kernels::Program& program, const kernels::Loop& loop,
                                            const sm::Recorder& log) {
  const auto is_in_loop = [&](const sm::IssueRecord& issue) {
    return loop.begin <= issue.pc && issue.pc <= loop.branch;
  };
  const auto leads = [&](const sm::IssueRecord& issue) { return issue.warp == program.lead_warp && is_in_loop(issue); };
  const auto first = std::ranges::find_if(log.issues, is_in_loop);
  if (first == log.issues.end()) return {};
  const int watched = std::ranges::any_of(log.issues, leads) ? program.lead_warp : first->warp;
  std::vector<std::uint64_t> begins;
  bool next = true;
  for (const sm::IssueRecord& issue : log.issues) {
    if (issue.warp != watched) continue;
    const bool is_inside = is_in_loop(issue);
    if (next && (is_inside || !begins.empty())) {
      begins.push_back(issue.cycle);
      next = false;
    }
    if (!next && !is_inside) break;
    if (issue.pc == loop.branch) next = true;
  }
  return begins;
}

Diagnostic no_such_iteration(const IterationWindow& window, std::int64_t all) {
  return {"",
          0,
          0,
          "--window",
          fmt::format("iterations between 1 and {}, as the watched loop has", all),
          fmt::format("{}:{}", window.first, window.last)};
}

// Latency L at which the stretch takes (1 - w) T(L_l2) + w T(L_dram), with w the share of steps that wait for DRAM.
sm::MemoryPort port_of(const SmRun& run, const sm::SmWork& work) {
  constexpr int halvings = 6;
  const SmRuns& runs = run.timed.runs;
  sm::MemoryPort port = run.port();
  if (runs.waiting <= 0 || runs.dram_latency <= runs.l2_latency) return port;
  const auto cycles_at = [&](double latency) {
    port.latency = std::round(latency);
    return run.timer->run(port, work).cycles;
  };
  double low = runs.l2_latency, high = runs.dram_latency;
  const double wanted = (1 - runs.waiting) * cycles_at(low) + runs.waiting * cycles_at(high);
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    (cycles_at(middle) < wanted ? low : high) = middle;
  }
  port.latency = std::round(high);
  return port;
}

}  // namespace

const kernels::Loop* main_loop(const kernels::Program& program) {
  const kernels::Loop* most = nullptr;
  double executed = 0;
  for (const kernels::Loop& loop : program.loops) {
    if (loop.is_main) return &loop;
    double here = loop.branch - loop.begin + 1;
    for (const kernels::Loop& around : program.loops)
      if (around.begin <= loop.begin && loop.branch <= around.branch) here *= static_cast<double>(around.iterations);
    if (here > executed) {
      executed = here;
      most = &loop;
    }
  }
  return most;
}

Result<Recording> cut_out(Recording whole, const sm::SmResult& result, std::int64_t all,
                          const IterationWindow& window) {
  if (window.first > all) return no_such_iteration(window, all);
  const kernels::Program& program = whole.program();
  for (auto pc = static_cast<std::int32_t>(whole.shown.size()); pc < std::ssize(program.code); ++pc)
    whole.shown.push_back({static_cast<std::uint32_t>(pc * kernels::instruction_bytes), kernels::to_text(program, pc)});
  if (const kernels::Loop* loop = main_loop(program))
    whole.iteration_begins = iteration_begins(program, *loop, whole.log);
  const auto iteration = [&](std::int64_t number, std::uint64_t otherwise) {  // from 1
    const auto place = static_cast<std::size_t>(number - 1);
    return number >= 1 && place < whole.iteration_begins.size() ? whole.iteration_begins[place] : otherwise;
  };
  const auto end = static_cast<std::uint64_t>(result.cycles);
  whole.log.samples.push_back({end, result.counters});
  whole.begin = iteration(window.first, 0);
  whole.end = window.last >= all ? end : iteration(window.last + 1, end);
  return whole;
}

Result<Recording> record(const SimReport& report, const IterationWindow& window) {
  Recording out;
  out.run = report.sm_run;
  sm::SmWork work = out.run->work();
  work.ctas = std::min<std::int64_t>(work.ctas, work.resident);
  work.tiles = 1;
  const std::int64_t all = work.iterations;
  if (window.first > all) return no_such_iteration(window, all);
  work.iterations = window.last < all ? std::min(all, window.last + iterations_behind) : all;
  out.port = port_of(*out.run, work);
  const sm::SmResult result = out.run->timer->watch(out.port, work, out.log);
  out.iterations = work.iterations;
  return cut_out(std::move(out), result, all, window);
}

double l2_bytes_between(const Recording& recording, const sm::Sample& from, const sm::Sample& to) {
  const double beyond = 1.0 - recording.port.l1_hit_rate;
  return recording.run->sector * ((to.count.read_sectors - from.count.read_sectors) * beyond + to.count.write_sectors -
                                  from.count.write_sectors);
}

Watts power_between(const Recording& recording, const SimReport& report, const arch::GpuSpec& gpu,
                    const sm::Sample& from, const sm::Sample& to) {
  const SmRun& run = *recording.run;
  const double sms = run.active_sms, cycles = static_cast<double>(to.cycle - from.cycle);
  const double seconds = cycles / run.clock().value;
  if (seconds <= 0) return Watts{0};
  ChipEvents events;
  events.counters = to.count;
  events.counters += from.count * -1.0;
  events.counters = events.counters * sms;
  events.active_lanes = run.events().active_lanes;
  events.sectors_per_pass = run.events().sectors_per_pass;
  events.l2_bytes = sms * l2_bytes_between(recording, from, to);
  const double share =
      run.events().l2_bytes > 0 ? events.l2_bytes / run.events().l2_bytes : 0;  // of the kernel's traffic
  events.dram_read_bytes = share * run.events().dram_read_bytes;
  events.dram_write_bytes = share * run.events().dram_write_bytes;
  events.tensor_padding = run.events().tensor_padding;
  events.sm_cycles = sms * cycles;
  const power::Stack dynamic =
      power::event_energy(gpu, activity_of(events, Seconds{seconds}), Volts{report.voltage}, run.operands);
  const auto part = [&](power::Component component) {
    return report.energy_stack_mj[static_cast<std::size_t>(component)];
  };
  const double steady =
      report.time_us > 0 ? (part(power::Component::idle) + part(power::Component::leakage)) * 1e3 / report.time_us : 0;
  return Watts{steady + power::total(dynamic).value / seconds};
}

}  // namespace noteg::gpu
