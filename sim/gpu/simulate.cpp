#include "sim/gpu/simulate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/families/family.hpp"
#include "kernels/families/triton/triton.hpp"
#include "sim/confidence/confidence.hpp"
#include "sim/gpu/dram.hpp"
#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/gpu/gemm/gemm_traffic.hpp"
#include "sim/gpu/gemm/split_k.hpp"
#include "sim/gpu/kernel_report.hpp"
#include "sim/gpu/limits/bottleneck.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::gpu {

namespace {

// Times the kernel by runs at a clock and settles the operating point with them.
TimedKernel timed_at(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options, Hertz clock,
                     std::optional<MemoryWait> wait, SmTimer& timer) {
  PortRequest ports = port_request(gpu, launch, options);
  if (wait) ports.l2_wait = wait->l2;
  const SmRuns runs = run_busiest_sm(gpu, launch, ports, clock, wait, options, timer);
  const double reduction = reduction_cycles(gpu, launch, runs, clock, options, timer);
  const KernelTime time(gpu, launch, ports, runs, options, reduction);
  const ChipEvents events = chip_events(gpu, launch, ports.traffic, runs);
  const power::OperatingPoint point =
      operating_point(gpu, options, activity_at(events, time, launch.geometry.active_sms()));
  const sm::SmResult stepped = runs.mixed();
  return {ports, runs, time, events, point, stepped.stepped_cycles, stepped.stepped_warp_instructions};
}

Diagnostic diagnostic(std::string key, std::string expected, std::string found) {
  return {"", 0, 0, std::move(key), std::move(expected), std::move(found)};
}

Diagnostic waits_for_ever(const sm::SmResult& run) {
  std::string found = "warps that wait for ever (a bug in whatever made the program)";
  if (!run.blocked.empty()) {
    const sm::BlockedWarp& warp = run.blocked.front();
    found = fmt::format("warp {} waits for ever at instruction {}: {}", warp.warp, warp.pc, sm::name_of(warp.reason));
  }
  return diagnostic("kernel", "a program whose warps can always go on", std::move(found));
}

const char* lack_of(kernels::Needs needs) {
  return needs == kernels::Needs::warpgroup_products ? "neither warpgroup multiplications nor bulk tensor copies"
                                                     : "no multiplications into tensor memory";
}

std::optional<Diagnostic> no_such_family(const arch::GpuSpec& gpu, kernels::Family family) {
  const kernels::Needs needs = family_of(family).traits.needs;
  if (has(gpu.sm, needs)) return std::nullopt;
  std::string others;
  for (const kernels::FamilyDescriptor* other : kernels::all_families)
    if (has(gpu.sm, other->traits.needs)) others += (others.empty() ? "" : ", ") + std::string(other->name);
  return diagnostic("family",
                    others + " (compute capability " + gpu.sm.compute_capability + " has " + lack_of(needs) + ")",
                    std::string(name_of(family)));
}

// What Triton's compiler makes of tl.dot depends on the GPU.
kernels::KernelConfig compiled_for(const arch::GpuSpec& gpu, kernels::KernelConfig kernel) {
  if (kernel.family != kernels::Family::triton || kernel.instruction != kernels::Tile{} || gpu.sm.tensor.wgmma.empty())
    return kernel;
  if (const auto group = kernels::triton_warpgroup_instruction(kernel)) kernel.instruction = *group;
  return kernel;
}

Hertz highest_clock(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options) {
  if (options.sm_clock_mhz) return Hertz{*options.sm_clock_mhz * 1e6};
  return power::highest_clock(gpu, launch.arithmetic.tensor_cores);
}

}  // namespace

Seconds least_time(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options, SmCache& cache) {
  const Switches& switches = options.switches;
  const PortRequest request = port_request(gpu, launch, options);
  const Seconds dram = switches.dram ? dram_time(gpu.dram, request.traffic) : Seconds{};
  Seconds least = dram.value > 0 ? dram + gpu.dram.latency : Seconds{};
  if (switches.launch) least = least + gpu.launch.kernel;
  if (launch.split_k.slices <= 1) return least;
  const std::shared_ptr<SmTimer> timer = sm_timer(launch.program, launch.addresses, gpu.sm, switches, cache);
  const Hertz highest = highest_clock(gpu, launch, options);
  return least + Cycles{least_reduction_cycles(gpu, launch, request, highest, options, *timer)} / highest;
}

// Of what L2 can deliver, what the SMs drew in a run in which all came from there.
double l2_load(const TimedKernel& timed, Hertz clock) {
  return timed.time.l2_work(clock).reads / std::max(1.0, timed.runs.from_l2.cycles);
}

