#include "sim/learn/model_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/dataset/columns.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/problem.hpp"

namespace noteg::learn {
namespace {

dataset::Table one_row(const arch::GpuSpec& gpu, const gpu::SimOptions& options, const gpu::SimReport& report,
                       bool simulated) {
  dataset::TableBuilder builder([&](dataset::Group group) { return simulated || dataset::known_before(group); });
  builder.add({&gpu, &options, &report});
  return builder.take();
}

// The value of a target of the model, where it has it.
std::optional<double> told(const Model& model, const RowEstimate& estimate, const std::string& name) {
  std::size_t place = 0;
  for (const Part& part : model.parts)
    for (const Target& target : part.targets) {
      if (target.name == name) return estimate.targets[place].value;
      ++place;
    }
  return std::nullopt;
}

void take_direct(const Model& model, const RowEstimate& estimate, gpu::SimReport& report) {
  report.time_us = told(model, estimate, "time_us").value_or(0);
  report.power_w = told(model, estimate, "power_w").value_or(0);
  report.energy_mj = told(model, estimate, "energy_mj").value_or(report.power_w * report.time_us * 1e-3);
  const double rate = report.time_us > 0 ? report.shape.flops() / report.time_us * 1e-6 : 0;
  report.tflops = told(model, estimate, "tflops").value_or(rate);
}

void take_residual(const Model& model, const RowEstimate& estimate, gpu::SimReport& report) {
  report.time_us *= told(model, estimate, time_ratio).value_or(1);
  report.power_w *= told(model, estimate, power_ratio).value_or(1);
  report.energy_mj = report.power_w * report.time_us * 1e-3;
  report.tflops = report.shape.flops() / report.time_us * 1e-6;
}

// A run as a model is asked for it.
struct Asked {
  gpu::SimReport report;
  dataset::Table row;
};

Result<Asked> asked_of(ModelKind kind, const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                       const kernels::GemmShape& shape, const gpu::SimOptions& options, gpu::SmCache& cache) {
  const bool residual = kind == ModelKind::residual;
  Result<gpu::SimReport> report =
      residual ? gpu::simulate(gpu, kernel, shape, options, cache) : dataset::unsimulated(gpu, kernel, shape, options);
  if (!report) return report.errors();
  dataset::Table row = one_row(gpu, options, *report, residual);
  return Asked{std::move(*report), std::move(row)};
}

Result<ModelRun> answer(const Estimator& estimator, const Asked& asked, bool intervals) {
  Result<std::vector<RowEstimate>> rows = estimator.estimate(asked.row, intervals, 1);
  if (!rows) return rows.errors();
  ModelRun run{asked.report, std::move(rows->front())};
  if (estimator.model().kind == ModelKind::residual)
    take_residual(estimator.model(), run.estimate, run.report);
  else
    take_direct(estimator.model(), run.estimate, run.report);
  run.report.confidence = {};  // that of the simulator says nothing of the model
  return run;
}

}  // namespace

Result<ModelRun> run_model(const Estimator& estimator, const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                           const kernels::GemmShape& shape, const gpu::SimOptions& options, bool intervals,
                           gpu::SmCache& cache) {
  const Result<Asked> asked = asked_of(estimator.model().kind, gpu, kernel, shape, options, cache);
  if (!asked) return asked.errors();
  return answer(estimator, *asked, intervals);
}

Result<ModelRun> run_model(const ModelFile& file, const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                           const kernels::GemmShape& shape, const gpu::SimOptions& options, gpu::SmCache& cache) {
  const Result<Asked> asked = asked_of(file.head().kind, gpu, kernel, shape, options, cache);
  if (!asked) return asked.errors();
  const Result<Eigen::MatrixXd> x = feature_matrix(asked->row, file.head().features);
  if (!x) return x.errors();
  const Result<Model> reached = file.reached_by(x->row(0));
  if (!reached) return reached.errors();
  return answer(Estimator(*reached), *asked, true);
}

Result<std::vector<Why>> why_of_run(const Model& model, const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                    const kernels::GemmShape& shape, const gpu::SimOptions& options,
                                    gpu::SmCache& cache) {
  const Result<Asked> asked = asked_of(model.kind, gpu, kernel, shape, options, cache);
  if (!asked) return asked.errors();
  return why(model, asked->row);
}

void OutsideRuns::count(const std::string& reasons) {
  const std::lock_guard lock(mutex_);
  ++runs_;
  if (reasons.empty()) return;
  ++outside_;
  for (std::size_t at = 0; at < reasons.size();) {
    const std::size_t end = std::min(reasons.find("; ", at), reasons.size());
    const std::string one = reasons.substr(at, end - at);
    if (one.starts_with("and ")) break;  // shortened
    Reason& reason = reasons_[one.substr(0, one.find(' '))];
    if (reason.runs++ == 0 || one < reason.example) reason.example = one;  // the same for any number of threads
    at = end + 2;
  }
}

std::string OutsideRuns::sentence() const {
  const std::lock_guard lock(mutex_);
  if (outside_ == 0) return "";
  std::vector<Reason> all;
  for (const auto& [column, reason] : reasons_) all.push_back(reason);
  std::ranges::stable_sort(all, [](const Reason& a, const Reason& b) { return a.runs > b.runs; });
  std::string text = fmt::format("{} of {} runs lie outside what the model was trained on", outside_, runs_);
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 4); ++i)
    text += fmt::format("{} {} ({})", i == 0 ? ":" : ",", all[i].example, all[i].runs);
  return text;
}

validate::Simulator model_simulator(const Estimator& estimator, gpu::SmCache& cache, OutsideRuns* outside) {
  return [&estimator, &cache, outside](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                       const kernels::GemmShape& shape,
                                       const gpu::SimOptions& options) -> Result<gpu::SimReport> {
    Result<ModelRun> run = run_model(estimator, gpu, kernel, shape, options, false, cache);
    if (!run) return run.errors();
    if (outside != nullptr) outside->count(run->estimate.out_of_domain);
    return std::move(run->report);
  };
}

}  // namespace noteg::learn
