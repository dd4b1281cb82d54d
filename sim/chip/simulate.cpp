#include "sim/chip/simulate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/chip/bottleneck.hpp"
#include "sim/chip/bulk_copies.hpp"
#include "sim/chip/confidence.hpp"
#include "sim/chip/dram_wait.hpp"
#include "sim/chip/environment.hpp"
#include "sim/chip/grid.hpp"
#include "sim/chip/occupancy.hpp"
#include "sim/chip/peak_rate.hpp"
#include "sim/chip/power_use.hpp"
#include "sim/chip/recording.hpp"
#include "sim/chip/sm_cache.hpp"
#include "sim/chip/split_k.hpp"
#include "sim/chip/traffic.hpp"
#include "sim/core/tensor_timing.hpp"

namespace noteg::chip {

namespace {

// Everything the answer is computed from, collected step by step.
struct Run {
  const arch::GpuSpec& gpu;
  const kernels::KernelConfig& config;
  const kernels::GemmShape& shape;
  const SimOptions& options;
  Hertz clock;
  Launch launch;
  int resident = 1;
  Traffic traffic;
  core::MemoryEnvironment environment;
  SmTime sm;                 // of the busiest SM
  std::int64_t sm_ctas = 0;  // that it ran
  double dram_cycles = 0;
  double reduction_cycles = 0;  // of split-K
  double kernel_cycles = 0;     // on the GPU, without launch
};

double footprint(const kernels::GemmShape& s, double bytes_in, double bytes_out) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return static_cast<double>(s.batch) * ((m * k + k * n) * bytes_in + m * n * bytes_out);
}

void solve_traffic(Run& run, const kernels::Program& program) {
  run.traffic = plan_traffic({&run.gpu, &run.config, &run.shape, &program, &run.launch, run.resident, run.options.l2});
  if (!run.options.switches.l2) {
    run.traffic.reuse.dram_read_bytes = 0;
    run.traffic.reuse.waiting_steps = 0;
  }
}

// CTAs of the busiest SM, rounded up so that they fill all its slots in every round.
std::int64_t full_rounds(const Run& run) {
  const auto resident = static_cast<std::int64_t>(run.resident);
  // Slots that were never filled are a matter of occupancy, not of the tail.
  if (run.launch.ctas_busiest_sm <= resident) return run.launch.ctas_busiest_sm;
  return (run.launch.ctas_busiest_sm + resident - 1) / resident * resident;
}

// Of the time that one SM takes for `ctas` CTAs: what each takes if all CTAs divide evenly.
double even_share(const Run& run, std::int64_t ctas) {
  return run.launch.all_tiles / (static_cast<double>(ctas * run.launch.tiles) * run.gpu.sms);
}

// CTAs of the rest, those beyond whole rounds on all SMs, that the busiest SM takes on top of its even part. Slots that
// fall empty together are filled together: the SMs that are first take a whole round, others none (H200M: 112 CTAs of
// 4 warps left for 132 SMs with two slots go to 53 SMs in pairs; CTAs of 8 warps, which end one after the other there,
// to 112 SMs one by one). More than two warps on a sub-core drift apart on hardware, if not here: kernels with them
// never show it (H200M: kernels with 3 to 8 CTAs of 2 to 4 warps on an SM). Nor do GPUs without clusters: library GEMMs
// on an A100 whose grids are a little over whole rounds would take up to 1.6 times as long.
std::int64_t taken_together(const Run& run, int warps) {
  const auto resident = static_cast<std::int64_t>(run.resident);
  if (!run.gpu.sm.has_tma) return 0;
  if (run.resident * warps > 2 * run.gpu.sm.sub_cores) return 0;
  const std::int64_t rounds = (run.launch.ctas_busiest_sm - 1) / resident;
  const std::int64_t even = run.launch.ctas_busiest_sm - rounds * resident;
  const std::int64_t rest = run.launch.ctas - rounds * resident * run.gpu.sms;
  return std::clamp<std::int64_t>(std::min(resident, rest) - even, 0, run.sm.emptied_together);
}

// Places in DRAM that the tiles of a waiting step lie in: one for each row where an operand lies along K, else one for
// each k, since what lies together comes together (H200M: the last of 128 rows of 128 bytes comes 60 cycles after a
// single one, of 32 bytes 230). An operand along K takes part only in the steps that begin a granule; the wait grows
// with the logarithm, so the mean over steps is geometric.
double tile_accesses(const Run& run) {
  const kernels::Tile& tile = run.config.tile;
  const bool a_along = kernels::a_contiguous_in_k(run.config.layout);
  const bool b_along = !kernels::b_contiguous_in_n(run.config.layout);
  const double all = (a_along ? tile.m : tile.k) + (b_along ? tile.n : tile.k);
  if (a_along == b_along) return all;
  const double bytes = tile.k * kernels::bytes_of(run.config.dtype_in);
  const double begins = std::min(1.0, bytes / run.gpu.dram.granule.value);
  return std::pow(all, begins) * std::pow(static_cast<double>(tile.k), 1.0 - begins);
}

core::SmWork sm_work(const Run& run) {
  core::SmWork work;
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

void solve_time(Run& run, SmTimer& timer, const kernels::Program& program, Grade grade) {
  core::SmWork work = sm_work(run);
  const Switches& switches = run.options.switches;
  EnvironmentRequest request;
  request.gpu = &run.gpu;
  request.clock = run.clock;
  request.active_sms = run.launch.active_sms;
  request.footprint_bytes =
      footprint(run.shape, kernels::bytes_of(run.config.dtype_in), kernels::bytes_of(run.config.dtype_out));
  request.tile_accesses = tile_accesses(run);
  request.l1_hit_rate = run.traffic.l1_hit_rate;
  request.l2_limits = switches.l2;
  request.latency_limits = switches.memory_latency;
  if (run.config.family == kernels::Family::wgmma)
    request.boxes = box_traffic({&run.gpu, &run.config, &run.shape, &run.launch, run.resident});
  run.dram_cycles = switches.dram ? (dram_time(run.gpu.dram, run.traffic.reuse) * run.clock).value : 0;
  run.environment = memory_environment(request, TileSource::l2);
  const DramLoad load{run.traffic.reuse.waiting_steps, run.dram_cycles};
  run.sm = time_with_dram(timer, request, work, grade, load);
  if (const std::int64_t more = taken_together(run, program.warps); switches.tail && more > 0) {
    work.ctas += more;
    run.sm = time_with_dram(timer, request, work, grade, load);
  }
  run.sm_ctas = work.ctas;
  if (!switches.tail) run.sm.cycles *= even_share(run, work.ctas);
}

Seconds launch_time(const Run& run) { return run.options.switches.launch ? run.gpu.launch.kernel : Seconds{}; }

// Run time at clocks other than the stepped one: cycles of the SMs stay, DRAM takes as long as before in seconds.
struct KernelTimes {
  Seconds launch;
  Cycles sm, reduction, ends;
  Seconds dram;

  [[nodiscard]] Cycles cycles_at(Hertz clock) const {
    const Cycles stream = dram.value > 0 ? dram * clock + ends : Cycles{0};
    return std::max(sm, stream) + reduction;
  }
  [[nodiscard]] Seconds at(Hertz clock) const { return launch + cycles_at(clock) / clock; }
};

// DRAM is idle until the first CTAs ask for something, and again behind their last reads.
double idle_ends(const Run& run) {
  const core::CoreCounters& c = run.sm.counters;
  const double ctas = std::max(1.0, static_cast<double>(run.sm_ctas));
  const double first = std::max(0.0, c.prologue_cycles) / ctas + (run.gpu.dram.latency * run.clock).value;
  return first + std::max(0.0, c.epilogue_cycles) / (ctas * static_cast<double>(run.launch.tiles));
}

KernelTimes kernel_times(const Run& run) {
  return {launch_time(run), Cycles{run.sm.cycles}, Cycles{run.reduction_cycles}, Cycles{idle_ends(run)},
          Cycles{run.dram_cycles} / run.clock};
}

double reduction_cycles(const Run& run, SmTimer& timer) {
  ReductionRequest request;
  request.gpu = &run.gpu;
  request.config = &run.config;
  request.shape = &run.shape;
  request.launch = &run.launch;
  request.resident = run.resident;
  request.launch_takes_time = run.options.switches.launch;
  request.clock = run.clock;
  request.environment = run.environment;
  return reduction_cycles(request, timer);
}

// Operations per SM cycle of the whole GPU, at the best rate that it has for the kernel's types.
double peak_operations(const Run& run) { return 2.0 * run.gpu.sms * peak_rate(run.gpu.sm, run.config); }

void fill_time(SimReport& r, const Run& run) {
  const double us_per_cycle = 1e6 / run.clock.value;
  const double launch_us = run.options.switches.launch ? run.gpu.launch.kernel.value * 1e6 : 0;
  const double kernel_us = run.kernel_cycles * us_per_cycle;
  r.sm_clock_mhz = run.clock.value * 1e-6;
  r.time_us = launch_us + kernel_us;
  r.cycles = r.time_us / us_per_cycle;
  r.tflops = run.shape.flops() / (r.time_us * 1e6);
  const double peak = peak_operations(run) * run.clock.value;
  r.pct_of_peak = 100.0 * r.tflops * 1e12 / peak;

  // Idle slots of the last, ragged round of CTAs.
  const double share = run.options.switches.tail ? even_share(run, run.sm_ctas) : 1;
  const core::CoreCounters& c = run.sm.counters;
  // Extended linearly from few trips, the ends of a kernel that is all main loop may come out below nothing.
  const double prologue = std::max(0.0, c.prologue_cycles), mainloop = std::max(0.0, c.mainloop_cycles);
  const double epilogue = std::max(0.0, c.epilogue_cycles), life = std::max(1.0, prologue + mainloop + epilogue);
  const double work_us = kernel_us * share;
  r.phases_us.launch = launch_us;
  r.phases_us.tail = kernel_us - work_us;
  r.phases_us.prologue = work_us * prologue / life;
  r.phases_us.mainloop = work_us * mainloop / life;
  r.phases_us.epilogue = work_us * epilogue / life;
}

// Warp instructions of one CTA with `trips` main-loop trips.
std::int64_t executed_by_cta(const kernels::Program& program, std::int64_t trips) {
  const std::int64_t k = (trips + program.peeled_tiles) * std::max(1, program.k_per_trip);
  return kernels::executed_instructions(program, k) * program.warps;
}

// Counters of the busiest SM to the whole chip: CTAs are alike. How many instructions a CTA executes is known
// exactly, so what periods were passed over inexactly is set right by it.
core::CoreCounters chip_counters(const Run& run, const kernels::Program& program) {
  if (!program.roles.empty())  // each role has a length of its own; tiles are alike
    return run.sm.counters * (run.launch.all_tiles / static_cast<double>(run.sm_ctas * run.launch.tiles));
  const double executed =
      static_cast<double>(executed_by_cta(program, run.launch.trips)) * static_cast<double>(run.launch.ctas);
  return run.sm.counters * (executed / std::max(1.0, run.sm.counters.warp_instructions));
}

// Of the elements that the CTAs' tiles cover along all three extents.
double padding_share(const Run& run) {
  const auto inside = [](std::int64_t size, int tile) {
    return static_cast<double>(size) / static_cast<double>((size + tile - 1) / tile * tile);
  };
  const kernels::Tile& tile = run.config.tile;
  return 1.0 - inside(run.shape.m, tile.m) * inside(run.shape.n, tile.n) * inside(run.shape.k, tile.k);
}

ChipEvents chip_events(const Run& run, const kernels::Program& program) {
  ChipEvents events;
  events.counters = chip_counters(run, program);
  events.active_lanes = static_cast<double>(program.threads) / std::max(1, program.warps);
  events.dram_read_bytes = run.traffic.reuse.dram_read_bytes;
  events.dram_write_bytes = run.traffic.reuse.dram_write_bytes;
  events.tensor_padding = padding_share(run);
  events.l2_bytes = run.traffic.l2_read_bytes + run.traffic.l2_write_bytes;
  events.sm_cycles = run.sm.cycles * run.launch.active_sms;
  return events;
}

Grade wanted_grade(const SimOptions& options) {
  if (options.rough) return Grade::rough;
  return options.exact ? Grade::exact : options.share_runs ? Grade::shared : Grade::periodic;
}

// Latencies in cycles depend on the clock, the clock on the power, the power on the time. Each round steps through the
// kernel at the clock that the round before allowed, cheaply; the grade that was asked for runs once, at the clock that
// came out, so that all grades see the same one.
power::OperatingPoint solve_time_and_clock(Run& run, SmTimer& timer, const kernels::Program& program) {
  const Grade wanted = wanted_grade(run.options);
  const int rounds = wanted == Grade::rough ? 1 : 4;
  constexpr double settled = 0.005;
  power::OperatingPoint point;
  double stepped_cycles = 0, stepped_instructions = 0;
  const auto step_through = [&](Grade grade) {
    solve_time(run, timer, program, grade);
    stepped_cycles += run.sm.simulated_cycles;
    stepped_instructions += run.sm.simulated_warp_instructions;
    run.reduction_cycles = reduction_cycles(run, timer);
    point = operating_point(run.gpu, run.options, chip_events(run, program),
                            [&run](Hertz clock) { return kernel_times(run).at(clock); });
  };
  const auto take_clock = [&] {
    run.kernel_cycles = kernel_times(run).cycles_at(point.clock).value;
    run.dram_cycles *= point.clock / run.clock;
    run.clock = point.clock;
  };
  const bool search = !run.options.sm_clock_mhz && wanted != Grade::shared && wanted != Grade::rough;
  for (int round = 0; round < rounds; ++round) {
    step_through(search ? Grade::rough : wanted);
    const double step = std::abs(point.clock / run.clock - 1.0);
    take_clock();
    if (step < settled || run.sm.deadlock) break;
  }
  if (search && !run.sm.deadlock) {
    step_through(wanted);
    take_clock();
  }
  run.sm.simulated_cycles = stepped_cycles;
  run.sm.simulated_warp_instructions = stepped_instructions;
  return point;
}

void fill_counters(SimReport& r, const Run& run, const kernels::Program& program) {
  const core::CoreCounters c = chip_counters(run, program);
  r.warp_instructions = c.warp_instructions;
  for (std::size_t i = 0; i < core::opcode_count; ++i) {
    if (c.issued[i] > 0)
      r.instructions_by_opcode[std::string(kernels::opcode_info(static_cast<kernels::Opcode>(i)).mnemonic)] =
          c.issued[i];
  }
  r.stalls = c.stall_shares();
  const double slots = std::max(1.0, r.cycles) * run.gpu.sms;
  const double sub_slots = slots * run.gpu.sm.sub_cores;
  r.pipes.fma = std::min(1.0, c.fma_cycles / sub_slots);
  r.pipes.alu = std::min(1.0, c.alu_cycles / sub_slots);
  r.pipes.tensor = std::min(1.0, c.tensor_cycles / sub_slots);
  r.pipes.issue = std::min(1.0, c.issue_cycles / sub_slots);
  r.pipes.lsu = std::min(1.0, c.lsu_cycles / slots);
  r.rf.reads = c.rf_reads;
  r.rf.cache_hits = c.rf_hits;
  r.rf.bank_conflict_cycles = c.rf_conflict_cycles;
  r.memory.shared_bytes = c.shared_bytes;
  r.memory.shared_conflict_wavefronts = c.shared_conflict_wavefronts;
  r.memory.l1_bytes = c.l1_bytes;
  r.memory.l2_read_bytes = run.traffic.l2_read_bytes;
  r.memory.l2_write_bytes = run.traffic.l2_write_bytes;
  r.memory.l2_bytes = r.memory.l2_read_bytes + r.memory.l2_write_bytes;
  r.memory.dram_read_bytes = run.traffic.reuse.dram_read_bytes;
  r.memory.dram_write_bytes = run.traffic.reuse.dram_write_bytes;
  r.memory.l2_hit_rate = run.traffic.lookups.hit_rate();
}

Roofline roofline(const Run& run, double l2_cycles) {
  Roofline out;
  const double written = footprint(run.shape, 0, kernels::bytes_of(run.config.dtype_out));
  const double bytes = run.traffic.reuse.compulsory_bytes + written;
  out.arithmetic_intensity = bytes > 0 ? run.shape.flops() / bytes : 0;
  const double compute = run.shape.flops() / peak_operations(run);
  if (run.dram_cycles >= compute && run.dram_cycles >= l2_cycles)
    out.bound = Bound::dram;
  else if (l2_cycles >= compute)
    out.bound = Bound::l2;
  return out;
}

Diagnostic no_warpgroups(const arch::GpuSpec& gpu) {
  return {"",
          0,
          0,
          "family",
          "naive, blocked, clblast, simt or mma (compute capability " + gpu.sm.compute_capability +
              " has neither warpgroup multiplications nor bulk tensor copies)",
          "wgmma"};
}

}  // namespace

Result<SimReport> simulate(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                           const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache) {
  if (kernel.family == kernels::Family::wgmma && !gpu.sm.has_tma) return no_warpgroups(gpu);
  Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, shape);
  if (!resolved) return resolved.errors();
  const kernels::KernelConfig& config = *resolved;

