// A model in the place of a simulation, or behind one: a direct model answers from what is known before, a residual one
// corrects what was simulated.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "sim/learn/estimate.hpp"
#include "sim/learn/model_file.hpp"
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

// The same, with intervals, by a model that is still in its file and of which one question needs little.
[[nodiscard]] Result<ModelRun> run_model(const ModelFile& file, const arch::GpuSpec& gpu,
                                         const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                                         const gpu::SimOptions& options, gpu::SmCache& cache);

// Why the model says that of one run.
[[nodiscard]] Result<std::vector<Why>> why_of_run(const Model& model, const arch::GpuSpec& gpu,
                                                  const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                                                  const gpu::SimOptions& options, gpu::SmCache& cache);

// Runs that lay outside what the model was trained on, by the column that says so. Safe for many threads.
class OutsideRuns {
 public:
  void count(const std::string& reasons);  // RowEstimate::out_of_domain
  // One sentence, the most frequent columns first; empty where every run lay inside.
  [[nodiscard]] std::string sentence() const;

 private:
  struct Reason {
    std::size_t runs = 0;
    std::string example;
  };
  mutable std::mutex mutex_;
  std::size_t runs_ = 0, outside_ = 0;
  std::map<std::string, Reason> reasons_;
};

// For validate(): all must outlive it. outside may be null.
[[nodiscard]] validate::Simulator model_simulator(const Estimator& estimator, gpu::SmCache& cache,
                                                  OutsideRuns* outside = nullptr);

}  // namespace noteg::learn
