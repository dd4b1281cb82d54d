#include "sim/cli/commands/train_report.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "sim/cli/commands/runs.hpp"
#include "sim/cli/console.hpp"
#include "sim/learn/model_runs.hpp"
#include "sim/learn/training.hpp"
#include "sim/support/text.hpp"
#include "sim/validate/metrics.hpp"
#include "sim/validate/write.hpp"

namespace noteg::cli {
namespace {

using Json = nlohmann::ordered_json;
using learn::HeldOut;
using validate::Metrics;
using validate::Pair;

// One GPU (or all) of one way to hold out: errors of the simulation, and with the model behind it.
struct BeforeAfter {
  std::string split, what, gpu;
  std::size_t rows = 0;
  Metrics before, after;
};

struct Pairs {
  std::vector<Pair> before, after;
};

void add_group(const HeldOut& held, const std::string& what, const std::string& gpu, const Pairs& pairs,
               std::vector<BeforeAfter>& out) {
  const std::optional<Metrics> before = validate::metrics_of(pairs.before), after = validate::metrics_of(pairs.after);
  if (before && after) out.push_back({held.split, what, gpu, pairs.before.size(), *before, *after});
}

// Ratios back to times and powers, so that the errors are those that noteg validate tells.
std::vector<BeforeAfter> before_and_after(const std::vector<HeldOut>& all, const dataset::Table& table,
                                          const std::vector<learn::MeasuredRun>& runs) {
  std::vector<BeforeAfter> out;
  for (const HeldOut& held : all) {
    if (held.features != all.front().features) continue;
    for (std::size_t t = 0; t < held.targets.size(); ++t) {
      const bool time = held.targets[t] == learn::time_ratio;
      std::map<std::string, Pairs> groups;
      const auto add = [&](std::size_t row, const Pair& before, const Pair& after) {
        for (const std::string& gpu : {table.find(learn::gpu_column)->text(row), std::string()}) {
          groups[gpu].before.push_back(before);
          groups[gpu].after.push_back(after);
        }
      };
      std::vector<bool> seen(runs.size(), false);
      for (const learn::Point& point : held.points[t]) {
        const learn::MeasuredRun& run = runs[point.row];
        const double measured = time ? run.measured_us : run.measured_w;
        const Pair before{time ? run.time_for(1) : run.simulated_w, measured};
        const Pair after{time ? run.time_for(point.predicted) : point.predicted * run.simulated_w, measured};
        seen[point.row] = true;
        add(point.row, before, after);
      }
      // Rows that the host hides have no ratio, but they are rows: the simulation's answer stands.
      for (std::size_t row = 0; time && row < runs.size(); ++row) {
        const Pair hidden{runs[row].time_for(1), runs[row].measured_us};
        if (!seen[row] && hidden.measured > 0) add(row, hidden, hidden);
      }
      for (const auto& [gpu, pairs] : groups) add_group(held, time ? "time" : "power", gpu, pairs, out);
    }
  }
  return out;
}

std::string before_after_text(const std::vector<BeforeAfter>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format(
      "\nsimulation, and with the model behind it (rows held out)\n  {:<8}{:<7}{:<24}{:>7}{:>11}{:>9}{:>10}{:>9}\n",
      "by", "", "gpu", "rows", "MAPE", "after", "median", "after");
  for (const BeforeAfter& row : rows)
    text += fmt::format("  {:<8}{:<7}{:<24}{:>7}{:>9.1f} %{:>7.1f} %{:>8.1f} %{:>7.1f} %{}\n", row.split, row.what,
                        row.gpu.empty() ? "(all)" : row.gpu, row.rows, 100 * row.before.mape, 100 * row.after.mape,
                        100 * row.before.median_ape, 100 * row.after.median_ape,
                        row.after.mape > row.before.mape ? "  worse" : "");
  return text;
}

Json before_after_json(const std::vector<BeforeAfter>& rows) {
  Json json = Json::array();
  for (const BeforeAfter& row : rows)
    json.push_back({{"held_out_by", row.split},
                    {"quantity", row.what},
                    {"gpu", row.gpu.empty() ? Json(nullptr) : Json(row.gpu)},
                    {"rows", row.rows},
                    {"mape_simulated", row.before.mape},
                    {"mape_with_model", row.after.mape},
                    {"median_ape_simulated", row.before.median_ape},
                    {"median_ape_with_model", row.after.median_ape}});
  return json;
}

std::string test_text(const TestResult& test) {
  std::string text =
      fmt::format("\nmeasured rows of {}: the model beside the simulator\n  {:<24}{:<10}{:>7}{:>11}{:>9}{:>12}\n",
                  test.file, "gpu", "family", "rows", "MAPE", "median", "simulated");
  const auto line = [&](const validate::Group& group, const validate::Group* simulated, const std::string& gpu,
                        const std::string& family) {
    text +=
        fmt::format("  {:<24}{:<10}{:>7}{:>11}{:>9}{:>12}\n", gpu, family, group.rows,
                    validate::percent(group.time, &Metrics::mape), validate::percent(group.time, &Metrics::median_ape),
                    simulated == nullptr ? "-" : validate::percent(simulated->time, &Metrics::mape));
  };
  for (const validate::Group& group : test.model.groups) {
    const validate::Group* other = nullptr;
    for (const validate::Group& one : test.simulator.groups)
      if (one.keys == group.keys) other = &one;
    line(group, other, group.keys[0], group.keys[1]);
  }
  if (test.model.all) line(*test.model.all, test.simulator.all ? &*test.simulator.all : nullptr, "(all)", "");
  return text + fmt::format("  {} rows skipped\n", test.model.skipped);
}

Json test_json(const TestResult& test) {
  return {{"file", test.file},
          {"model", Json::parse(validate::to_json(test.model, {"gpu", "family"}))},
          {"simulator", Json::parse(validate::to_json(test.simulator, {"gpu", "family"}))}};
}

}  // namespace

Result<std::vector<TestResult>> test_model(const learn::Model& model, const Arguments& arguments, unsigned jobs) {
  std::vector<TestResult> results;
  const learn::Estimator estimator(model);
  gpu::SmCache cache;
  const auto simulator = [&cache](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                  const kernels::GemmShape& shape, const gpu::SimOptions& options) {
    return gpu::simulate(gpu, kernel, shape, options, cache);
  };
  tune::KernelChooser chooser;
  for (const std::string& file : arguments.texts("test")) {
    if (!arguments.has("quiet")) tell("measured rows of " + file);
    validate::ValidateOptions options;
    options.jobs = jobs;
    options.chooser = library_kernels(chooser);
    Result<validate::Validation> by_model =
        validate::validate({file}, options, learn::model_simulator(estimator, cache));
    if (!by_model) return by_model.errors();
    Result<validate::Validation> simulated = validate::validate({file}, options, simulator);
    if (!simulated) return simulated.errors();
    results.push_back({file, std::move(*by_model), std::move(*simulated)});
  }
  return results;
}

TrainReport report_of(const learn::Training& training, const dataset::Table& table,
                      const std::vector<learn::MeasuredRun>& runs, const std::vector<TestResult>& tests) {
  const std::vector<BeforeAfter> rows =
      runs.empty() ? std::vector<BeforeAfter>{} : before_and_after(training.held_out, table, runs);
  TrainReport report;
  report.text = learn::training_text(training, table) + before_after_text(rows);
  Json json = Json::parse(learn::training_json(training, table));
  Json metrics = Json::parse(learn::metrics_json(training, table));
  if (!rows.empty()) json["residual"] = metrics["residual"] = before_after_json(rows);
  for (const TestResult& test : tests) {
    report.text += test_text(test);
    json["tests"].push_back(test_json(test));
  }
  report.json = json.dump(2) + "\n";
  report.metrics = metrics.dump();
  return report;
}

std::vector<dataset::Group> group_list(const std::string& text, Diagnostics& errors) {
  std::vector<dataset::Group> groups;
  for (const std::string& name : comma_list(text)) {
    const std::optional<dataset::Group> group = dataset::group_from(name);
    if (group && *group != dataset::Group::target && *group != dataset::Group::other)
      groups.push_back(*group);
    else
      errors.push_back({"", 0, 0, "--features", "config, arch, physics or counter, with commas", "\"" + name + "\""});
  }
  return groups;
}

std::optional<RuleText> rule_text(const std::string& text, Diagnostics& errors) {
  const std::size_t first = text.find(':'), last = text.rfind(':');
  if (first != std::string::npos && first < last) {
    const std::string sign = text.substr(last + 1);
    if (sign == "+" || sign == "-")
      return RuleText{text.substr(0, first), text.substr(first + 1, last - first - 1), sign == "+" ? 1 : -1};
  }
  errors.push_back({"", 0, 0, "--monotone", "TARGET:FEATURE:+ or TARGET:FEATURE:-", "\"" + text + "\""});
  return std::nullopt;
}

}  // namespace noteg::cli
