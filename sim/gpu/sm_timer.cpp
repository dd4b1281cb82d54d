#include "sim/gpu/sm_timer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/support/arithmetic.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::gpu {

namespace {

// Instructions that a warp executes in one iteration of the loop whose count comes from the problem.
std::int64_t iteration_length(const sm::DecodedProgram& program) {
  std::vector<std::int64_t> times(program.code.size(), 0);
  for (const bool outer : {true, false}) {
    for (std::int32_t at = 0; at < static_cast<std::int32_t>(program.code.size()); ++at) {
      const sm::DecodedInstruction& in = program.code[static_cast<std::size_t>(at)];
      if (in.action != sm::Action::branch || in.loop < 0) continue;
      const sm::DecodedLoop& loop = program.loops[static_cast<std::size_t>(in.loop)];
      if (loop.is_tiles || loop.is_main != outer) continue;
      for (std::int32_t inside = in.target; inside <= at; ++inside) {
        std::int64_t& count = times[static_cast<std::size_t>(inside)];
        count = outer ? 1 : count * loop.iterations;
      }
    }
  }
  std::int64_t sum = 0;
  for (const std::int64_t count : times) sum += count;
  return std::max<std::int64_t>(1, sum);
}

// Ports rounded so that shapes and clocks share pilot runs, which need no more.
double coarse(double value, double step) {
  return value > 0 ? portable::pow(step, std::round(portable::log(value) / portable::log(step))) : value;
}

sm::MemoryPort coarse(sm::MemoryPort port) {
  constexpr double latency_step = 1.15, rate_step = 1.08;
  port.latency = std::round(coarse(port.latency, latency_step));
  port.read_bytes_per_cycle = coarse(port.read_bytes_per_cycle, rate_step);
  port.write_bytes_per_cycle = coarse(port.write_bytes_per_cycle, rate_step);
  for (sm::BoxTraffic& box : port.boxes) box = {coarse(box.bytes, rate_step), coarse(box.cycles, rate_step)};
  return port;
}

// sum += part * factor; what was stepped through counts whole.
void add(sm::SmResult& sum, const sm::SmResult& part, double factor) {
  sum.cycles += part.cycles * factor;
  sum.counters += part.counters * factor;
  sum.prologue += part.prologue * factor;
  sum.stepped_cycles += part.stepped_cycles;
  sum.stepped_warp_instructions += part.stepped_warp_instructions;
  sum.deadlock = sum.deadlock || part.deadlock;
}

}  // namespace

sm::SmResult blend(const sm::SmResult& a, const sm::SmResult& b, double f) {
  sm::SmResult out;
  add(out, a, 1.0 - f);
  add(out, b, f);
  out.ctas = a.ctas;
  out.emptied_together = (f < 0.5 ? a : b).emptied_together;  // as in the run that is nearer
  return out;
}

SmTimer::SmTimer(sm::DecodedProgram program, arch::SmSpec sm, sm::CoreSwitches switches)
    : program_(std::move(program)),
      sm_(std::move(sm)),
      switches_(switches),
      iteration_length_(iteration_length(program_)) {}

bool SmTimer::pilots_differ(const sm::MemoryPort& port, const sm::MemoryPort& other) {
  return coarse(port) != coarse(other);
}

sm::SmResult SmTimer::watch(const sm::MemoryPort& port, sm::SmWork work, sm::Recorder& recorder) const {
  work.recorder = &recorder;
  work.fidelity = sm::Fidelity::exact;
  return sm::run_sm(program_, sm_, switches_, port, work);
}

sm::SmResult SmTimer::run(const sm::MemoryPort& port, const sm::SmWork& work) {
  Done* done = nullptr;
  {
    const std::lock_guard lock(mutex_);
    done = &done_[Key{port, work}];
  }
  std::call_once(done->once, [&] { done->result = sm::run_sm(program_, sm_, switches_, port, work); });
  return done->result;
}

namespace {

// Numbers that `value` lies between, and how far: itself up to `all_to`, further on powers of four times that.
struct Between {
  std::int64_t low, high;
  double share;  // of the way
};

Between between(std::int64_t value, std::int64_t all_to) {
  if (value <= all_to) return {value, value, 0};
  std::int64_t low = all_to;
  while (low * 4 <= value) low *= 4;
  return {low, low * 4, static_cast<double>(value - low) / static_cast<double>(3 * low)};
}

}  // namespace

sm::SmResult SmTimer::interpolate(const sm::MemoryPort& port, const sm::SmWork& work) {
  constexpr std::int64_t all_iterations_to = 16, all_waves_to = 4;
  const bool persistent = work.tiles > 1;
  // The last wave, or whose turn it is, stays what it is.
  const std::int64_t unit = persistent ? 2 : work.resident, count = persistent ? work.tiles : work.ctas;
  const std::int64_t last = (count - 1) % unit + 1;
  const Between iterations = between(work.iterations, all_iterations_to);
  const Between waves = between((count - last) / unit, all_waves_to);
  const auto at = [&](std::int64_t of_loop, std::int64_t whole_waves) {
    sm::SmWork some = work;
    some.iterations = of_loop;
    (persistent ? some.tiles : some.ctas) = whole_waves * unit + last;
    return run(port, some);
  };
  const auto along_iterations = [&](std::int64_t whole_waves) {
    const sm::SmResult low = at(iterations.low, whole_waves);
    return iterations.share > 0 ? blend(low, at(iterations.high, whole_waves), iterations.share) : low;
  };
  sm::SmResult out = along_iterations(waves.low);
  if (waves.share > 0) out = blend(out, along_iterations(waves.high), waves.share);
  out.ctas = work.ctas;
  return out;
}

