#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> answers(const std::string& text) {
  std::vector<Json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(Json::parse(line));
  return out;
}

TEST(Serve, SaysWhatTheCommandsSayByteForByte) {
  const Ran served = run_shell(
      "printf '%s\\n' "
      "'{\"id\":1,\"command\":\"simulate\",\"arch\":\"l4\",\"family\":\"simt\",\"tile\":\"128x128x8\",\"shape\":[512,"
      "512,256]}' "
      "'{\"id\":2,\"command\":\"simulate\",\"arch\":\"a100-sxm4-80gb\",\"kernel\":\"auto\",\"dtype\":\"f16\",\"shape\":"
      "\"64x512x512\"}' "
      "'{\"id\":3,\"command\":\"simulate\",\"arch\":\"l4\",\"family\":\"simt\",\"tile\":\"128x128x8\",\"shape\":[512,"
      "512,512]}' "
      "'{\"id\":4,\"command\":\"workload\",\"arch\":\"l4\",\"arguments\":[\"gpt-2\"]}' "
      "'{\"id\":5,\"command\":\"simulate\",\"arch\":\"l4\",\"family\":\"simt\",\"tile\":\"128x128x8\",\"shape\":[512,"
      "512,512],\"format\":\"text\"}' "
      "| $NOTEG serve --jobs 2");
  ASSERT_EQ(served.status, 0) << served.err;
  EXPECT_EQ(served.err, "");
  const std::vector<Json> all = answers(served.out);
  ASSERT_EQ(all.size(), 5U);
  const std::vector<std::string> commands{
      "simulate --arch l4 --family simt --tile 128x128x8 --shape 512x512x256 --format json",
      "simulate --arch a100-sxm4-80gb --kernel auto --dtype f16 --shape 64x512x512 --format json",
      "simulate --arch l4 --family simt --tile 128x128x8 --shape 512x512x512 --format json",
      "workload --arch l4 gpt-2 --format json"};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_EQ(all[i]["id"], i + 1);
    ASSERT_EQ(all[i]["status"], 0) << all[i].dump();
    EXPECT_EQ(all[i]["result"].dump(2) + "\n", run_program(commands[i]).out) << commands[i];
  }
  EXPECT_EQ(all[4]["text"], run_program("simulate --arch l4 --family simt --tile 128x128x8 --shape 512x512x512").out);
}

TEST(Serve, MistakesAreAnswersAndTheNextLineIsServed) {
  const Ran served = run_shell(
      "printf '%s\\n' 'nonsense' '{\"id\":2,\"command\":\"simulate\",\"arch\":\"l5\"}' "
      "'{\"id\":3,\"command\":\"generate\"}' "
      "'{\"id\":4,\"command\":\"simulate\",\"arch\":\"l4\",\"report\":\"x.html\"}' "
      "'{\"id\":5,\"command\":\"simulate\",\"list-switches\":true}' | $NOTEG serve");
  ASSERT_EQ(served.status, 0) << served.err;
  const std::vector<Json> all = answers(served.out);
  ASSERT_EQ(all.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all[i]["status"], 2) << all[i].dump();
  EXPECT_NE(all[1]["error"].get<std::string>().find("--arch l5"), std::string::npos) << all[1].dump();
  EXPECT_EQ(all[4]["status"], 0);
}

TEST(Serve, EndsQuietlyWhenNobodyReads) {
  const Ran served =
      run_shell("yes '{\"command\":\"simulate\",\"list-switches\":true}' 2>/dev/null | $NOTEG serve | head -n 3");
  EXPECT_EQ(served.status, 0);
  EXPECT_EQ(served.err, "");
  EXPECT_EQ(answers(served.out).size(), 3U);
}

TEST(Serve, HelpsAndRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(run_program("serve --help").status, 0);
  EXPECT_EQ(run_program("serve --job 2").status, 2);
}

}  // namespace
}  // namespace noteg::test