  Result<std::shared_ptr<BuiltKernel>> built = built_kernel(gpu, config, shape, options.switches, cache);
  if (!built) return built.errors();
  const kernels::Program& program = (*built)->program;

  CtaResources resources;
  resources.threads = program.threads;
  resources.registers = config.registers.value_or(program.registers);
  resources.shared_bytes = config.shared_bytes.value_or(program.shared_bytes);
  Result<SmOccupancy> occupancy = occupancy_of(gpu.sm.occupancy, resources);
  if (!occupancy) return occupancy.errors();

  Run run{gpu,
          config,
          shape,
          options,
          options.sm_clock_mhz ? Hertz{*options.sm_clock_mhz * 1e6}
                               : power::highest_clock(gpu, kernels::on_tensor_cores(config.family)),
          {},
          1,
          {},
          {},
          {}};
  run.launch = plan_launch(config, shape, program, gpu.sms);
  run.resident = occupancy->ctas_per_sm;
  solve_traffic(run, program);
  const power::OperatingPoint point = solve_time_and_clock(run, *(*built)->timer, program);
  if (run.sm.deadlock)
    return Diagnostic{"",
                      0,
                      0,
                      "kernel",
                      "a program whose warps can always go on",
                      "warps that wait for ever (a bug in the kernel builder)"};

