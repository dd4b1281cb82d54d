// A model in the place of a simulation, or behind one: a direct model answers from what is known before, a residual one
// corrects what was simulated.
#pragma once

#include "sim/learn/estimate.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::learn {

// What the model says of one run.
struct ModelRun {
  gpu::SimReport report;  // times, power and energy are the model's
  RowEstimate estimate;
};

// Errors: of resolve() and of the simulation, a model that asks for columns that runs do not have.
[[nodiscard]] Result<ModelRun> run_model(const Estimator& estimator, const arch::GpuSpec& gpu,
                                         const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                                         const gpu::SimOptions& options, bool intervals, gpu::SmCache& cache);

// For validate(): both must outlive it.
[[nodiscard]] validate::Simulator model_simulator(const Estimator& estimator, gpu::SmCache& cache);

}  // namespace noteg::learn
