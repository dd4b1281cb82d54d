#include "sim/gpu/run_time.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/gpu/bulk_copies.hpp"
#include "sim/gpu/environment.hpp"
#include "sim/gpu/footprint.hpp"
#include "sim/gpu/split_k.hpp"
#include "sim/support/ceil_div.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::gpu {
namespace {

// CTAs of the busiest SM, rounded up so that they fill all its slots in every round.
std::int64_t full_rounds(const Run& run) {
  const auto resident = static_cast<std::int64_t>(run.resident);
  // Slots that were never filled are a matter of occupancy, not of the tail.
  if (run.launch.ctas_busiest_sm <= resident) return run.launch.ctas_busiest_sm;
  return ceil_div(run.launch.ctas_busiest_sm, resident) * resident;
}

// CTAs of the rest, those beyond whole rounds on all SMs, that the busiest SM takes on top of its even part where all
// its slots fall empty together. Slots that do are filled together: the SMs that are first take a whole round, others
// none (H200M: 112 CTAs of 4 warps left for 132 SMs with two slots go to 53 SMs in pairs; CTAs of 8 warps, which end
// one after the other there, to 112 SMs one by one). More than two warps on a sub-core drift apart on hardware, if not
// here: kernels with them never show it (H200M: kernels with 3 to 8 CTAs of 2 to 4 warps on an SM). Nor do GPUs without
// clusters: library GEMMs on an A100 whose grids are a little over whole rounds would take up to 1.6 times as long.
std::int64_t rest_on_top(const Run& run, int warps) {
  const auto resident = static_cast<std::int64_t>(run.resident);
  if (!run.gpu.sm.fills_together) return 0;
  if (run.resident * warps > 2 * run.gpu.sm.sub_cores) return 0;
  const std::int64_t rounds = (run.launch.ctas_busiest_sm - 1) / resident;
  const std::int64_t even = run.launch.ctas_busiest_sm - rounds * resident;
  const std::int64_t rest = run.launch.ctas - rounds * resident * run.gpu.sms;
  return std::max<std::int64_t>(std::min(resident, rest) - even, 0);
}

// DRAM is idle until the first CTAs ask for something, and again behind their last reads.
double idle_ends(const Run& run) {
  const sm::CoreCounters& c = run.sm.counters;
  const double ctas = std::max(1.0, static_cast<double>(run.sm_ctas));
  const double first = std::max(0.0, c.prologue_cycles) / ctas + (run.gpu.dram.latency * run.clock).value;
  return first + std::max(0.0, c.lead_epilogue_cycles) / (ctas * static_cast<double>(run.launch.tiles));
}

double slices_cycles(const Run& run, SmTimer& timer) {
  ReductionRequest request;
  request.gpu = &run.gpu;
  request.config = &run.config;
  request.shape = &run.shape;
  request.launch = &run.launch;
  request.resident = run.resident;
  request.launch_takes_time = run.options.switches.launch;
  request.clock = run.clock;
  request.environment = run.environment;
  request.sm_cycles = run.sm.cycles;
  return reduction_cycles(request, timer);
}

}  // namespace

sm::SmWork sm_work(const Run& run) {
  sm::SmWork work;
  work.ctas = run.launch.ctas_busiest_sm;
  work.trips = run.launch.trips;
  work.tiles = run.launch.tiles;
  const Switches& switches = run.options.switches;
  if (!switches.tail) work.ctas = full_rounds(run);
  work.resident = static_cast<int>(std::min<std::int64_t>(run.resident, work.ctas));
  if (switches.launch) {
    work.launch_interval = std::round(run.gpu.launch.cta_rate.value * run.launch.active_sms);
    work.relaunch = run.gpu.sm.cta_launch.value;
  }
  return work;
}

void solve_time(Run& run, SmTimer& timer, const kernels::Program& program, Grade grade, const EnvironmentClocks& clocks,
                const Searched& search) {
  sm::SmWork work = sm_work(run);
  const Switches& switches = run.options.switches;
  EnvironmentRequest request;
  request.gpu = &run.gpu;
  request.tensor_cores = kernels::on_tensor_cores(run.config);
  request.clocks = clocks;
  request.ctas = {run.launch.ctas, run.launch.ctas_busiest_sm, run.resident, run.gpu.sms};
  request.share_runs = run.options.share_runs;
  request.footprint_bytes = footprint(run.shape, run.config);
  request.waiting_places = run.traffic.reuse.waiting_places;
  request.opens_rows = opens_rows(run.gpu.dram, run.traffic.reuse);
  request.c_missing = switches.dram && run.launch.grid.split_k == 1 ? run.traffic.reuse.c_missing : 0;
  request.rounds = static_cast<double>(work.ctas) / std::max(1, work.resident);
  request.l1_hit_rate = run.traffic.l1_hit_rate;
  request.shared = run.traffic.shared;
  request.reads_that_arrive = run.traffic.reads_that_arrive;
  request.l2_limits = switches.l2;
  request.latency_limits = switches.memory_latency;
  if (run.config.family == kernels::Family::wgmma)
    request.boxes = box_traffic({&run.gpu, &run.config, &run.shape, &run.launch, run.resident});
  run.dram_cycles = switches.dram ? (dram_time(run.gpu.dram, run.traffic.reuse) * run.clock).value : 0;
  run.environment = memory_environment(request, TileSource::l2);
  const DramLoad load{run.traffic.reuse.waiting_steps, run.dram_cycles, search};
  const auto time_with = [&](std::int64_t more) {
    sm::SmWork all = work;
    all.ctas += more;
    return time_with_dram(timer, request, all, grade, load, run.options.jobs);
  };
  // CTAs on tensor cores mostly stay in step: a second thread takes them to fall empty together.
  const std::int64_t at_most = switches.tail ? rest_on_top(run, program.warps) : 0;
  const bool ahead = at_most > 0 && run.options.jobs > 1 && grade == Grade::periodic && request.tensor_cores;
  SmTime on_top;
  share_work(ahead ? 2 : 1, run.options.jobs, {},
             [&](std::size_t i) { (i == 0 ? run.sm : on_top) = time_with(i == 0 ? 0 : at_most); });
  const std::int64_t more = std::min<std::int64_t>(at_most, run.sm.emptied_together);
  if (more > 0) run.sm = ahead && more == at_most ? std::move(on_top) : time_with(more);
  work.ctas += more;
  run.sm_ctas = work.ctas;
  if (!switches.tail) run.sm.cycles *= even_share(run, work.ctas);
  run.reduction_cycles = slices_cycles(run, timer);
}

KernelTimes kernel_times(const Run& run) {
  return {launch_time(run), Cycles{run.sm.cycles}, Cycles{run.reduction_cycles}, Cycles{idle_ends(run)},
          Cycles{run.dram_cycles} / run.clock};
}

}  // namespace noteg::gpu
