// What a watched run writes down.
#include <cmath>
#include <map>

#include "tests/trace/watched.hpp"

namespace noteg::test {
namespace {

// Issues and waits of a warp are its whole time in the CTA: they follow each other without gaps and without overlaps.
void expect_whole_time(const gpu::Recording& recording) {
  std::map<std::uint64_t, std::uint64_t> by_start;
  for (int warp = 0; warp < recording.run->work().resident * recording.program().warps; ++warp) {
    by_start.clear();
    for (const sm::WaitRecord& wait : recording.log.waits)
      if (wait.warp == warp) by_start[wait.from] = wait.until;
    for (const sm::IssueRecord& issue : recording.log.issues)
      if (issue.warp == warp) by_start[issue.cycle] = issue.cycle + 1;
    ASSERT_FALSE(by_start.empty());
    std::uint64_t at = by_start.begin()->first;
    for (const auto& [from, until] : by_start) {
      ASSERT_EQ(from, at) << "warp " << warp;
      at = until;
    }
  }
}

TEST(Recording, AccountsForEveryCycleOfEveryWarp) {
  expect_whole_time(watched(simulated("rtx4070")));
  expect_whole_time(watched(simulated("a100-pcie-40gb", kernels::Family::mma)));
}

TEST(Recording, WaitsAddUpToTheCountersOfTheRun) {
  const gpu::SimReport report = simulated("rtx4070");
  const gpu::Recording recording = watched(report, {0, 1000});
  std::array<double, sm::stall_count> cycles{};
  for (const sm::WaitRecord& wait : recording.log.waits)
    cycles[static_cast<std::size_t>(wait.reason)] += static_cast<double>(wait.until - wait.from);
  const sm::CoreCounters& counted = recording.log.samples.back().count;
  for (std::size_t i = 0; i < sm::stall_count; ++i) {
    const auto stall = static_cast<sm::Stall>(i);
    if (stall == sm::Stall::drained) continue;  // counted when a CTA ends, not waited
    const double found = stall == sm::Stall::selected ? static_cast<double>(recording.log.issues.size()) : cycles[i];
    EXPECT_EQ(found, counted.stall_cycles[i]) << sm::name_of(stall);
  }
}

TEST(Recording, WatchingChangesNothing) {
  const gpu::SimReport report = simulated("rtx4070");
  const gpu::Recording recording = watched(report, {0, 1000});
  sm::SmWork work = report.sm_run->work();
  work.fidelity = sm::Fidelity::exact;
  work.ctas = std::min<std::int64_t>(work.ctas, work.resident);
  const sm::SmResult unwatched = report.sm_run->timer->run(recording.port, work);
  EXPECT_EQ(static_cast<double>(recording.end), unwatched.cycles);
}

// Steps that wait for DRAM take part: the stretch lasts between one without them and one of nothing else, and warps
// wait for global memory where the report says that they do.
TEST(Recording, LoadsWaitAsTheyDoInTheRun) {
  const gpu::SimReport report = simulated("a100-pcie-40gb", kernels::Family::mma, {4096, 4096, 256, 1});
  const gpu::SmRuns& runs = report.sm_run->timed.runs;
  ASSERT_GT(runs.waiting, 0);
  const gpu::Recording recording = watched(report, {0, 1000});
  EXPECT_GE(recording.port.latency, std::round(runs.l2_latency));
  EXPECT_LE(recording.port.latency, std::round(runs.dram_latency));
  sm::SmWork work = report.sm_run->work();
  work.ctas = std::min<std::int64_t>(work.ctas, work.resident);
  sm::MemoryPort slow = report.sm_run->port();
  slow.latency = std::round(runs.dram_latency);
  const double fast = report.sm_run->timer->run(report.sm_run->port(), work).cycles;
  const double mean = fast + runs.waiting * (report.sm_run->timer->run(slow, work).cycles - fast);
  EXPECT_NEAR(static_cast<double>(recording.end), mean, 0.03 * mean);
}

TEST(Recording, WindowHoldsItsIterationsAndNoMore) {
  const gpu::SimReport report = simulated("rtx4070");
  const gpu::Recording two = watched(report, {2, 3}), three = watched(report, {2, 4});
  EXPECT_EQ(two.begin, three.begin);
  EXPECT_LT(two.end, three.end);
  EXPECT_EQ(two.begin, two.iteration_begins[1]);
  EXPECT_EQ(two.end, two.iteration_begins[3]);
  EXPECT_EQ(watched(report, {0, 1}).begin, 0u);
}

TEST(Recording, RefusesAWindowBehindTheLastIteration) {
  const Result<gpu::Recording> recording = gpu::record(simulated("rtx4070"), {1000, 1001});
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.errors().front().key, "--window");
}

TEST(Recording, UnitsWorkAsLongAsTheCountersSay) {
  const gpu::Recording recording = watched(simulated("a100-pcie-40gb", kernels::Family::mma), {0, 1000});
  double tensor = 0;
  for (const sm::UseRecord& use : recording.log.uses)
    if (use.unit == sm::RecordedUnit::tensor) tensor += static_cast<double>(use.until - use.from);
  const double counted = recording.log.samples.back().count.tensor_cycles;
  EXPECT_GT(counted, 0);
  EXPECT_NEAR(tensor, counted, 0.01 * counted + 1);
}

TEST(Recording, PowerLiesBetweenIdleAndSeveralTimesTheMean) {
  const gpu::SimReport report = simulated("rtx4070");
  const gpu::Recording recording = watched(report, {2, 12});
  const arch::GpuSpec gpu = *arch::load_gpu("rtx4070");
  for (std::size_t i = 0; i + 1 < recording.log.samples.size(); ++i) {
    const sm::Sample &from = recording.log.samples[i], &to = recording.log.samples[i + 1];
    if (to.cycle <= from.cycle) continue;
    const double watts = gpu::power_between(recording, report, gpu, from, to).value;
    EXPECT_GT(watts, 0.5 * gpu.power.idle.value);
    EXPECT_LT(watts, 10 * report.power_w + 100);
  }
}

}  // namespace
}  // namespace noteg::test
