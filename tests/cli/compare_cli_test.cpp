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

}  // namespace
}  // namespace noteg::test
