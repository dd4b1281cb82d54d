#include "sim/compiled/class_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/compiled/program.hpp"
#include "sim/compiled/cta_schedule.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/gpu/sm_cache.hpp"

namespace noteg::compiled {
namespace {

// As it is; should its warps wait for ever, since an act of theirs was not understood: with multiplications only, and
// with neither.
std::vector<CtaClass> with_fewer_barriers(const CtaClass& cta) {
  std::vector<CtaClass> out{cta};
  if (cta.async.ops.empty()) return out;
  CtaClass fewer = cta;
  std::erase_if(fewer.async.ops, [](const auto& each) { return each.second.turns >= 0; });
  fewer.async.turns.clear();
  out.push_back(fewer);
  fewer.async = {};
  out.push_back(fewer);
  return out;
}

// The traffic of a part of the CTAs.
gpu::Traffic part_of(gpu::Traffic all, double share) {
  for (double* each : {&all.l2_read_bytes, &all.l2_write_bytes, &all.l2_lookups, &all.dram_read_bytes,
                       &all.dram_write_bytes, &all.compulsory_bytes, &all.opened_rows})
    *each *= share;
  return all;
}

class ClassTimer {
 public:
  explicit ClassTimer(const ClassRequest& of) : of_(of), body_us_(of.profile->classes.size()) {}

  Result<LaunchTime> launch_time() {
    const std::size_t reported = most_work(), n = body_us_.size();
    if (Diagnostics wrong = time_class(reported, true); !wrong.empty()) return wrong;
    const double launch_us = out_.report.phases_us.launch;
    out_.time_us = out_.report.time_us;
    out_.cycles = out_.report.cycles;
    if (n == 1) return std::move(out_);
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(instructions(i), i); });
    for (const std::size_t end : {order.front(), order.back()})
      if (Diagnostics wrong = time_class(end); !wrong.empty()) return wrong;
    if (Diagnostics wrong = time_between(order, 0, n - 1); !wrong.empty()) return wrong;
    const Result<double> alone = share_alone(reported);
    if (!alone) return alone.errors();
    const Launch& launch = of_.request->launch;
    const CtaSlots slots{of_.request->gpu->sms, of_.occupancy.ctas_per_sm, *alone};
    const std::vector<double> even(static_cast<std::size_t>(launch.ctas()), 1.0);
    std::vector<double> lengths;
    for (const auto& each : body_us_) lengths.push_back(*each);
    const double body = makespan(lengths_of_ctas(of_.profile->cells, launch, lengths), slots) / makespan(even, slots);
    out_.time_us = launch_us + body;
    out_.cycles *= body / std::max(1e-9, out_.report.time_us - launch_us);
    return std::move(out_);
  }

 private:
  [[nodiscard]] double instructions(std::size_t i) const { return of_.profile->classes[i].warp_instructions; }

  [[nodiscard]] std::size_t most_work() const {
    const std::vector<CtaClass>& all = of_.profile->classes;
    const auto most = std::ranges::max_element(all, {}, [](const CtaClass& c) { return c.ctas * c.warp_instructions; });
    return static_cast<std::size_t>(most - all.begin());
  }

  Result<gpu::KernelLaunch> launch_of(const CtaClass& cta, std::int64_t ctas, std::vector<std::int32_t>& origin) const {
    const Launch& launch = of_.request->launch;
    Result<TimedProgram> timed = program_of(*of_.profile, cta, launch, of_.footprints->loads);
    if (!timed) return timed.errors();
    timed->program.registers = of_.resources.registers;
    timed->program.shared_bytes = of_.resources.shared_bytes;
    origin = std::move(timed->origin);
    gpu::KernelLaunch out;
    out.program = std::make_shared<const kernels::Program>(std::move(timed->program));
    out.resources = of_.resources;
    out.occupancy = of_.occupancy;
    out.geometry.sms = of_.request->gpu->sms;
    out.geometry.ctas = ctas;
    out.geometry.all_tiles = static_cast<double>(ctas);
    const double share = static_cast<double>(ctas) / static_cast<double>(launch.ctas());
    out.traffic = part_of(of_.traffic, share);
    out.warp_instructions = of_.profile->warp_instructions() * share;
    out.arithmetic = of_.arithmetic;
    out.arithmetic.operations *= share;
    return out;
  }

