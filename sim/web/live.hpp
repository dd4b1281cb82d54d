// The simulator behind the live page: questions and answers as JSON texts, so that JavaScript needs one function. The
// words of a question are those of the command line, read by the same tables (sim/cli/kernel_options.hpp); what the
// page shows is therefore what the command in its footer prints.
// Left out: files of results, data sets, models, --kernel auto.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/limits/explain.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/support/result.hpp"
#include "sim/trace/recording.hpp"
#include "sim/web/compiled_job.hpp"

namespace noteg::web {

// What a command line says of one run.
struct Job {
  arch::GpuSpec gpu;
  kernels::KernelConfig kernel;
  kernels::GemmShape shape;
  gpu::SimOptions options;
};

// The options of noteg simulate and noteg compare that the page knows.
[[nodiscard]] std::vector<cli::Option> known_options();

// GPU files are read once each; a kernel's runs of an SM are kept between questions. Neither shows in an answer.
class Live {
 public:
  // question: {"ask": ..., "words": [...], ...}. Answers:
  //   about      {}: GPUs, shipped kernels, switches, counters
  //   run        {"depth": "fast" | "full" | "explain"}: facts of the run on the first line, behind it what
  //              noteg simulate --format json prints (explain: with --explain; fast: an estimate by pilot runs)
  //   points     {"axis": "m" | "n" | "k", "values": [...]}: a few figures at each
  //   occupancy  {}: warps per SM over registers, shared memory and threads
  //   watch      {"first": A, "last": B}: what the warps of an SM do, cycle by cycle (watch.hpp)
  //   compare    {}: what noteg compare --format json prints
  // Words with --sass and --launch ask for compiled code: run, occupancy and watch.
  // Mistakes: {"errors": [...]} with the lines that the command would print. Nothing is thrown.
  [[nodiscard]] std::string answer(const std::string& question);

 private:
  [[nodiscard]] Result<Job> job_of(const std::vector<std::string>& words);
  [[nodiscard]] Result<arch::GpuSpec> gpu_of(const cli::Arguments& arguments);
  [[nodiscard]] gpu::SmCache& cache();
  [[nodiscard]] std::string run(const Job& job, const std::string& depth);
  [[nodiscard]] std::string points(const Job& job, const std::string& axis, const std::vector<std::int64_t>& values);
  [[nodiscard]] std::string watch(const Job& job, std::int64_t first, std::int64_t last);
  [[nodiscard]] std::string compare(const std::vector<std::string>& words);
  [[nodiscard]] std::string compiled(const std::string& ask, const std::vector<std::string>& words,
                                     const cli::Arguments& arguments);

  std::map<std::string, arch::GpuSpec> gpus_;
  CompiledJobs compiled_;
  std::unique_ptr<gpu::SmCache> cache_;
  int runs_ = 0;  // since the cache was empty
};

[[nodiscard]] std::string about();
[[nodiscard]] std::string occupancy_curves(const arch::GpuSpec& gpu, const gpu::SimReport& report);
[[nodiscard]] std::string errors_json(const Diagnostics& errors);

// A watched stretch of a run as JSON: the listing with what each instruction cost there, and for each warp its issues
// and waits. Behind the timeline of warps and the source view of the live page.

// begin, end, iterations; code: text, issues, waits by reason (warp cycles, of the wait before the issue), producers
// (pcs whose result or dependence counter the instruction needs); warps: [warp, sub-core, issues [cycle, pc, ...],
// waits [from, until, reason, ...]], flat lists. A wait that has not ended lasts to the window's end.
[[nodiscard]] std::string watched(const gpu::Recording& recording, const arch::GpuSpec& gpu);

}  // namespace noteg::web
