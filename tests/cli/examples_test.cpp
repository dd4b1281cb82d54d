// The examples' output is what their README shows.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

TEST(RegisterFileStudy, PrintsWhatItsReadmeShowsAndStaysNearThePublishedSpeeds) {
  const Ran ran = run_example("register_file_study");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(readme_of_example("register_file_study").find(ran.out), std::string::npos) << ran.out;

  std::istringstream lines(ran.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, kernel;
    double no_cache = 0, two_ports = 0, ideal = 0;
    if (!(words >> name >> kernel >> no_cache >> two_ports >> ideal)) continue;
    ++rows;
    if (name == "SGEMM") {
      EXPECT_TRUE(no_cache >= 0.65 && no_cache <= 0.82) << line;
      EXPECT_TRUE(two_ports >= 1.00 && two_ports <= 1.10) << line;
    } else {
      EXPECT_NEAR(no_cache, 1, 0.01) << line;
      EXPECT_TRUE(two_ports >= 1.35 && two_ports <= 1.50) << line;
    }
    EXPECT_GE(ideal, two_ports - 0.01) << line;
  }
  EXPECT_EQ(rows, 4);
}

TEST(CompareGenerations, PrintsWhatItsReadmeShows) {
  const Ran ran = run_example("compare_generations");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(readme_of_example("compare_generations").find(ran.out), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace noteg::test
