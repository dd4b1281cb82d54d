#include "sim/workload/power_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/gpu/operating_point.hpp"
#include "sim/support/arithmetic.hpp"
#include "sim/support/csv.hpp"

namespace noteg::workload {

namespace {

// Adds up, and keeps what the means are weighed with.
class Sum {
 public:
  void add(const power::Activity& a) {
    double warp_instructions = 0, macs = 0;
    for (std::size_t i = 0; i < a.issued.size(); ++i) {
      sum_.issued[i] += a.issued[i];
      warp_instructions += a.issued[i];
    }
    for (const auto& [form, count] : a.tensor_macs) {
      add_macs(form, count);
      macs += count;
    }
    sum_.time += a.time;
    sum_.operands += a.operands;
    sum_.cached_operands += a.cached_operands;
    sum_.data_passes += a.data_passes;
    sum_.data_bytes += a.data_bytes;
    sum_.l2_bytes += a.l2_bytes;
    sum_.dram_read_bytes += a.dram_read_bytes;
    sum_.dram_write_bytes += a.dram_write_bytes;
    sum_.sm_cycles += a.sm_cycles;
    lanes_.add(a.active_lanes, warp_instructions);
    moves_.add(a.moved_activity, a.data_bytes.value);
    padding_.add(a.tensor_padding, macs);
  }

  power::Activity take() {
    sum_.active_lanes = lanes_.mean(sum_.active_lanes);
    sum_.moved_activity = moves_.mean(sum_.moved_activity);
    sum_.tensor_padding = padding_.mean(sum_.tensor_padding);
    return std::move(sum_);
  }

 private:
  struct Mean {
    double sum = 0, weight = 0;
    void add(double value, double by) {
      sum += value * by;
      weight += by;
    }
    [[nodiscard]] double mean(double otherwise) const { return weight > 0 ? sum / weight : otherwise; }
  };

  void add_macs(const std::string& form, double count) {
    const auto found = std::ranges::find(sum_.tensor_macs, form, &std::pair<std::string, double>::first);
    if (found == sum_.tensor_macs.end())
      sum_.tensor_macs.emplace_back(form, count);
    else
      found->second += count;
  }

  power::Activity sum_;
  Mean lanes_, moves_, padding_;
};

}  // namespace

power::Activity sum_at(const std::vector<CountedActivity>& parts, Hertz clock) {
  Sum sum;
  for (const auto& [count, activity_at] : parts) sum.add(activity_at(clock) * count);
  return sum.take();
}

namespace {

// Share of the way to a new value that a first-order lag goes in a step.
double lag(Seconds step, Seconds constant) {
  return constant.value > 0 ? 1.0 - portable::exp(-(step / constant)) : 1.0;
}

// A board and its limiter.
class Board {
 public:
  explicit Board(const Machine& machine) : gpu_(machine.gpu), request_(gpu::clock_request(machine.gpu, machine.sim)) {
    const arch::PowerSpec& p = gpu_.power;
    top_ = request_.given.value_or(power::highest_clock(gpu_, false));
    allowed_ = top_;
    now_ = {Seconds{}, "", top_, p.idle, p.idle, power::idle_temperature(p)};
  }

  TraceRow rest(Seconds time) {
    now_.operation = "idle";
    now_.power = gpu_.power.idle;
    pass(time);
    return now_;
  }

  // All launches of one operation, once.
  TraceRow work(const OperationResult& operation) {
    Joules energy;
    Seconds time;
    for (const LaunchResult& launch : operation.launches) {
      const power::Activity activity = launch.cost.activity_at(clock_for(launch.cost));
      energy += power_at(activity) * activity.time;
      time += activity.time;
    }
    now_.operation = operation.operation->name;
    if (time.value <= 0) return now_;
    now_.power = energy / time;
    pass(time);
    return now_;
  }

 private:
  // Kernels on tensor cores have a lower upper end.
  Hertz clock_for(const LaunchCost& cost) {
    const bool tensor = power::uses_tensor_cores(cost.activity_at(gpu_.clock.sustained));
    now_.clock = std::min(allowed_, request_.given.value_or(power::highest_clock(gpu_, tensor)));
    return now_.clock;
  }

  [[nodiscard]] Watts power_at(const power::Activity& activity) const {
    const arch::PowerSpec& p = gpu_.power;
    const Volts voltage = power::voltage_at(gpu_, now_.clock);
    const Joules events = power::total(power::event_energy(gpu_, activity, voltage, request_.toggling));
    return p.idle - p.leakage + power::leakage(p, now_.temperature, voltage) + events / activity.time;
  }

  // The limiter moves by steps of 15 MHz (the grid of clocks that tools show), as fast as it can go through all of them
  // in ten windows (a guess): down while the mean is above the limit, up while it is below.
  void pass(Seconds time) {
    const arch::PowerSpec& p = gpu_.power;
    now_.time += time;
    now_.averaged += (now_.power - now_.averaged) * lag(time, p.averaging);
    const Celsius settled = p.ambient + p.thermal_resistance * now_.averaged;
    now_.temperature += (settled - now_.temperature) * lag(time, p.thermal_time);
    if (request_.given) return;
    constexpr double grid = 15e6, windows = 10;
    const double error = 1 - now_.averaged / p.limit;
    const double rate = top_.value / (windows * p.averaging.value);
    const double steps = std::round(credit_ + std::clamp(10 * error, -1.0, 1.0) * rate * time.value / grid);
    credit_ += std::clamp(10 * error, -1.0, 1.0) * rate * time.value / grid - steps;
    allowed_ = Hertz{std::clamp(allowed_.value + steps * grid, gpu_.clock.lowest.value, top_.value)};
  }

  const arch::GpuSpec& gpu_;
  power::ClockRequest request_;
  Hertz top_, allowed_;
  double credit_ = 0;  // of a step of the clock that was not yet taken
  TraceRow now_;
};

}  // namespace

std::vector<TraceRow> power_trace(const CaseResult& result, const TraceOptions& options) {
  Board board(result.of->machine);
  std::vector<TraceRow> trace{board.rest(options.idle)};
  do {
    for (const Block& block : result.step->blocks)
      for (std::int64_t repeat = 0; repeat < block.repeat; ++repeat)
        for (const OperationResult& operation : result.operations) {
          const Operation* first = block.operations.data();
          if (operation.operation < first || operation.operation >= first + block.operations.size()) continue;
          for (std::int64_t i = 0; i < operation.operation->count; ++i) trace.push_back(board.work(operation));
        }
  } while (trace.back().time < options.idle + options.duration);
  return trace;
}

std::string to_csv(const std::vector<TraceRow>& trace) {
  std::string text = "time_s,operation,sm_clock_mhz,power_w,averaged_power_w,temperature_c\n";
  for (const TraceRow& row : trace)
    text += fmt::format("{:.9g},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", row.time.value, csv_field(row.operation),
                        row.clock.value * 1e-6, row.power.value, row.averaged.value, row.temperature.value);
  return text;
}

}  // namespace noteg::workload
