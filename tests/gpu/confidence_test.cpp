// Intervals of predicted times: they hold the prediction, widen with distance from what was measured, and a machine
// that nobody can have measured is never called validated.
#include "sim/confidence/confidence.hpp"

#include <cmath>

#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

constexpr const char* sgemm = "cutlass_simt_sgemm_128x128_8x2_nn_align1";
constexpr kernels::GemmShape cube{2048, 2048, 2048, 1};

Situation somewhere() {
  Situation at;
  at.gpu = "l4";
  at.generation = "sm_89";
  at.tile = {128, 128, 8};
  at.stages = 4;
  at.time_us = at.waves = at.iterations = 64;
  return at;
}

// Every run 5 % off, in turn to either side.
ErrorTable even_errors() {
  std::vector<MeasuredError> rows;
  for (int i = 0; i < 20; ++i) rows.push_back({somewhere(), "made_up", i % 2 == 0 ? 0.05 : -0.05});
  ErrorTable table;
  table.errors = MeasuredErrors(std::move(rows));
  for (auto& factor : table.factors) factor = {0.7, 1.3, 1.7};
  return table;
}

double width(const Situation& at) {
  const std::optional<Spread> spread = even_errors().errors.spread(at);
  EXPECT_TRUE(spread);
  return spread ? spread->up + spread->down : 0;
}

TEST(MeasuredErrors, SpreadWidensWithEveryStepAwayFromWhatWasMeasured) {
  double before = width(somewhere());
  EXPECT_NEAR(before, 2 * std::sqrt(0.05 * 0.05 / 2 + 0.01 * 0.01), 1e-9);
  const auto widens = [&](const Situation& at) {
    const double now = width(at);
    EXPECT_GT(now, before);
    before = now;
  };
  Situation at = somewhere();
  at.time_us *= 4, widens(at);
  at.waves /= 8, widens(at);
  at.iterations *= 2, widens(at);
  at.tile.m = 64, widens(at);
  at.stages = 2, widens(at);
  at.slices = 4, widens(at);
  at.operand_bytes = 2, widens(at);
  at.clock_share = 0.5, widens(at);
  at.chosen = true, widens(at);
  at.gpu = "l40s", widens(at);
  at.generation = "sm_90", widens(at);
  at.family = kernels::Family::mma, widens(at);
}

TEST(MeasuredErrors, KnowWhatTheNearestOfThemStandFor) {
  const MeasuredErrors errors = even_errors().errors;
  Situation at = somewhere();
  EXPECT_EQ(errors.spread(at)->evidence, Evidence::kernel);
  at.stages = 3;
  EXPECT_EQ(errors.spread(at)->evidence, Evidence::family);
  at.gpu = "l40s";
  EXPECT_EQ(errors.spread(at)->evidence, Evidence::other_gpu);
  at.family = kernels::Family::wgmma;
  EXPECT_EQ(errors.spread(at)->evidence, Evidence::nothing);
  EXPECT_FALSE(MeasuredErrors().spread(at));
}

TEST(MeasuredErrors, ErrorsInOneDirectionWidenThatSideMost) {
  const MeasuredErrors slow({{somewhere(), "made_up", 0.2}});
  const std::optional<Spread> spread = slow.spread(somewhere());
  EXPECT_GT(spread->up, 2 * spread->down);
}

TEST(MeasuredErrors, AreReadBackAsTheyWereWritten) {
  ErrorTable table = even_errors();
  table.coverage = {{"gpu", "all", 20, {0.5, 0.8, 0.9}, 0.91, 0.2}};
  const std::string text = to_text(table);
  const Result<ErrorTable> read = read_error_table(text);
  ASSERT_TRUE(read) << to_string(read.errors());
  EXPECT_EQ(to_text(*read), text);
  EXPECT_EQ(read->errors.rows().size(), 20u);
  const Result<ErrorTable> bad = read_error_table("# one\nkernel,a,b,c,simt,128x128x8,4,4,0\n1,2,3,4,5,oops\n");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.errors().front().line, 3);
}

TEST(Confidence, IntervalsHoldThePredictionAndTheNarrowerOnes) {
  for (const char* gpu : {"rtx4070", "l4", "a100-pcie-40gb", "rtx4090"}) {
    const SimReport r = run(gpu_of(gpu), sgemm, cube);
    TimeRange inner{r.time_us, r.time_us};
    for (const TimeRange& range : r.confidence.intervals) {
      EXPECT_GT(range.low_us, 0) << gpu;
      EXPECT_LE(range.low_us, inner.low_us) << gpu;
      EXPECT_GE(range.high_us, inner.high_us) << gpu;
      inner = range;
    }
    EXPECT_FALSE(r.confidence.because.empty());
  }
}

TEST(Confidence, NamesTheGpusItRestsOnWhereNobodyMeasuredThisOne) {
  const Confidence c = run(gpu_of("rtx4090"), sgemm, cube).confidence;
  EXPECT_LT(c.validated_mape, 0);
  EXPECT_NE(c.because.find("no measured simt kernel of this GPU; the 50 nearest, on "), std::string::npos) << c.because;
}

TEST(Confidence, AWhatIfMachineIsNotValidatedAndNeverNarrowerThanTheMachineItIsMadeOf) {
  const SimReport as_is = run(gpu_of("rtx4070"), sgemm, cube);
  EXPECT_GE(as_is.confidence.validated_mape, 0);
  const arch::GpuSpec changed = gpu_of("rtx4070", {{"l2.size", "64MiB"}});
  const Confidence c = confidence_of(as_is, changed, {});
  EXPECT_LT(c.validated_mape, 0);
  EXPECT_NE(c.on.find("not validated, arch.l2.size changed"), std::string::npos) << c.on;
  EXPECT_NE(c.because.find("what-if"), std::string::npos) << c.because;
  EXPECT_LE(c.widest().low_us, as_is.confidence.widest().low_us);
  EXPECT_GE(c.widest().high_us, as_is.confidence.widest().high_us);
  EXPECT_GT(c.widest().high_us / c.widest().low_us,
            as_is.confidence.widest().high_us / as_is.confidence.widest().low_us);
}

TEST(Confidence, AKeySetToItsOwnValueChangesNothing) {
  EXPECT_TRUE(gpu_of("rtx4070", {{"sms", "46"}}).changed.empty());
  EXPECT_EQ(gpu_of("rtx4070", {{"sms", "100"}}).changed, std::vector<std::string>{"sms"});
}

TEST(Confidence, AFileOfTheUsersIsNotValidated) {
  arch::GpuSpec own = gpu_of("rtx4070");
  EXPECT_TRUE(own.shipped);
  own.shipped = false;
  const Confidence c = confidence_of(run(gpu_of("rtx4070"), sgemm, cube), own, {});
  EXPECT_LT(c.validated_mape, 0);
  EXPECT_NE(c.on.find("its file is none of those that come with the program"), std::string::npos) << c.on;
}

// What docs/validation.md promises of the table that the program is built with.
TEST(Confidence, NineTimesInTenOfEachKindLeftOutLieInside) {
  int ways = 0;
  for (const Coverage& coverage : shipped_errors().coverage) {
    if (coverage.of != "all") continue;
    ++ways;
    EXPECT_GT(coverage.rows, 1000) << coverage.left_out;
    EXPECT_NEAR(coverage.held.back(), 0.9, 0.03) << coverage.left_out;
    // Every group counts alike here, and most kernels have few rows.
    EXPECT_NEAR(coverage.mean_over_groups, 0.9, 0.04) << coverage.left_out;
  }
  EXPECT_EQ(ways, 4);
}

}  // namespace
}  // namespace noteg::gpu
