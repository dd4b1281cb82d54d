#include "sim/compiled/class_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/compiled/program.hpp"
#include "sim/compiled/cta_schedule.hpp"
#include "sim/gpu/kernel_report.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/gpu/sm_cache.hpp"
#include "sim/support/work_sharing.hpp"

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

// The traffic of a part of the CTAs, by what they read and store.
gpu::Traffic part_of(gpu::Traffic all, double read, double stored) {
  for (double* each : {&all.l2_read_bytes, &all.l2_lookups, &all.modified_read_bytes, &all.dram_read_bytes,
                       &all.compulsory_bytes, &all.opened_rows})
    *each *= read;
  for (double* each : {&all.l2_write_bytes, &all.dram_write_bytes}) *each *= stored;
  return all;
}

// What a CTA of a class reads and stores in global memory, over the mean CTA of the launch.
struct Weight {
  double read = 1, stored = 1;
};

Weight weight_of(const CtaClass& cta, const Profile& profile, const Launch& launch) {
  struct Sum {
    double of_class = 0, of_all = 0;
    [[nodiscard]] double ratio() const { return of_all > 0 ? of_class / of_all : 1; }
  } read, stored;
  const auto ctas = static_cast<double>(launch.ctas());
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    const InstructionCounts& all = profile.counts[i];
    if (all.warps <= 0) continue;
    const Step& step = profile.code.steps[i];
    const double bulk = profile.bulk_sectors[i];
    const bool stores = bulk > 0 ? !is_bulk_load(*step.in) : is_store(step.semantics);
    Sum& sum = stores ? stored : read;
    sum.of_class += cta.counts[i].sectors + bulk * cta.counts[i].warps / all.warps;
    sum.of_all += (all.sectors + bulk) / ctas;
  }
  return {read.ratio(), stored.ratio()};
}

// By class: what a CTA reads and stores, mean of those that run at one time with CTAs of the class, `together` of them.
std::vector<Weight> weights_beside(const Profile& profile, const Launch& launch, std::int64_t together) {
  struct Beside {
    double ctas = 0, read = 0, stored = 0;
  };
  const std::size_t n = profile.classes.size();
  std::vector<Weight> own;
  for (const CtaClass& each : profile.classes) own.push_back(weight_of(each, profile, launch));
  std::vector<Beside> of_class(n);
  std::vector<double> share(n);  // of the CTAs that run now
  std::vector<std::size_t> seen;
  Beside now;
  const auto add = [&](std::size_t at, double part) {
    if (part <= 0) return;
    if (share[at] == 0) seen.push_back(at);
    share[at] += part;
    now.read += part * own[at].read, now.stored += part * own[at].stored;
  };
  const auto close = [&] {
    for (const std::size_t at : seen) {
      of_class[at].ctas += share[at];
      of_class[at].read += share[at] * now.read / now.ctas;
      of_class[at].stored += share[at] * now.stored / now.ctas;
      share[at] = 0;
    }
    seen.clear();
    now = {};
  };
  for_each_cta(profile.cells, launch, [&](const CtaCells::Ends& ends, double part) {
    add(ends.first, 1 - part);
    add(ends.last, part);
    now.ctas += 1;
    if (now.ctas >= static_cast<double>(together)) close();
  });
  if (now.ctas > 0) close();
  std::vector<Weight> out;
  for (const Beside& each : of_class)
    out.push_back(each.ctas > 0 ? Weight{each.read / each.ctas, each.stored / each.ctas} : Weight{});
  return out;
}

class ClassTimer {
 public:
  explicit ClassTimer(const ClassRequest& of) : of_(of), body_us_(of.profile->classes.size()) {}

