#include "sim/gpu/simulate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/gpu/confidence.hpp"
#include "sim/gpu/footprint.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/gpu/peak_rate.hpp"
#include "sim/gpu/power_use.hpp"
#include "sim/gpu/recording.hpp"
#include "sim/gpu/run.hpp"
#include "sim/gpu/run_events.hpp"
#include "sim/gpu/run_report.hpp"
#include "sim/gpu/run_time.hpp"
#include "sim/gpu/sm_cache.hpp"
#include "sim/support/quantity_text.hpp"

namespace noteg::gpu {

namespace {

void solve_traffic(Run& run, const kernels::Program& program) {
  run.traffic = plan_traffic({&run.gpu, &run.config, &run.shape, &program, &run.launch, run.resident, run.options.l2});
  if (!run.options.switches.l2 || !run.options.waits_for_dram) {
    run.traffic.reuse.dram_read_bytes = 0;
    run.traffic.reuse.waiting_steps = 0;
  }
}

Grade wanted_grade(const SimOptions& options) {
  if (options.rough) return Grade::rough;
  return options.exact ? Grade::exact : options.share_runs ? Grade::shared : Grade::periodic;
}

// L2 holds nobody up that asks for no more than this share of what it delivers (a judgement).
constexpr double l2_at_ease = 0.5;

// Whether the time that was found may depend on how much L2 delivers in a cycle.
bool l2_matters(const Run& run) {
  const double sector = run.gpu.sm.memory.sector.value;
  const sm::CoreCounters& c = run.sm.counters;
  const sm::MemoryEnvironment& e = run.environment;
  const double reads = c.read_sectors * sector * (1.0 - e.l1_hit_rate) / e.read_bytes_per_cycle;
  return reads + c.write_sectors * sector / e.write_bytes_per_cycle > l2_at_ease * run.sm.cycles;
}

// The same before anything was run: if the kernel were as fast as its pipes.
bool l2_may_matter(const Run& run) {
  const arch::L2Spec& l2 = run.gpu.l2;
  const double transfer = run.traffic.l2_read_bytes * run.traffic.reads_that_arrive / l2.read_bandwidth.value +
                          run.traffic.l2_write_bytes / l2.write_bandwidth.value;
  return transfer > l2_at_ease * run.shape.flops() / (2.0 * run.gpu.sms * peak_rate(run.gpu.sm, run.config));
}

// Whether the SM's time in cycles may depend on the clock at all: by an L2 with a clock of its own, by waits for DRAM,
// or by the reduction of split-K, which is a launch of its own.
bool clock_matters(const Run& run) {
  return (run.gpu.l2.own_clock && l2_may_matter(run)) || run.traffic.reuse.waiting_steps > 0 ||
         run.traffic.reuse.c_missing > 0 || run.launch.grid.split_k > 1;
}

// Latencies in cycles depend on the clock, the clock on the power, the power on the time. Each round steps through the
// kernel at the clock that the round before allowed, cheaply; the grade that was asked for runs once, at the clock that
// came out, so that all grades see the same one. What a look sees of the clock is L2's bytes per cycle, where they
// matter. Where cycles know nothing of the clock, nothing is sought.
power::OperatingPoint solve_time_and_clock(Run& run, SmTimer& timer, const kernels::Program& program, Grade wanted) {
  const bool searches = wanted != Grade::rough && clock_matters(run);
  const int rounds = searches ? 4 : 1;
  constexpr double settled = 0.005;
  power::OperatingPoint point;
  double stepped_cycles = 0, stepped_instructions = 0;
  EnvironmentClocks looked_at{run.clock, run.clock};
  const auto step_through = [&](Grade grade) {
    const EnvironmentClocks clocks = grade == wanted ? EnvironmentClocks{run.clock, run.clock} : looked_at;
    solve_time(run, timer, program, grade, clocks, {looked_at, grade == wanted ? run.sm.cycles : 0});
    stepped_cycles += run.sm.simulated_cycles;
    stepped_instructions += run.sm.simulated_warp_instructions;
    point = operating_point(run.gpu, run.options, chip_events(run, program),
                            [&run](Hertz clock) { return kernel_times(run).at(clock); });
  };
  const auto take_clock = [&] {
    run.kernel_cycles = kernel_times(run).cycles_at(point.clock).value;
    run.dram_cycles *= point.clock / run.clock;
    run.clock = point.clock;
  };
  const bool is_shared = wanted == Grade::shared && !timer.flows(sm_work(run));
  const bool search = searches && !run.options.sm_clock_mhz && !is_shared;
  for (int round = 0; round < rounds; ++round) {
    step_through(search ? Grade::search : wanted);
    const double step = std::abs(point.clock / run.clock - 1.0);
    take_clock();
    if (step < settled || run.sm.deadlock) break;
    if (l2_matters(run)) looked_at.l2 = run.clock;
  }
  if (search && !run.sm.deadlock) {
    step_through(wanted);
    take_clock();
  }
  run.sm.simulated_cycles = stepped_cycles;
  run.sm.simulated_warp_instructions = stepped_instructions;
  return point;
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

std::optional<Diagnostic> beyond_memory(const arch::GpuSpec& gpu, const kernels::KernelConfig& types,
                                        const kernels::GemmShape& shape) {
  const Bytes needed{footprint(shape, types)};
  if (needed <= gpu.dram.size) return std::nullopt;
  return Diagnostic{
      "",
      0,
      0,
      "shape",
      "operands that fit the memory of " + gpu.id + ", " + format_quantity(gpu.dram.size) + " (dram.size)",
      fmt::format("A, B and C of {:.6g} GB", needed.value * 1e-9)};
}

Result<SimReport> simulate(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                           const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache) {
  return simulate_as(gpu, kernel, shape, options, cache, wanted_grade(options));
}

Result<SimReport> simulate_as(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                              const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache, Grade grade) {
  if (kernel.family == kernels::Family::wgmma && !gpu.sm.has_tma) return no_warpgroups(gpu);
  Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, shape);
  if (!resolved) return resolved.errors();
  const kernels::KernelConfig& config = *resolved;
  if (const std::optional<Diagnostic> error = beyond_memory(gpu, config, shape)) return *error;

  Result<std::shared_ptr<BuiltKernel>> built = built_kernel(gpu, config, shape, options.switches, cache);
  if (!built) return built.errors();
  const kernels::Program& program = *(*built)->program;

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
                               : power::highest_clock(gpu, kernels::on_tensor_cores(config)),
          {},
          1,
          {},
          {},
          {}};
  run.launch = plan_launch(config, shape, program, gpu.sms);
  run.resident = occupancy->ctas_per_sm;
  if (config.attention.causal) run.launch.trips = causal_trips(config, shape, run.launch, run.resident, gpu.sms);
  solve_traffic(run, program);
  const power::OperatingPoint point = solve_time_and_clock(run, *(*built)->timer, program, grade);
  if (run.sm.deadlock)
    return Diagnostic{"",
                      0,
                      0,
                      "kernel",
                      "a program whose warps can always go on",
                      "warps that wait for ever (a bug in the kernel builder)"};

  SimReport r = report_of(run, program, resources, *occupancy);
  fill_power(r, gpu, options, point);
  r.bottleneck =
      estimated_bottleneck(r, limits_of(r, run), power::highest_clock(gpu, kernels::on_tensor_cores(config)));
  const ChipEvents events = chip_events(run, program);
  r.activity_at = [events, times = kernel_times(run)](Hertz clock) { return activity_of(events, times.at(clock)); };
  r.sm_run = std::make_shared<const SmRun>(SmRun{*built, run.environment, sm_work(run), run.clock, events,
                                                 run.launch.active_sms, gpu.sms, gpu.sm.sub_cores,
                                                 gpu.sm.memory.sector.value, options.operands});
  if (!options.rough) r.confidence = confidence_of(r, gpu, options);
  return r;
}

}  // namespace noteg::gpu
