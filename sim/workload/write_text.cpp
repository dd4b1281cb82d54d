#include <fmt/format.h>

#include <algorithm>

#include "sim/report/write.hpp"
#include "sim/workload/workload.hpp"

namespace noteg::workload {
namespace {

using report::figure;
using report::three_digits;
using report::Unit;

constexpr std::size_t rows_shown = 60;

std::string time_text(double us) { return figure(us, Unit::microseconds); }
std::string energy_text(double mj) { return figure(mj, Unit::millijoules); }
std::string clocks_text(const CaseResult& r) {
  if (r.highest_clock_mhz - r.lowest_clock_mhz < 1) return fmt::format("{:.0f} MHz", r.highest_clock_mhz);
  return fmt::format("{:.0f} to {:.0f} MHz", r.lowest_clock_mhz, r.highest_clock_mhz);
}

std::string summary(const Results& results) {
  std::size_t wide = 4;
  for (const CaseResult& r : results.cases) wide = std::max(wide, label_of(r).size());
  std::string text = fmt::format("{:<{}}{:>12}{:>12}{:>9}{:>12}{:>12}{:>9}\n", "", wide + 2, "time", "energy", "W",
                                 "tokens/s", "J/token", "speed");
  for (const CaseResult& r : results.cases) {
    const bool tokens = r.step->tokens > 0;
    text += fmt::format("{:<{}}{:>12}{:>12}{:>9.0f}{:>12}{:>12}{:>8}x{}\n", label_of(r), wide + 2, time_text(r.time_us),
                        energy_text(r.energy_mj), r.power_w(), tokens ? three_digits(r.tokens_per_second()) : "-",
                        tokens ? three_digits(r.joules_per_token()) : "-",
                        three_digits(results.cases.front().time_us / r.time_us),
                        r.fits() ? "" : "  does not fit its memory");
  }
  return text;
}

std::string row(const OperationResult& o, const CaseResult& r) {
  const double tflops = o.time_us > 0 ? o.flops / o.time_us * 1e-6 : 0;
  return fmt::format("  {:<27}{:<31}{:>7.0f}{:>10}{:>10}{:>7.1f}%{:>10}{:>9}  {}\n", o.operation->name,
                     shape_text(*o.operation), o.count, time_text(o.each_us()), time_text(o.time_us),
                     100 * o.time_us / r.time_us, energy_text(o.energy_mj), tflops > 0 ? three_digits(tflops) : "-",
                     o.limiter);
}

std::string table(const CaseResult& r) {
  std::string text = fmt::format("  {:<27}{:<31}{:>7}{:>10}{:>10}{:>8}{:>10}{:>9}  {}\n", "operation", "shape", "times",
                                 "each", "all", "share", "energy", "TFLOP/s", "limited by (estimate)");
  std::vector<const OperationResult*> shown;
  for (const OperationResult& o : r.operations) shown.push_back(&o);
  if (shown.size() > rows_shown) {
    std::ranges::stable_sort(shown, [](const auto* a, const auto* b) { return a->time_us > b->time_us; });
    shown.resize(rows_shown);
  }
  double listed = r.waiting_us;
  for (const OperationResult* o : shown) {
    text += row(*o, r);
    listed += o->time_us;
  }
  if (shown.size() < r.operations.size())
    text += fmt::format("  {:<27}{:<31}{:>27}{:>7.1f}%\n", "others",
                        fmt::format("{} operations", r.operations.size() - shown.size()), time_text(r.time_us - listed),
                        100 * (1 - listed / r.time_us));
  if (r.waiting_us > 0)
    text += fmt::format("  {:<27}{:<31}{:>27}{:>7.1f}%\n", "waiting for the host", "", time_text(r.waiting_us),
                        100 * r.waiting_us / r.time_us);
  return text;
}

std::string kernels(const CaseResult& r) {
  std::string text;
  std::vector<std::string> seen;
  for (const OperationResult& o : r.operations) {
    if (o.kernel.empty()) continue;
    const std::string line = fmt::format("  {:<27}{}\n", o.operation->name, o.kernel);
    if (std::ranges::find(seen, line) != seen.end()) continue;
    seen.push_back(line);
    if (seen.size() <= rows_shown) text += line;
  }
  return text;
}

// What stands for each kind of operation; where that differs from step to step, for each of them.
std::string models(const Results& results) {
  struct Model {
    std::string op, as, at;  // at: steps, or operations where the step has no name
  };
  std::vector<Model> models;
  for (const CaseResult& r : results.cases)
    for (const OperationResult& o : r.operations) {
      if (o.modelled_as.empty()) continue;
      const std::string op(name_of(o.operation->op));
      const std::string at = r.step->label.empty() ? o.operation->name : r.step->label;
      const auto known =
          std::ranges::find_if(models, [&](const Model& model) { return model.op == op && model.as == o.modelled_as; });
      if (known == models.end())
        models.push_back({op, o.modelled_as, at});
      else if (("; " + known->at + "; ").find("; " + at + "; ") == std::string::npos)
        known->at += "; " + at;
    }
  std::string text;
  for (const Model& model : models) {
    const bool differs = std::ranges::count(models, model.op, &Model::op) > 1;
    const std::string of = differs ? fmt::format("{} ({})", model.op, model.at) : model.op;
    for (const std::string& line : report::wrap(fmt::format("{}: modelled as {}", of, model.as), 98))
      text += line + "\n";
  }
  return text;
}

}  // namespace

std::string label_of(const CaseResult& r) {
  std::string text = r.of->gpu;
  if (!r.of->condition.empty()) text += ", " + r.of->condition;
  if (!r.step->label.empty()) text += ", " + r.step->label;
  return text;
}

std::string to_text(const Results& results, const Heading& heading) {
  std::string text = fmt::format("workload {}\n", heading.title);
  for (const std::string& note : heading.notes) text += fmt::format("         {}\n", note);
  text += "\n" + summary(results);
  for (const CaseResult& r : results.cases) {
    text += fmt::format("\n{}: {}, {}, {:.0f} W, {}{}\n", label_of(r), time_text(r.time_us), energy_text(r.energy_mj),
                        r.power_w(), clocks_text(r), r.throttled ? ", held down by " + r.throttle_reason : "");
    text += table(r);
  }
  if (!results.cases.empty())
    text += "\nkernels of " + label_of(results.cases.front()) + "\n" + kernels(results.cases.front());
  return text + "\n" + models(results) +
         fmt::format("{} launches, {} distinct ones simulated\n", results.launches, results.distinct);
}

}  // namespace noteg::workload
