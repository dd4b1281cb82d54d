// Switches: the table, its parsing, and what they must do to any run.
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/gpu/limits/switches.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

SimOptions with(std::string_view name, std::string_view value) {
  SimOptions options;
  const Result<Switches> switches = with_switch({}, name, value);
  EXPECT_TRUE(switches) << name << "=" << value;
  if (switches) options.switches = *switches;
  return options;
}

TEST(Switches, AreNamedOnceAndStartAtTheirFirstValue) {
  std::set<std::string_view> names;
  for (const SwitchInfo& row : switch_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GE(row.values.size(), 2u) << row.name;
    EXPECT_EQ(row.get({}), 0u) << row.name;
    EXPECT_FALSE(row.sentence.empty() || row.removes.empty()) << row.name;
  }
}

TEST(Switches, EveryValueIsReadBackAndListedWhereItIsNotTheDefault) {
  for (const SwitchInfo& row : switch_table()) {
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const Switches changed = with(row.name, row.values[i]).switches;
      EXPECT_EQ(row.get(changed), i) << row.name;
      const auto listed = changed_switches(changed);
      ASSERT_EQ(listed.size(), i == 0 ? 0u : 1u) << row.name;
      if (i > 0) {
        EXPECT_EQ(listed.front(), std::pair(std::string(row.name), std::string(row.values[i])));
      }
    }
  }
}

TEST(Switches, RefusesUnknownNamesAndValuesAndSaysWhatThereIs) {
  const Result<Switches> name = with_switch({}, "core.rcf", "off");
  ASSERT_FALSE(name);
  EXPECT_NE(name.errors().front().expected.find("core.rfc"), std::string::npos);
  const Result<Switches> value = with_switch({}, "core.scheduler", "fifo");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.errors().front().expected, "cggty, gto, lrr or oldest");
  EXPECT_TRUE(is_switch_name("core.anything"));
  EXPECT_TRUE(is_switch_name("tail"));
  EXPECT_FALSE(is_switch_name("stages"));
}

TEST(Switches, TakingALimitAwayNeverSlowsAKernel) {
  const std::pair<const char*, const char*> removals[] = {{"core.rf", "ideal"},
                                                          {"core.pipe_latency", "none"},
                                                          {"core.memory_queue", "infinite"},
                                                          {"core.barriers", "free"},
                                                          {"memory.bank_conflicts", "off"},
                                                          {"memory.path", "infinite"},
                                                          {"memory.path", "shared-infinite"},
                                                          {"memory.path", "l1-infinite"},
                                                          {"core.issue", "double"},
                                                          {"core.fma", "double"},
                                                          {"core.tensor", "double"},
                                                          {"power", "infinite"},
                                                          {"memory.latency", "l1"},
                                                          {"memory.shared_latency", "none"},
                                                          {"l2", "infinite"},
                                                          {"dram", "infinite"},
                                                          {"launch", "free"},
                                                          {"tail", "free"}};
  const arch::GpuSpec gpu = gpu_of("rtx-a6000");
  const kernels::GemmShape shape{1000, 1500, 256, 1};
  for (const char* kernel : {"cutlass_simt_sgemm_128x128_8x4_nn_align1", "naive_tiled_sgemm_t16"}) {
    const double before = run(gpu, kernel, shape).time_us;
    // A schedule may come out a little worse by chance: warps meet each other at other moments.
    for (const auto& [name, value] : removals)
      EXPECT_LE(run(gpu, kernel, shape, with(name, value)).time_us, 1.02 * before) << kernel << " " << name;
  }
}

TEST(Switches, ReachThePartOfTheReportThatTheyName) {
  const arch::GpuSpec gpu = gpu_of("rtx-a6000");
  const char* kernel = "cutlass_simt_sgemm_128x128_8x4_nn_align1";
  const kernels::GemmShape shape{1000, 1500, 256, 1};
  EXPECT_EQ(run(gpu, kernel, shape, with("core.rfc", "off")).rf.cache_hits, 0);
  EXPECT_EQ(run(gpu, kernel, shape, with("core.rf", "ideal")).rf.bank_conflict_cycles, 0);
  EXPECT_EQ(run(gpu, kernel, shape, with("launch", "free")).phases_us.launch, 0);
  EXPECT_EQ(run(gpu, kernel, shape, with("tail", "free")).phases_us.tail, 0);
  EXPECT_EQ(run(gpu, kernel, shape, with("l2", "infinite")).memory.dram_read_bytes, 0);
  EXPECT_LE(
      run(gpu, "naive_tiled_sgemm_t8", shape, with("memory.bank_conflicts", "off")).memory.shared_conflict_wavefronts,
      0);
}

// Choices go by their place: a value in between would make each say what another means.
TEST(Switches, ChoicesMeanWhatTheySay) {
  EXPECT_EQ(with("core.icache", "off-prefetch").switches.core.icache, sm::InstructionCache::no_prefetch);
  EXPECT_EQ(with("core.icache", "perfect").switches.core.icache, sm::InstructionCache::perfect);
  EXPECT_EQ(with("core.dependence", "scoreboard").switches.core.dependence, sm::Dependence::scoreboard);
  EXPECT_EQ(with("core.rf_read_ports", "3").switches.core.rf_read_ports, 3);
}

TEST(Switches, AreShownAndEndTheConfidence) {
  const SimReport plain = run(gpu_of("rtx4070"), "cutlass_simt_sgemm_128x128_8x2_nn_align1", {1024, 1024, 256, 1});
  EXPECT_TRUE(plain.switches.empty());
  EXPECT_GE(plain.confidence.validated_mape, 0);
  const SimReport changed =
      run(gpu_of("rtx4070"), "cutlass_simt_sgemm_128x128_8x2_nn_align1", {1024, 1024, 256, 1}, with("core.rfc", "off"));
  EXPECT_EQ(changed.switches.size(), 1u);
  EXPECT_LT(changed.confidence.validated_mape, 0);
  EXPECT_NE(changed.confidence.on.find("core.rfc=off"), std::string::npos);
}

TEST(Switches, RunsOfOneSwitchAreNeverTakenForThoseOfAnother) {
  const arch::GpuSpec gpu = gpu_of("rtx-a6000");
  const kernels::KernelConfig kernel = kernel_of("cutlass_simt_sgemm_128x128_8x4_nn_align1");
  const kernels::GemmShape shape{1024, 1024, 256, 1};
  SmCache cache;
  const double plain = run(gpu, kernel, shape, {}, cache).time_us;
  EXPECT_GT(run(gpu, kernel, shape, with("core.rfc", "off"), cache).time_us, 1.1 * plain);
  EXPECT_EQ(run(gpu, kernel, shape, {}, cache).time_us, plain);
}

TEST(SwitchReference, IsUpToDate) {
  const std::string path = NOTEG_SOURCE_DIR "/docs/reference/switches.md";
  const std::string page = switch_reference();
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(path) << page;
  std::ostringstream found;
  found << std::ifstream(path).rdbuf();
  EXPECT_EQ(found.str(), page) << "run NOTEG_UPDATE_GENERATED=1 test_gpu";
}

}  // namespace
}  // namespace noteg::gpu
