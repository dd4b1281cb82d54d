#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(WorkloadCommand, SumsWhatSimulateSays) {
  const Ran ran = run_shell(
      "printf 'op,dtype_in,M,N,K,count\\nlinear,f16,16,1024,512,3\\nlinear,f16,64,512,512,1\\n' > $TMPDIR/w.csv && "
      "$NOTEG workload --arch l4 $TMPDIR/w.csv --format json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json run = Json::parse(ran.out)["cases"][0];
  double sum = 0;
  for (const auto& [shape, count] : {std::pair{"16x1024x512", 3}, std::pair{"64x512x512", 1}}) {
    const Ran one = run_program(
        std::string("simulate --arch l4 --kernel auto --dtype f16 --layout nt --l2 steady --format json --shape ") +
        shape);
    ASSERT_EQ(one.status, 0) << one.err;
    sum += count * Json::parse(one.out)["time_us"].get<double>();
  }
  EXPECT_NEAR(run["time_us"].get<double>() / sum, 1, 1e-12);
  EXPECT_EQ(run["operations"].size(), 2U);
  EXPECT_TRUE(run["tokens_per_s"].is_null());
}

TEST(WorkloadCommand, CrossesGpusTokensAndLimits) {
  const Ran ran =
      run_program("workload --arch l4 --arch rtx4070 gpt-2 --tokens 1,16 --power-limit 60W,70W --format csv --quiet");
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::size_t sums = 0;
  for (std::size_t at = 0; (at = ran.out.find(",all,", at)) != std::string::npos; ++at) ++sums;
  EXPECT_EQ(sums, 8U);
}

TEST(WorkloadCommand, AListGivenInPartsIsTheListWithCommas) {
  const std::string rest = "workload --arch l4 gpt-2 --format csv --quiet ";
  const Ran parts = run_program(rest + "--tokens 1 --tokens 16 --power-limit 60W --power-limit 70W");
  ASSERT_EQ(parts.status, 0) << parts.err;
  EXPECT_EQ(parts.out, run_program(rest + "--tokens 1,16 --power-limit 60W,70W").out);
}

TEST(WorkloadCommand, WritesItsPageAndItsTrace) {
  const Ran ran = run_shell(
      "$NOTEG workload --arch l4 gpt-2 --quiet --report $TMPDIR/r.html --power-trace $TMPDIR/p.csv >/dev/null && "
      "grep -c 'Time by operation' $TMPDIR/r.html && sed -n '1p;2p' $TMPDIR/p.csv");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "time_s,operation,sm_clock_mhz,power_w,averaged_power_w,temperature_c\n1,idle,")) << ran.out;
}

TEST(WorkloadCommand, TellsEveryMistakeAtOnce) {
  const Ran ran = run_program("workload --arch l5 --tokens 0 --power-limit 5 --launch queue --phase sleep gpt-2");
  EXPECT_EQ(ran.status, 2);
  for (const char* part : {"--tokens", "--power-limit", "--launch", "--phase", "--arch l5"})
    EXPECT_TRUE(has(ran.err, part)) << part << "\n" << ran.err;
  EXPECT_TRUE(has(run_program("workload --arch l4 lama-3-8b").err, "did you mean llama-3-8b"));
}

TEST(ArchScale, MakesAFileThatPassesTheCheck) {
  const Ran ran = run_shell(
      "$NOTEG arch scale a100-sxm4-80gb --by 1/2 --set arch.clock.boost=1.5GHz --out $TMPDIR/half.yaml && "
      "$NOTEG arch check $TMPDIR/half.yaml && $NOTEG arch show $TMPDIR/half.yaml --format csv");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "sms,54,"));
  EXPECT_TRUE(has(ran.out, "DERIVED: 1/2 of the A100 SXM4 80GB"));
  EXPECT_EQ(run_program("arch scale a100-sxm4-80gb --by 1/7").status, 2);
  EXPECT_EQ(run_program("arch scale a100-sxm4-80gb").status, 2);
}

}  // namespace
}  // namespace noteg::test
