#include "sim/compare/compare.hpp"

#include <optional>

#include "sim/gpu/explain.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::compare {
namespace {

struct Ran {
  kernels::KernelConfig kernel;  // as it was asked for
  std::optional<gpu::SimReport> report;
  Diagnostics errors;
};

Ran run_on(const Contestant& contestant, const KernelFor& kernel_for, const kernels::GemmShape& shape,
           const gpu::SimOptions& sim, gpu::SmCache& cache) {
  Ran out;
  const Result<kernels::KernelConfig> kernel = kernel_for(contestant.gpu);
  if (kernel) {
    out.kernel = *kernel;
    const Result<gpu::Explanation> explained =
        gpu::explain(contestant.gpu, *kernel, shape, sim, cache, gpu::Experiments::decisive);
    if (explained)
      out.report = explained->report;
    else
      out.errors = explained.errors();
  } else {
    out.errors = kernel.errors();
  }
  for (Diagnostic& error : out.errors) error.key = contestant.label + ": " + error.key;
  return out;
}

RunKernel run_with(const gpu::SimOptions& sim, const kernels::GemmShape& shape, gpu::SmCache& cache) {
  return [&cache, sim, shape](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel) -> Result<double> {
    const Result<gpu::SimReport> report = gpu::simulate(gpu, kernel, shape, sim, cache);
    if (!report) return report.errors();
    return report->time_us;
  };
}

Runs runs_of(const kernels::GemmShape& shape, const gpu::SimOptions& sim, gpu::SmCache& cache) {
  gpu::SimOptions burst = sim;
  burst.clock_mode = power::ClockMode::burst;
  const bool is_free = !sim.sm_clock_mhz && sim.clock_mode != power::ClockMode::burst && sim.switches.power;
  return {run_with(sim, shape, cache), is_free ? run_with(burst, shape, cache) : RunKernel{}};
}

}  // namespace

Result<Comparison> compare(std::vector<Contestant> contestants, const KernelFor& kernel_for,
                           const kernels::GemmShape& shape, const CompareOptions& options, gpu::SmCache& cache) {
  std::vector<Ran> ran(contestants.size());
  share_work(ran.size(), options.jobs, {},
             [&](std::size_t i) { ran[i] = run_on(contestants[i], kernel_for, shape, options.sim, cache); });
  Comparison out;
  Diagnostics errors;
  for (Ran& one : ran) {
    errors.insert(errors.end(), one.errors.begin(), one.errors.end());
    if (one.report) out.reports.push_back(std::move(*one.report));
  }
  if (!errors.empty()) return errors;

  std::vector<const arch::GpuSpec*> gpus;
  for (const Contestant& contestant : contestants) gpus.push_back(&contestant.gpu);
  out.differences = arch::differences(gpus);
  if (options.waterfalls && contestants.size() > 1) {
    const Runs run = runs_of(shape, options.sim, cache);
    const auto side = [&](std::size_t i) {
      return Side{contestants[i].label, gpus[i], ran[i].kernel, out.reports[i].time_us};
    };
    out.waterfalls.resize(contestants.size() - 1);
    share_work(out.waterfalls.size(), options.jobs, {},
               [&](std::size_t i) { out.waterfalls[i] = waterfall(side(0), side(i + 1), run); });
  }
  out.contestants = std::move(contestants);
  return out;
}

}  // namespace noteg::compare
