// compare over GPUs, and the two views of architecture files that go with it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

const std::string compared_kernel = " --family simt --tile 64x64x8 --shape 512x512x128";

TEST(CompareGpus, TellsTimeDifferencesAndWaterfall) {
  const Ran ran = run_program("compare --arch l4 --arch l4:l2.size=24MiB:sms=29" + compared_kernel);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "what if  l4 (2): l2.size=24MiB, sms=29")) << ran.out;
  EXPECT_TRUE(has(ran.out, "from l4 to l4 (2): ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "  + SM count")) << ran.out;
  const Ran csv = run_program("compare --format csv --arch l4 --arch tiny" + compared_kernel);
  EXPECT_TRUE(csv.out.starts_with("label,what_if,arch,")) << csv.out;
}

TEST(CompareGpus, TellsEveryMistakeAtOnce) {
  const Ran ran = run_program("compare --arch l4:l2.sise=24MiB --format png --jobs 0" + compared_kernel);
  EXPECT_EQ(ran.status, 2);
  for (const char* part : {"--arch: expected 2 to 12 GPUs", "did you mean l2.size", "--format", "--jobs"})
    EXPECT_TRUE(has(ran.err, part)) << part << "\n" << ran.err;
}

TEST(ArchDiff, ShowsOnlyTheKeysThatDiffer) {
  const Ran ran = run_program("arch show l4 --diff l4:l2.size=24MiB");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "l2.size")) << ran.out;
  EXPECT_TRUE(has(ran.out, "24 MiB")) << ran.out;
  EXPECT_FALSE(has(ran.out, "l2.sector")) << ran.out;
  const Json json = Json::parse(run_program("arch show l4 --diff a100-pcie-40gb --format json").out);
  EXPECT_GT(json["differences"].size(), 30U);
  EXPECT_EQ(run_program("arch show l4 --diff l44").status, 2);
}

TEST(ArchList, TellsTheRecordedErrorOfAGpu) {
  const Json gpus = Json::parse(run_program("arch list --format json").out)["gpus"];
  for (const Json& gpu : gpus) {
    if (gpu["id"] == "a100-pcie-80gb") {
      EXPECT_GT(gpu["validated"]["rows"], 150) << "of the runs that intervals are made of";
    }
    if (gpu["id"] == "tiny") {
      EXPECT_TRUE(gpu["validated"].is_null());
    }
  }
}

// A report links to the live page where that can show the same: shipped GPUs, shipped kernels, names and families.
TEST(Reports, OpenLiveWhatTheLivePageHas) {
  const auto links = [](const std::string& options) {
    const Ran ran = run_shell(
        "d=$(mktemp -d); cp " NOTEG_SOURCE_DIR
        "/kernels/library/sgemm_128x128x8.yaml $d/mine.yaml; cd $d; mkdir own; "
        "cp mine.yaml own/sgemm_128x128x8.yaml; \"$NOTEG\" arch new --from sm_89 --name Mine --sms 20 --boost 2GHz "
        "--l2 8MiB --dram-bandwidth 200GB/s --power 90W --out gpu.yaml --quiet >/dev/null 2>&1; "
        "\"$NOTEG\" simulate --shape 256x256x64 --estimate --report r.html >/dev/null " +
        options + " && grep -c 'open live' r.html; rm -r $d");
    return ran.out;
  };
  EXPECT_EQ(links("--arch L4 --kernel sgemm_128x128x8"), "1\n");
  EXPECT_EQ(links("--arch l4 --family simt --tile 64x64x8"), "1\n");
  EXPECT_EQ(links("--arch l4 --kernel mine.yaml"), "0\n");
  EXPECT_EQ(links("--arch l4 --kernel own/sgemm_128x128x8.yaml"), "0\n");
  EXPECT_EQ(links("--arch gpu.yaml --kernel sgemm_128x128x8"), "0\n");
}

}  // namespace
}  // namespace noteg::test
