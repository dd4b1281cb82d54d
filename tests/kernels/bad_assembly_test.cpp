// Every assembly file of tests/kernels/bad/assembly with exactly the mistakes of the text file beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "kernels/assembly/assembly.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::kernels {
namespace {

namespace fs = std::filesystem;

const fs::path bad_directory = fs::path(NOTEG_SOURCE_DIR) / "tests" / "kernels" / "bad" / "assembly";

// By topic: names of files within the folder, without their endings.
std::vector<std::string> bad_files() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(bad_directory))
    if (entry.path().extension() == ".nsass")
      names.push_back(entry.path().lexically_relative(bad_directory).replace_extension().string());
  std::sort(names.begin(), names.end());
  return names;
}

class BadAssembly : public testing::TestWithParam<std::string> {};

TEST_P(BadAssembly, SaysExactlyWhatIsWrong) {
  const fs::path file = bad_directory / (GetParam() + ".nsass");
  const Result<std::string> text = read_text_file(file);
  const Result<std::string> expected = read_text_file(bad_directory / (GetParam() + ".txt"));
  ASSERT_TRUE(text);
  ASSERT_TRUE(expected) << "no expected message";
  const Result<Program> program = parse_assembly(*text, file.filename().string());
  ASSERT_FALSE(program);
  EXPECT_EQ(to_string(program.errors()), *expected);
}

INSTANTIATE_TEST_SUITE_P(Kernels, BadAssembly, testing::ValuesIn(bad_files()),
                         [](const auto& tested) { return fs::path(tested.param).filename().string(); });

}  // namespace
}  // namespace noteg::kernels
