// Compiled code on the live page: a listing and its launch, read from the files that the visitor's text stands in, and
// run once for all questions about it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/compiled/launch_file.hpp"
#include "kernels/compiled/listing/listing.hpp"
#include "sim/compiled/simulate_compiled.hpp"
#include "sim/gpu/sim_options.hpp"

namespace noteg::web {

struct CompiledJob {
  compiled::Listing listing;  // the run looks into it
  compiled::Launch launch;
  arch::GpuSpec gpu;
  gpu::SimOptions options;
  compiled::CompiledRun run;
};

// The last few, by the words of the question and the texts of both files.
class CompiledJobs {
 public:
  [[nodiscard]] Result<std::shared_ptr<const CompiledJob>> job(const std::vector<std::string>& words,
                                                               const std::string& sass, const std::string& launch,
                                                               const arch::GpuSpec& gpu,
                                                               const gpu::SimOptions& options);

 private:
  std::map<std::string, std::shared_ptr<const CompiledJob>> known_;
};

// As watched() of sim/web/watch.hpp, with the listing's text, and "hot": for each instruction of the listing its
// address, text, places in the code that was stepped through, executions, warp cycles, and these by what they waited
// for.
[[nodiscard]] std::string watched(const CompiledJob& job);

}  // namespace noteg::web