  SimReport r;
  r.arch_id = gpu.id;
  r.arch_name = gpu.name;
  r.kernel = config;
  r.shape = shape;
  r.grid_ctas = run.launch.ctas;
  r.registers_per_thread = resources.registers;
  r.shared_bytes_per_cta = resources.shared_bytes;
  r.engine = {options.exact, run.sm.simulated_cycles, run.sm.simulated_warp_instructions};
  fill_time(r, run);
  fill_counters(r, run, program);
  r.occupancy.ctas_per_sm = run.resident;
  r.occupancy.warps_per_sm = run.resident * program.warps;
  r.occupancy.limiter =
      run.launch.ctas < static_cast<std::int64_t>(run.resident) * gpu.sms ? Limiter::grid : occupancy->limiter;
  r.occupancy.waves = run.launch.all_tiles / (static_cast<double>(run.resident) * gpu.sms);
  const double us_per_cycle = 1e6 / run.clock.value;
  // Reads and writes have a way each.
  const double l2_cycles = !options.switches.l2 ? 0
                                                : std::max(r.memory.l2_read_bytes / gpu.l2.read_bandwidth.value,
                                                           r.memory.l2_write_bytes / gpu.l2.write_bandwidth.value);
  r.roofline = roofline(run, l2_cycles);
  Limits limits;
  limits.fma = r.pipes.fma * r.time_us;
  limits.tensor = r.pipes.tensor * r.time_us;
  limits.issue = r.pipes.issue * r.time_us;
  limits.lsu = r.pipes.lsu * r.time_us;
  limits.ports = r.rf.bank_conflict_cycles / (static_cast<double>(gpu.sms) * gpu.sm.sub_cores) * us_per_cycle;
  limits.l2 = l2_cycles * us_per_cycle;
  limits.dram = run.dram_cycles * us_per_cycle;
  r.bottleneck = find_bottleneck(r, limits);
  fill_power(r, gpu, options, point);
  const ChipEvents events = chip_events(run, program);
  r.activity_at = [events, times = kernel_times(run)](Hertz clock) { return activity_of(events, times.at(clock)); };
  r.sm_run = std::make_shared<const SmRun>(
      SmRun{*built, run.environment, sm_work(run), run.clock, events, run.launch.active_sms, options.operands});
  r.switches = changed_switches(options.switches);
  r.confidence = confidence_of(r);
  return r;
}

}  // namespace noteg::chip