// CTAs drift apart where SMs want more than L2 delivers: it then serves them unequally (sm.drift_full_l2). Absent where
// that changes nothing.
std::optional<KernelLaunch> with_drift(const arch::GpuSpec& gpu, const KernelLaunch& launch, const TimedKernel& timed,
                                       Hertz clock) {
  if (!launch.when_l2_is_full) return std::nullopt;
  const double even = gpu.sm.l2_even_below, uneven = gpu.sm.l2_uneven_above;
  const double full = (l2_load(timed, clock) - even) / std::max(1e-9, uneven - even);
  if (full <= 0) return std::nullopt;
  KernelLaunch out = launch;
  out.traffic = between(launch.traffic, *launch.when_l2_is_full, std::min(full, 1.0));
  return out;
}

// Pilot runs at the highest clock, and at the DRAM load that this kernel would have if nothing waited, find the
// operating point; the runs themselves are made at its ports, and it is settled once more with them. That moves it so
// little that runs at the new one would find the same.
Result<TimedKernel> time_kernel(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options,
                                SmCache& cache) {
  const std::shared_ptr<SmTimer> timer = sm_timer(launch.program, launch.addresses, gpu.sm, options.switches, cache);
  const Hertz highest = highest_clock(gpu, launch, options);
  SimOptions pilot = options;
  pilot.pilot = true;
  TimedKernel out = timed_at(gpu, launch, pilot, highest, std::nullopt, *timer);
  const std::optional<KernelLaunch> drifted = with_drift(gpu, launch, out, highest);
  const KernelLaunch& timed_launch = drifted ? *drifted : launch;
  if (options.pilot && drifted) out = timed_at(gpu, timed_launch, pilot, highest, std::nullopt, *timer);
  const auto waiting = [&out]() -> const sm::SmResult* {
    return out.runs.from_l2.deadlock ? &out.runs.from_l2 : out.runs.from_dram.deadlock ? &out.runs.from_dram : nullptr;
  };
  if (!options.pilot) {
    const Hertz clock = waiting() != nullptr ? highest : out.point.clock;
    out = timed_at(gpu, timed_launch, options, clock, out.time.memory_wait_at(clock), *timer);
  }
  if (const sm::SmResult* run = waiting()) return waits_for_ever(*run);
  return out;
}

Result<SimReport> simulate_launch(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options,
                                  SmCache& cache) {
  const Result<TimedKernel> timed = time_kernel(gpu, launch, options, cache);
  if (!timed) return timed.errors();
  SimReport r = report_of(gpu, launch, options, *timed);
  fill_power(r, gpu, options, timed->point);
  r.activity_at = activity_at(timed->events, timed->time, launch.geometry.active_sms());
  r.bottleneck = estimated_bottleneck(r, limits_of(r, gpu), clock_request(gpu, options),
                                      power::highest_clock(gpu, launch.arithmetic.tensor_cores));
  r.sm_run = std::make_shared<const SmRun>(
      SmRun{launch.program, sm_timer(launch.program, launch.addresses, gpu.sm, options.switches, cache), *timed,
            launch.geometry.active_sms(), gpu.sms, gpu.sm.sub_cores, gpu.sm.memory.sector.value, options.operands});
  return r;
}

std::optional<Diagnostic> beyond_memory(const arch::GpuSpec& gpu, const kernels::KernelConfig& types,
                                        const kernels::GemmShape& shape) {
  const Bytes needed{footprint(shape, types)};
  if (needed <= gpu.dram.size) return std::nullopt;
  return diagnostic(
      "shape", "operands that fit the memory of " + gpu.id + ", " + format_quantity(gpu.dram.size) + " (dram.size)",
      fmt::format("A, B and C of {:.6g} GB", needed.value * 1e-9));
}

Result<KernelLaunch> launch_of(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                               const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache) {
  if (const std::optional<Diagnostic> error = no_such_family(gpu, kernel.family)) return *error;
  const Result<kernels::KernelConfig> resolved = kernels::resolve(compiled_for(gpu, kernel), shape);
  if (!resolved) return resolved.errors();
  if (const std::optional<Diagnostic> error = beyond_memory(gpu, *resolved, shape)) return *error;
  return gemm_launch(gpu, *resolved, shape, options.l2, cache);
}

Result<SimReport> simulate(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                           const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache) {
  Result<SimReport> report = Diagnostic{};
  const auto run = [&]() -> Result<SimReport> {
    const Result<KernelLaunch> launch = launch_of(gpu, kernel, shape, options, cache);
    if (!launch) return launch.errors();
    return simulate_launch(gpu, *launch, options, cache);
  };
  // Neither ranks of kernels nor rows of a sweep say how far off such runs were measured.
  const bool is_judged = !options.pilot && !options.many_shapes;
  // The table of measured errors, which the confidence needs, is read beside the runs.
  share_work(is_judged ? 2 : 1, options.jobs, {},
             [&](std::size_t i) { i == 0 ? (void)(report = run()) : (void)shipped_errors(); });
  if (!report) return report.errors();
  report->kernel = *kernels::resolve(compiled_for(gpu, kernel), shape);
  report->shape = shape;
  if (is_judged) report->confidence = confidence_of(*report, gpu, options);
  return report;
}

}  // namespace noteg::gpu
