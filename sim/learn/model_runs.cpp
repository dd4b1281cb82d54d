#include "sim/learn/model_runs.hpp"

#include "sim/dataset/columns.hpp"
#include "sim/learn/measured_table.hpp"

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

}  // namespace

Result<ModelRun> run_model(const Estimator& estimator, const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                           const kernels::GemmShape& shape, const gpu::SimOptions& options, bool intervals,
                           gpu::SmCache& cache) {
  const bool residual = estimator.model().kind == ModelKind::residual;
  Result<gpu::SimReport> report =
      residual ? gpu::simulate(gpu, kernel, shape, options, cache) : dataset::unsimulated(gpu, kernel, shape, options);
  if (!report) return report.errors();
  Result<std::vector<RowEstimate>> rows = estimator.estimate(one_row(gpu, options, *report, residual), intervals, 1);
  if (!rows) return rows.errors();
  ModelRun run{std::move(*report), std::move(rows->front())};
  if (residual)
    take_residual(estimator.model(), run.estimate, run.report);
  else
    take_direct(estimator.model(), run.estimate, run.report);
  run.report.confidence = {};  // that of the simulator says nothing of the model
  return run;
}

validate::Simulator model_simulator(const Estimator& estimator, gpu::SmCache& cache) {
  return
      [&estimator, &cache](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                           const kernels::GemmShape& shape, const gpu::SimOptions& options) -> Result<gpu::SimReport> {
        Result<ModelRun> run = run_model(estimator, gpu, kernel, shape, options, false, cache);
        if (!run) return run.errors();
        return std::move(run->report);
      };
}

}  // namespace noteg::learn