  // So many CTAs of a class.
  Result<gpu::SimReport> simulate(std::size_t at, std::int64_t ctas, bool is_reported) {
    for (const CtaClass& cta : with_fewer_barriers(of_.profile->classes[at])) {
      std::vector<std::int32_t> origin;
      const Result<gpu::KernelLaunch> launch = launch_of(cta, ctas, origin);
      if (!launch) return launch.errors();
      Result<gpu::SimReport> timed = gpu::simulate_launch(*of_.request->gpu, *launch, of_.request->options, cache_);
      if (timed && is_reported) out_.program = launch->program, out_.origin = std::move(origin);
      if (timed || cta.async.ops.empty()) return timed;
      std::string text = fmt::format("barriers of the kernel could not be followed ({}); timed with fewer",
                                     timed.errors().front().found);
      if (std::ranges::find(out_.assumptions, text) == out_.assumptions.end()) out_.assumptions.push_back(text);
    }
    return Diagnostic{};
  }

  Diagnostics time_class(std::size_t at, bool is_reported = false) {
    if (body_us_[at]) return {};
    Result<gpu::SimReport> timed = simulate(at, of_.request->launch.ctas(), is_reported);
    if (!timed) return timed.errors();
    body_us_[at] = timed->time_us - timed->phases_us.launch;
    if (is_reported) out_.report = std::move(*timed);
    return {};
  }

  // Of classes [from, to] of `order`, by instructions, both ends are timed. Those between lie on a line if the one in
  // the middle does.
  Diagnostics time_between(const std::vector<std::size_t>& order, std::size_t from, std::size_t to) {
    constexpr double close = 0.02;
    if (to - from < 2) return {};
    const auto on_line = [&](std::size_t a, std::size_t b, std::size_t at) {
      const double length = instructions(order[b]) - instructions(order[a]);
      const double part = length > 0 ? (instructions(order[at]) - instructions(order[a])) / length : 0.5;
      return (1 - part) * *body_us_[order[a]] + part * *body_us_[order[b]];
    };
    const std::size_t middle = (from + to) / 2;
    if (Diagnostics wrong = time_class(order[middle]); !wrong.empty()) return wrong;
    if (std::abs(on_line(from, to, middle) / *body_us_[order[middle]] - 1) > close) {
      if (Diagnostics wrong = time_between(order, from, middle); !wrong.empty()) return wrong;
      return time_between(order, middle, to);
    }
    for (std::size_t i = from + 1; i < to; ++i) {
      std::optional<double>& each = body_us_[order[i]];
      if (!each) each = i < middle ? on_line(from, middle, i) : on_line(middle, to, i);
    }
    return {};
  }

  // CtaSlots::alone, from a wave of one CTA for each SM and one of all slots.
  Result<double> share_alone(std::size_t at) {
    const std::int64_t sms = of_.request->gpu->sms, resident = of_.occupancy.ctas_per_sm;
    if (resident < 2) return 1.0;
    const Result<gpu::SimReport> one = simulate(at, sms, false), all = simulate(at, sms * resident, false);
    if (!one) return one.errors();
    if (!all) return all.errors();
    const double share = (one->time_us - one->phases_us.launch) / (all->time_us - all->phases_us.launch);
    return std::clamp(share, 1.0 / static_cast<double>(resident), 1.0);
  }

  const ClassRequest& of_;
  LaunchTime out_;
  gpu::SmCache cache_;
  std::vector<std::optional<double>> body_us_;  // of each class, without the launch
};

}  // namespace

Result<LaunchTime> time_classes(const ClassRequest& of) { return ClassTimer(of).launch_time(); }

}  // namespace noteg::compiled
