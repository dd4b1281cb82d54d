#include "tests/sm/micro_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "arch/load.hpp"
#include "kernels/assembly/assembly.hpp"

namespace noteg::sm {

const arch::SmSpec& sm_of(const std::string& gpu) {
  static std::map<std::string, arch::SmSpec> known;
  const auto found = known.find(gpu);
  if (found != known.end()) return found->second;
  const Result<arch::GpuSpec> spec = arch::load_gpu(gpu);
  EXPECT_TRUE(spec) << to_string(spec.errors());
  return known.emplace(gpu, spec ? spec->sm : arch::SmSpec{}).first->second;
}

SmResult run_micro(const MicroKernel& kernel, std::int64_t iterations) {
  const Result<kernels::Program> program = kernels::parse_assembly(kernel.text, "micro.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  if (!program) return {};
  arch::SmSpec sm = sm_of(kernel.gpu);
  if (kernel.sub_cores > 0) sm.sub_cores = kernel.sub_cores;
  SmWork work;
  work.resident = kernel.resident;
  work.ctas = kernel.ctas > 0 ? kernel.ctas : kernel.resident;
  work.cta_launch_latency = kernel.cta_launch_latency;
  work.constant_fill_interval = kernel.constant_fill_interval;
  Recorder recorder;
  if (kernel.issues != nullptr) work.recorder = &recorder;
  work.iterations = iterations;
  const SmResult result =
      run_sm(decode(*program, sm, {}, kernel.switches), sm, kernel.switches, kernel.memory_port, work);
  EXPECT_FALSE(result.deadlock);
  if (kernel.issues != nullptr) *kernel.issues = recorder.issues;
  return result;
}

double last_issue_before_exit(MicroKernel kernel) {
  std::vector<IssueRecord> issues;
  kernel.issues = &issues;
  run_micro(kernel, 1);
  EXPECT_GE(issues.size(), 2U);
  const auto exit = issues.empty() ? 0 : std::ranges::max(issues, {}, &IssueRecord::pc).pc;
  std::uint64_t last = 0;
  for (const IssueRecord& issue : issues)
    if (issue.pc < exit) last = std::max(last, issue.cycle);
  return static_cast<double>(last);
}

double cycles_per_iteration(const MicroKernel& kernel) {
  constexpr std::int64_t few = 8, many = 24;
  return (run_micro(kernel, many).cycles - run_micro(kernel, few).cycles) / static_cast<double>(many - few);
}

}  // namespace noteg::sm