// Enough to fill most pipelines: so many instructions of all warps of an SM, two iterations at least, and one more than
// copies may run ahead: else nobody waits for them.
std::int64_t SmTimer::pilot_iterations(int resident) const {
  constexpr std::int64_t instructions = 4800, most = 12;
  std::int64_t least = 2;
  for (const sm::DecodedRing& ring : program_.rings) least = std::max<std::int64_t>(least, ring.count + 1);
  least = std::min(least, most);
  return std::clamp(instructions / (iteration_length_ * program_.warps * resident), least, most);
}

// `waves` waves of the CTAs of `wave`, which do the pilot's iterations and so many further ones each.
sm::SmResult SmTimer::estimate_wave(const sm::MemoryPort& port, const sm::SmWork& wave, double further_iterations,
                                    double waves, unsigned jobs) {
  // In long loops the gap between CTAs is a small part of their lives.
  constexpr double long_loop = 32;  // pilots
  const auto pilot = static_cast<double>(wave.iterations);
  const bool has_gap = waves > 1 && further_iterations <= long_loop * pilot, goes_on = further_iterations > 0;
  sm::SmWork two = wave, longer = wave;
  (wave.tiles > 1 ? two.tiles : two.ctas) *= 2;
  longer.iterations *= 2;
  std::vector<sm::SmWork> works{wave};
  if (has_gap) works.push_back(two);
  if (goes_on) works.push_back(longer);
  std::vector<sm::SmResult> runs(works.size());
  share_work(works.size(), jobs, {}, [&](std::size_t i) { runs[i] = run(port, works[i]); });

  sm::SmResult out;
  const sm::SmResult& first = runs.front();
  add(out, first, 1.0);
  if (has_gap) {
    add(out, runs[1], waves - 1);
    add(out, first, 1.0 - waves);
  } else if (waves > 1) {
    add(out, first, waves - 1);
  }
  if (goes_on) {
    const double factor = waves * further_iterations / pilot;
    add(out, first, -factor);
    add(out, runs.back(), factor);
  }
  return out;
}

sm::SmResult SmTimer::estimate(const sm::MemoryPort& given, const sm::SmWork& work, unsigned jobs) {
  const sm::MemoryPort port = coarse(given);
  sm::SmWork wave = work;
  constexpr double interval_step = 1.15;
  wave.start_interval = std::round(coarse(work.start_interval, interval_step));
  wave.end_interval = std::round(coarse(work.end_interval, interval_step));
  wave.constant_fill_interval = std::round(coarse(work.constant_fill_interval, interval_step));
  wave.fidelity = sm::Fidelity::sampled;
  wave.iterations = std::min(work.iterations, pilot_iterations(work.resident));
  wave.tiles = std::min(work.tiles, pilot_tiles);
  const auto further = static_cast<double>(work.iterations - wave.iterations);
  // Work that is no longer than its pilot runs is run itself, and need not be run again where the clock stays.
  constexpr double pilot_runs =
      4;  // one, one of two waves, one of twice the iterations; parts of them for the last wave
  const auto instructions = [&](const sm::SmWork& some, std::int64_t ctas) {
    return static_cast<double>(ctas * some.tiles) *
           static_cast<double>(static_cast<std::int64_t>(program_.code.size()) + some.iterations * iteration_length_);
  };
  sm::SmWork whole = work;
  whole.fidelity = sm::Fidelity::sampled;
  if (instructions(whole, work.ctas) <=
      pilot_runs * instructions(wave, std::min<std::int64_t>(work.resident, work.ctas)))
    return run(given, whole);
  sm::SmResult out;
  if (work.tiles > pilot_tiles) {
    out = estimate_wave(port, wave, further, static_cast<double>(work.tiles) / pilot_tiles, jobs);
  } else {
    const std::int64_t full = std::min<std::int64_t>(work.resident, work.ctas), waves = work.ctas / full;
    wave.ctas = full;
    constexpr std::int64_t last_wave_matters = 4;  // beyond, the last wave counts by its share of CTAs
    const bool apart = waves < last_wave_matters;
    out = estimate_wave(port, wave, further,
                        static_cast<double>(apart ? waves * full : work.ctas) / static_cast<double>(full), jobs);
    wave.ctas = work.ctas % full;
    if (apart && wave.ctas > 0) add(out, estimate_wave(port, wave, further, 1, jobs), 1.0);
  }
  out.ctas = work.ctas;
  return out;
}

}  // namespace noteg::gpu
