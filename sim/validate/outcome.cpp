#include "sim/validate/outcome.hpp"

#include <fmt/format.h>

#include "sim/confidence/confidence.hpp"
#include "sim/power/clock.hpp"
#include "sim/validate/metrics.hpp"

namespace noteg::validate {

namespace {

std::optional<Pair> pair_of(std::optional<double> predicted, std::optional<double> measured) {
  if (!predicted || !measured) return std::nullopt;
  const Pair pair{*predicted, *measured};
  return usable(pair) ? std::optional<Pair>(pair) : std::nullopt;
}

struct PowerAndEnergy {
  double power_w = 0, energy_j = 0;
};

// Where power was taken in a loop of seconds of its own, the limiter settled the clock there, whatever clock the time
// was taken at.
PowerAndEnergy power_of(const MeasuredCase& measured, const arch::GpuSpec& gpu, const gpu::SimReport& report) {
  if (!measured.own_power_run || !report.activity_at) return {report.power_w, report.energy_mj * 1e-3};
  power::ClockRequest request;
  request.gpu = &gpu;
  request.toggling = measured.options.operands;
  const power::OperatingPoint settled = power::solve_clock(request, report.activity_at);
  return {settled.board.power.value, power::total(settled.board.energy).value};
}

}  // namespace

Outcome outcome_of(const MeasuredCase& measured, const arch::GpuSpec& gpu, const gpu::SimReport& report) {
  Outcome outcome;
  outcome.status = Status::predicted;
  Prediction& p = outcome.prediction;
  const bool own_reduction = report.kernel.split_k > 1 && report.kernel.split_k_mode == kernels::SplitKMode::parallel;
  p.time_ms = with_host(measured.host, report.time_us, own_reduction ? 2 : 1) * 1e-3;
  const gpu::TimeRange& interval = report.confidence.widest();
  p.time_low_ms = p.time_ms * interval.low_us / report.time_us;
  p.time_high_ms = p.time_ms * interval.high_us / report.time_us;
  p.shape = measured.shape;
  p.situation = gpu::situation_of(report, gpu, measured.options);
  p.other_kernels = measured.quantises;
  const PowerAndEnergy power = power_of(measured, gpu, report);
  const double idle = gpu.power.idle.value;
  if (power.power_w > 0) p.power_w = idle + (power.power_w - idle) * measured.meter_share;
  if (power.energy_j > 0) p.energy_j = power.energy_j;
  p.sm_clock_mhz = report.sm_clock_mhz;
  p.dram_bytes = report.memory.dram_read_bytes + report.memory.dram_write_bytes;
  p.warp_instructions = report.warp_instructions;
  p.waves = report.occupancy.waves;
  p.family = name_of(report.kernel.family);
  p.half = half_of(measured.shape);
  p.host_included = measured.host.floor_us > 0;
  outcome.time_ms = pair_of(p.time_ms, measured.time_ms);
  outcome.power_w = pair_of(p.power_w, measured.power_w);
  outcome.energy_j = pair_of(p.energy_j, measured.energy_j);
  if (measured.time_ms && !outcome.time_ms)
    outcome.status = Status::skipped, outcome.reason = fmt::format("the model gave no usable time ({} ms)", p.time_ms);
  return outcome;
}

}  // namespace noteg::validate