  Result<LaunchTime> launch_time() {
    const std::size_t reported = most_work(), n = body_us_.size();
    const Launch& launch = of_.request->launch;
    if (n > 1)
      weights_ = weights_beside(*of_.profile, launch, std::int64_t{of_.request->gpu->sms} * of_.occupancy.ctas_per_sm);
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(instructions(i), i); });
    // One CTA for each SM, and as many as it holds, tell what a CTA has of an SM of its own.
    const std::int64_t sms = of_.request->gpu->sms, resident = of_.occupancy.ctas_per_sm;
    std::vector<Part> parts{{reported, launch.ctas(), false}};
    if (n > 1) {
      parts.emplace_back(reported, launch.ctas());
      for (const std::size_t end : {order.front(), order.back()})
        if (end != reported) parts.emplace_back(end, launch.ctas());
    }
    const std::size_t alone = parts.size();
    if (n > 1 && resident > 1)
      for (const std::int64_t ctas : {sms, sms * resident}) parts.emplace_back(reported, ctas);
    if (Diagnostics wrong = time_parts(parts); !wrong.empty()) return wrong;
    out_.report = *parts.front().report;
    out_.program = parts.front().program;
    out_.origin = parts.front().origin;
    if (n == 1) return std::move(out_);
    for (std::size_t i = 0; i < alone; ++i) body_us_[parts[i].at] = parts[i].body_us();
    if (Diagnostics wrong = time_between(order); !wrong.empty()) return wrong;
    const double share = alone == parts.size() ? 1.0
                                               : std::clamp(parts[alone].body_us() / parts[alone + 1].body_us(),
                                                            1.0 / static_cast<double>(resident), 1.0);
    const CtaSlots slots{of_.request->gpu->sms, of_.occupancy.ctas_per_sm, share};
    const std::vector<double> even(static_cast<std::size_t>(launch.ctas()), 1.0);
    std::vector<double> lengths;
    for (const auto& each : body_us_) lengths.push_back(*each);
    const double body = makespan(lengths_of_ctas(of_.profile->cells, launch, lengths), slots) / makespan(even, slots);
    const double as_reported = of_.profile->classes[reported].warp_instructions * static_cast<double>(launch.ctas());
    out_.report.ipc *= of_.profile->warp_instructions() / std::max(1.0, as_reported);
    gpu::change_time(out_.report, out_.report.phases_us.launch + body);
    return std::move(out_);
  }

 private:
  [[nodiscard]] double instructions(std::size_t i) const { return of_.profile->classes[i].warp_instructions; }

  [[nodiscard]] std::size_t most_work() const {
    const std::vector<CtaClass>& all = of_.profile->classes;
    const auto most = std::ranges::max_element(all, {}, [](const CtaClass& c) { return c.ctas * c.warp_instructions; });
    return static_cast<std::size_t>(most - all.begin());
  }

  Result<gpu::KernelLaunch> launch_of(const CtaClass& cta, std::int64_t ctas, const Weight& weight,
                                      std::vector<std::int32_t>& origin) const {
    const Launch& launch = of_.request->launch;
    Result<TimedProgram> timed = program_of(*of_.profile, cta, launch, of_.footprints->loads, of_.footprints->turns);
    if (!timed) return timed.errors();
    timed->program.registers = of_.resources.registers;
    timed->program.shared_bytes = of_.resources.shared_bytes;
    origin = std::move(timed->origin);
    gpu::KernelLaunch out;
    out.program = std::make_shared<const kernels::Program>(std::move(timed->program));
    out.resources = of_.resources;
    out.occupancy = of_.occupancy;
    out.leaves_room = true;
    out.has_constants = of_.request->listing->has_constants;
    out.geometry.sms = of_.request->gpu->sms;
    out.geometry.ctas = ctas;
    out.geometry.all_tiles = static_cast<double>(ctas);
    const double share = static_cast<double>(ctas) / static_cast<double>(launch.ctas());
    out.traffic = part_of(of_.traffic, share * weight.read, share * weight.stored);
    out.warp_instructions = of_.profile->warp_instructions() * share;
    out.arithmetic = of_.arithmetic;
    out.arithmetic.operations *= share;
    return out;
  }

  // So many CTAs of a class, and what came of them.
  struct Part {
    Part(std::size_t class_at, std::int64_t of_it, bool of_class = true)
        : at(class_at), ctas(of_it), has_own_traffic(of_class) {}

    std::size_t at;
    std::int64_t ctas;
    bool has_own_traffic;  // else that of the mean CTA, which the report is to tell
    Result<gpu::SimReport> report = Diagnostic{};
    std::shared_ptr<const kernels::Program> program;
    std::vector<std::int32_t> origin;
    std::vector<std::string> assumptions;

    [[nodiscard]] double body_us() const { return report->time_us - report->phases_us.launch; }
  };

  void time_part(Part& part, const gpu::SimOptions& options) {
    const Weight weight = part.has_own_traffic ? weights_[part.at] : Weight{};
    for (const CtaClass& cta : with_fewer_barriers(of_.profile->classes[part.at])) {
      const Result<gpu::KernelLaunch> launch = launch_of(cta, part.ctas, weight, part.origin);
      if (!launch) {
        part.report = launch.errors();
        return;
      }
      part.program = launch->program;
      part.report = gpu::simulate_launch(*of_.request->gpu, *launch, options, cache_);
      if (part.report || cta.async.ops.empty()) return;
      part.assumptions.push_back(fmt::format("barriers of the kernel could not be followed ({}); timed with fewer",
                                             part.report.errors().front().found));
    }
  }

  // Side by side.
  Diagnostics time_parts(std::vector<Part>& parts) {
    gpu::SimOptions options = of_.request->options;
    const unsigned jobs = options.jobs;
    if (parts.size() > 1) options.jobs = 1;
    share_work(parts.size(), jobs, {}, [&](std::size_t i) { time_part(parts[i], options); });
    for (const Part& part : parts) {
      if (!part.report) return part.report.errors();
      for (const std::string& text : part.assumptions)
        if (std::ranges::find(out_.assumptions, text) == out_.assumptions.end()) out_.assumptions.push_back(text);
    }
    return {};
  }

  // Of classes in `order`, by instructions, both ends are timed. Those between lie on a line if the one in the middle
  // does; else the same holds for either half.
  Diagnostics time_between(const std::vector<std::size_t>& order) {
    constexpr double close = 0.02;
    using Stretch = std::pair<std::size_t, std::size_t>;
    const auto time_of = [&](std::size_t i) -> std::optional<double>& { return body_us_[order[i]]; };
    const auto on_line = [&](std::size_t a, std::size_t b, std::size_t at) {
      const double length = instructions(order[b]) - instructions(order[a]);
      const double part = length > 0 ? (instructions(order[at]) - instructions(order[a])) / length : 0.5;
      return (1 - part) * *time_of(a) + part * *time_of(b);
    };
    for (std::vector<Stretch> open{{0, order.size() - 1}}; !open.empty();) {
      std::erase_if(open, [](const Stretch& each) { return each.second - each.first < 2; });
      std::vector<Part> middles;
      for (const auto& [from, to] : open)
        if (const std::size_t at = order[(from + to) / 2]; !body_us_[at])
          middles.emplace_back(at, of_.request->launch.ctas());
      if (Diagnostics wrong = time_parts(middles); !wrong.empty()) return wrong;
      for (const Part& each : middles) body_us_[each.at] = each.body_us();
      std::vector<Stretch> halves;
      for (const auto& [from, to] : open) {
        const std::size_t middle = (from + to) / 2;
        if (std::abs(on_line(from, to, middle) / *time_of(middle) - 1) > close) {
          halves.insert(halves.end(), {{from, middle}, {middle, to}});
          continue;
        }
        for (std::size_t i = from + 1; i < to; ++i)
          if (!time_of(i)) time_of(i) = i < middle ? on_line(from, middle, i) : on_line(middle, to, i);
      }
      open = std::move(halves);
    }
    return {};
  }

  const ClassRequest& of_;
  LaunchTime out_;
  gpu::SmCache cache_;
  std::vector<Weight> weights_;                 // of each class
  std::vector<std::optional<double>> body_us_;  // of each class, without the launch
};

}  // namespace

Result<LaunchTime> time_classes(const ClassRequest& of) { return ClassTimer(of).launch_time(); }

}  // namespace noteg::compiled
