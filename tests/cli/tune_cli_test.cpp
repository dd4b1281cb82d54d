// tune, and --kernel auto of the commands that take it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

const std::string few = "tune --arch tiny --max-configs 20 --top 2 --shape 512x384x128";

TEST(TuneCommand, RanksAndWritesKernelsThatSimulateTakes) {
  const Ran ran = run_shell("d=$(mktemp -d); \"$NOTEG\" " + few +
                            " --out-dir $d && \"$NOTEG\" simulate --arch tiny --shape 512x384x128 --kernel "
                            "$d/tiny_512x384x128_f32_01.yaml && cat $d/cutlass_profiler.sh; s=$?; rm -r $d; exit $s");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "searched 20 combinations, ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "why: by estimate, the winner is limited by ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "cutlass_profiler --operation=Gemm --m=512")) << ran.out;
  const Json json = Json::parse(run_program(few + " --format json").out);
  EXPECT_EQ(json["problems"][0]["top"].size(), 2U);
  EXPECT_TRUE(run_program(few + " --format csv").out.starts_with("arch,m,n,k,batch,count,rank,configuration,"));
}

TEST(TuneCommand, AddsUpAFileOfProblems) {
  const Ran ran = run_shell(
      "d=$(mktemp -d); printf '256x256x64 times=3\\n128x256x64 # two\\n' > $d/layer.txt; \"$NOTEG\" tune --arch tiny "
      "--max-configs 10 --top 1 --shapes $d/layer.txt; s=$?; rm -r $d; exit $s");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "all 2 problems with their best kernels: ")) << ran.out;
}

TEST(TuneCommand, TellsEveryMistakeAtOnce) {
  const Ran ran = run_program("tune --arch l44 --objective speed --dtype f12 --top 0 --family gemm");
  EXPECT_EQ(ran.status, 2);
  for (const char* part : {"--shape, --shapes: expected exactly one of them, found none", "--arch l44", "--objective",
                           "--dtype", "--top", "--family"})
    EXPECT_TRUE(has(ran.err, part)) << part << "\n" << ran.err;
}

TEST(TuneCommand, SaysWhyNoConfigurationRuns) {
  const Ran ran = run_program("tune --arch l4 --shape 4x512x512 --dtype f16 --family gemv");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(has(ran.err, "of the first, layout: expected nt")) << ran.err;
  EXPECT_TRUE(has(run_program("tune --arch l4 --shape 64x64x64 --dtype f32 --family gemv").err,
                  "found no combination for these types and rows"));
}

TEST(AutomaticKernel, SimulateAndCompareChooseForTheGpu) {
  const Json json =
      Json::parse(run_program("simulate --arch a100-pcie-40gb --kernel auto --shape 512x512x256 --format json").out);
  EXPECT_TRUE(has(json["kernel"]["name"], "sgemm")) << json["kernel"];
  const Ran compared =
      run_program("compare --arch a100-pcie-40gb --arch h100-sxm5-80gb --kernel auto --shape 512x512x256");
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_TRUE(has(compared.out, "+ kernel")) << compared.out;
}

TEST(AutomaticKernel, RefusesWhatItDecidesItself) {
  const Ran ran = run_program("simulate --arch l4 --kernel auto --tile 64x64x8 --split-k 2 --shape 512x512x256");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(has(ran.err, "--tile: expected nothing beside --kernel auto")) << ran.err;
  const std::string automatic = "simulate --arch l4 --kernel auto --dtype f16 --shape 256x256x256 ";
  const Ran keys = run_program(automatic + "--set tile=64x64x32 --set stages=7 --set layout=nt");
  EXPECT_EQ(keys.status, 2);
  for (const char* key : {"tile", "stages"})
    EXPECT_TRUE(has(keys.err, "beside --kernel auto, which decides the others, found \"" + std::string(key)))
        << keys.err;
  EXPECT_FALSE(has(keys.err, "layout\"")) << keys.err;
  EXPECT_EQ(run_program(automatic + "--set layout=nt --set bias=true --set arch.l2.size=24MiB").status, 0);
  EXPECT_TRUE(has(run_program("kernel show --kernel auto").err, "--kernel: expected a kernel"));
}

}  // namespace
}  // namespace noteg::test
