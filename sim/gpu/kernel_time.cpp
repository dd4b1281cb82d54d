#include "sim/gpu/kernel_time.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/gpu/dram.hpp"
#include "sim/memory/dram.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::gpu {

namespace {

// Between 0 and `most`, where a value stops to be too small.
template <class IsTooSmall>
double bisected(double most, int halvings, IsTooSmall is_too_small) {
  double low = 0, high = most;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    (is_too_small(middle) ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double load_of(double dram_cycles, double sm_cycles) { return dram_cycles / std::max({1.0, dram_cycles, sm_cycles}); }

// Of the cycles: what waiting for DRAM has to cost, in pilot runs, by the part of the steps for which a run is made.
constexpr double worth_a_run = 0.0002;

// The two runs, side by side where there are threads and the latency is known.
void run_both(SmRuns& runs, const PortRequest& ports, Hertz clock, std::optional<MemoryWait> wait, double dram_cycles,
              const SimOptions& options, SmTimer& timer) {
  const auto run = [&](const sm::MemoryPort& port) {
    if (options.pilot) return timer.estimate(port, runs.work, options.jobs);
    return options.many_shapes ? timer.interpolate(port, runs.work) : timer.run(port, runs.work);
  };
  runs.l2_latency = runs.port.latency;
  sm::MemoryPort to_dram;
  const auto from_dram = [&](double latency) {
    to_dram = port_to_dram(ports, clock, latency);
    runs.dram_latency = to_dram.latency;
    runs.from_dram = run(to_dram);
  };
  // Nobody is faster for waiting longer: a run of shorter waits can be had in the phases of one of longer ones.
  const auto no_faster_for_waiting = [&] {
    if (runs.from_l2.deadlock || runs.from_dram.deadlock) return;
    runs.tell_waits = runs.from_l2.cycles <= runs.from_dram.cycles && SmTimer::pilots_differ(runs.port, to_dram);
    runs.from_l2.cycles = std::min(runs.from_l2.cycles, runs.from_dram.cycles);
  };
  if (runs.waiting > 0 && wait) {
    if (wait->dram_cost && !options.exact) {
      const double cost = *wait->dram_cost;
      if (cost * runs.waiting < worth_a_run) {
        runs.dram_latency = port_to_dram(ports, clock, wait->dram_latency).latency;
        runs.from_dram = runs.from_l2 = run(runs.port);
        runs.from_dram.cycles *= 1 + cost;
        return;
      }
      if (cost * (1 - runs.waiting) < worth_a_run) {
        from_dram(wait->dram_latency);
        runs.from_l2 = runs.from_dram;
        runs.from_l2.cycles /= 1 + cost;
        return;
      }
    }
    share_work(2, options.jobs, {},
               [&](std::size_t i) { i == 0 ? (void)(runs.from_l2 = run(runs.port)) : from_dram(wait->dram_latency); });
    no_faster_for_waiting();
    return;
  }
  runs.from_l2 = run(runs.port);
  if (runs.waiting <= 0 || runs.from_l2.deadlock) return;
  from_dram(dram_latency(ports, clock).at(load_of(dram_cycles, runs.from_l2.cycles)));
  no_faster_for_waiting();
}

}  // namespace

double SmRuns::cycles_at(double latency) const {
  return waiting <= 0 ? from_l2.cycles : from_l2.cycles * (1 + waiting * cost_of_waiting(latency));
}

double SmRuns::cost_of_waiting(double latency) const {
  const double waits = std::max(1.0, dram_latency - l2_latency);
  return (from_dram.cycles / std::max(1.0, from_l2.cycles) - 1) * std::max(0.0, latency - l2_latency) / waits;
}

KernelTime::KernelTime(const arch::GpuSpec& gpu, const KernelLaunch& launch, const PortRequest& ports,
                       const SmRuns& runs, const SimOptions& options, double reduction)
    : gpu_(std::make_shared<const arch::GpuSpec>(gpu)),
      runs_(runs),
      reduction_(reduction),
      first_wait_(gpu.dram.latency) {
  meet(ports, options.switches);
  if (!options.switches.tail) factor_ = even_share(launch.geometry, runs.work.ctas);
  const sm::SmResult mixed = runs.mixed();
  const double ctas = std::max(1.0, static_cast<double>(runs.work.ctas));
  prologue_ = mixed.prologue;
  apart_ = mixed.counters.stored_apart();
  epilogue_ = std::max(0.0, mixed.counters.lead_epilogue_cycles) / (ctas * static_cast<double>(launch.geometry.tiles));
}

void KernelTime::meet(const PortRequest& ports, const Switches& switches) {
  ports_ = ports;
  ports_.gpu = gpu_.get();
  runs_.waiting = ports.traffic.waiting_steps;
  launch_ = switches.launch ? ports.launch_time() : Seconds{};
  dram_ = switches.dram ? dram_time(ports.gpu->dram, ports.traffic) : Seconds{};
}

double KernelTime::load_at(Hertz clock) const {
  if (runs_.waiting <= 0) return 0;
  constexpr int halvings = 24;
  const double dram_cycles = (dram_ * clock).value;
  const DramLatency latency = dram_latency(ports_, clock);
  return bisected(1, halvings, [&](double load) {
    return load_of(dram_cycles, factor_ * runs_.cycles_at(latency.at(load))) > load;
  });
}

double KernelTime::dram_latency_at(Hertz clock) const { return dram_latency(ports_, clock).at(load_at(clock)); }

MemoryWait KernelTime::memory_wait_at(Hertz clock) const {
  const double latency = dram_latency_at(clock);
  return {latency, runs_.tell_waits ? std::optional(runs_.cost_of_waiting(latency)) : std::nullopt, l2_wait_at(clock)};
}

KernelTime::L2Work KernelTime::l2_work(Hertz clock) const {
  const Traffic& t = ports_.traffic;
  const arch::L2Spec& l2 = ports_.gpu->l2;
  constexpr double sectors_of_line = 4;
  const double faster = l2_cycles_per_cycle(*ports_.gpu, clock);
  const double written = t.l2_write_bytes * apart_, masks = written * (t.write_beats - 1) * apart_;
  const double stored = written + masks;
  const double sent = stored + t.l2_read_bytes / sectors_of_line * sm::request_beats;
  const double crossing = sent + t.modified_read_bytes * l2.modified_read;
  return {t.l2_read_bytes * t.reads_that_arrive * t.read_beats / (l2.read_bandwidth.value * faster),
          crossing / (l2.write_bandwidth.value * faster), masks / (l2.write_bandwidth.value * faster), sent};
}

// Reads and stores of all SMs meet in a queue each, and a load stands in both. No kernel gets longer by more than its
// loads do, so that L2 is the less busy the longer they wait: the wait is the one that it brings about itself.
double KernelTime::l2_wait_at(Hertz clock) const {
  const double service = ports_.gpu->l2.service.value, latency = runs_.l2_latency;
  if (!ports_.l2_limits || !ports_.latency_limits || service <= 0 || latency <= 0) return 0;
  const L2Work work = l2_work(clock);
  const double cycles = std::max(1.0, cycles_at(clock));
  constexpr int halvings = 12;
  return bisected(latency, halvings, [&](double wait) {
    const double longer = cycles * (1 + wait / latency);
    return memory::queue_wait(work.reads / longer, service) + memory::queue_wait(work.stores / longer, service) > wait;
  });
}

double KernelTime::sm_cycles_at(Hertz clock) const {
  return factor_ * (runs_.waiting > 0 ? runs_.cycles_at(dram_latency_at(clock)) : runs_.from_l2.cycles);
}

// Until the first CTAs ask for something, and behind the last reads, but for what the last CTAs then store.
double KernelTime::dram_idle_cycles(Hertz clock) const {
  const Traffic& t = ports_.traffic;
  const double written =
      (dram_ * clock).value * t.dram_write_bytes / std::max(1.0, t.dram_read_bytes + t.dram_write_bytes);
  return prologue_ + std::max(0.0, epilogue_ - written / std::max(1.0, ports_.waves));
}

double KernelTime::cycles_at(Hertz clock, double sm_cycles) const {
  const Traffic& t = ports_.traffic;
  double stream = dram_.value > 0 ? ((dram_ + first_wait_) * clock).value + dram_idle_cycles(clock) : 0;
  // Nobody waits for what is written, but the kernel has not ended before L2 has taken it all, and what DRAM brings.
  double written = 0;
  if (ports_.l2_limits) {
    const arch::L2Spec& l2 = ports_.gpu->l2;
    const L2Work work = l2_work(clock);
    const double rate = l2.write_bandwidth.value * l2_cycles_per_cycle(*ports_.gpu, clock);
    const double of_fullest = static_cast<double>(ports_.ctas.fullest) / static_cast<double>(ports_.ctas.all);
    // Masks come the way of stores, but are not kept.
    written = std::max(work.stores, work.stores - work.masks + t.dram_read_bytes * l2.filled / rate);
    if (stream > 0) stream += t.found_apart * work.stores;
    if (work.stores > 0) written += prologue_;
    if (l2.sm_write_bandwidth.value > 0)
      written = std::max(written, work.sent_bytes * of_fullest / l2.sm_write_bandwidth.value);
  }
  return std::max({sm_cycles, stream, written}) + reduction_;
}

KernelTime KernelTime::elsewhere(const PortRequest& ports, const Switches& switches, double sm_factor) const {
  KernelTime out = *this;
  out.meet(ports, switches);
  out.factor_ *= sm_factor;
  return out;
}

PortRequest port_request(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options) {
  PortRequest out;
  const Switches& switches = options.switches;
  const sm::SmWork work = busiest_sm_work(gpu, launch, switches);
  out.gpu = &gpu;
  out.traffic = switches.l2 && options.waits_for_dram ? launch.traffic : all_found_in_l2(launch.traffic);
  // Persistent CTAs take tile after tile, of which the last round is seldom full either.
  const LaunchGeometry& grid = launch.geometry;
  out.ctas = {std::llround(grid.all_tiles), grid.ctas_of_busiest() * grid.tiles, launch.occupancy.ctas_per_sm,
              grid.active_sms()};
  out.waves = static_cast<double>(work.ctas) / std::max(1, work.resident);
  out.l2_limits = switches.l2;
  out.dram_limits = switches.dram;
  out.latency_limits = switches.memory_latency;
  out.shares_runs = options.many_shapes;
  out.has_constants = launch.has_constants;
  out.asks_always = launch.arithmetic.tensor_cores && copies_ahead(*launch.program);
  return out;
}

SmRuns run_busiest_sm(const arch::GpuSpec& gpu, const KernelLaunch& launch, const PortRequest& ports, Hertz clock,
                      std::optional<MemoryWait> wait, const SimOptions& options, SmTimer& timer) {
  const double dram_cycles = options.switches.dram ? (dram_time(gpu.dram, ports.traffic) * clock).value : 0;
  SmRuns runs;
  runs.port = port_to_l2(ports, clock);
  runs.waiting = ports.traffic.waiting_steps;
  runs.work = busiest_sm_work(gpu, launch, options.switches);
  runs.work.fidelity = options.exact ? sm::Fidelity::exact : sm::Fidelity::sampled;
  run_both(runs, ports, clock, wait, dram_cycles, options, timer);
  if (options.pilot) return runs;
  const std::int64_t at_most = options.switches.tail ? remainder_on_top(gpu, launch) : 0;
  const std::int64_t more = std::min<std::int64_t>(at_most, runs.mixed().emptied_together);
  if (more > 0) {
    runs.work.ctas += more;
    run_both(runs, ports, clock, wait, dram_cycles, options, timer);
  }
  return runs;
}

}  // namespace noteg::gpu
