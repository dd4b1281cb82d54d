// Every file of tests/arch/bad with exactly the mistakes of the text file beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "arch/load.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::arch {
namespace {

namespace fs = std::filesystem;

const fs::path bad_directory = fs::path(NOTEG_SOURCE_DIR) / "tests" / "arch" / "bad";

// By topic: names of files within tests/arch/bad, without their endings.
std::vector<std::string> bad_files() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(bad_directory))
    if (entry.path().extension() == ".yaml")
      names.push_back(entry.path().lexically_relative(bad_directory).replace_extension().string());
  std::sort(names.begin(), names.end());
  return names;
}

class BadFile : public testing::TestWithParam<std::string> {};

TEST_P(BadFile, SaysExactlyWhatIsWrong) {
  const fs::path file = bad_directory / (GetParam() + ".yaml");
  const Result<std::string> expected = read_text_file(bad_directory / (GetParam() + ".txt"));
  ASSERT_TRUE(expected) << "no expected message";
  const Result<FileSummary> summary = check_file(file.string());
  ASSERT_FALSE(summary);
  Diagnostics errors = summary.errors();
  for (Diagnostic& error : errors) error.file = fs::path(error.file).filename().string();
  EXPECT_EQ(to_string(errors), *expected);
}

INSTANTIATE_TEST_SUITE_P(Arch, BadFile, testing::ValuesIn(bad_files()),
                         [](const auto& tested) { return fs::path(tested.param).filename().string(); });

TEST(BadFiles, AGpuFileTellsTheSameToLoadAndToCheck) {
  for (const char* name :
       {"rules/gone_below_kept", "keys/unknown_key", "keys/several_mistakes", "names/unknown_base", "yaml/empty"}) {
    const std::string file = (bad_directory / (std::string(name) + ".yaml")).string();
    const Result<GpuSpec> gpu = load_gpu(file);
    ASSERT_FALSE(gpu) << name;
    EXPECT_EQ(to_string(gpu.errors()), to_string(check_file(file).errors())) << name;
  }
}

TEST(BadFiles, ABaseFileIsNotAGpu) {
  const Result<GpuSpec> gpu = load_gpu(NOTEG_SOURCE_DIR "/arch/generations/sm_89.yaml");
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.errors().front().key, "base");
}

}  // namespace
}  // namespace noteg::arch
