// What README files show is what the program prints.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

const std::string main_job = "simulate --arch rtx4070 --kernel '" NOTEG_SOURCE_DIR
                             "/kernels/library/sgemm_128x128x8.yaml' --shape 4096x4096x4096";

// The job of `./dev run`, on README's first screen and as the first example.
TEST(Readme, ShowsWhatTheMainJobPrints) {
  const Ran ran = run_program(main_job);
  ASSERT_EQ(ran.status, 0) << ran.err;
  for (const std::string page : {"README.md", "examples/01_simulate_sgemm/README.md"})
    EXPECT_EQ(output_on_page(page, ran.out), ran.out) << page << ": run test_cli with NOTEG_UPDATE_GENERATED=1";
}

// What README shows is so on any machine: threads, terminal, language, time zone and which exp and log the C library
// picks for the processor do not count.
TEST(Readme, ShowsWhatAnyEnvironmentPrints) {
  const std::string expected = run_program(main_job).out;
  EXPECT_FALSE(expected.empty());
  for (const std::string variable :
       {"COLUMNS=200", "TERM=dumb NO_COLOR=1", "TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "CI=true",
        "GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2", "GLIBC_TUNABLES=glibc.malloc.perturb=85"})
    EXPECT_EQ(run_shell(variable + " \"$NOTEG\" " + main_job).out, expected) << variable;
  EXPECT_EQ(run_program(main_job + " --jobs 1").out, expected);
  EXPECT_EQ(run_program(main_job + " --jobs 7").out, expected);
}

TEST(RegisterFileStudy, PrintsWhatItsReadmeShowsAndStaysNearThePublishedSpeeds) {
  const Ran ran = run_example("register_file_study");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(output_on_page("examples/register_file_study/README.md", ran.out), ran.out);

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
  EXPECT_EQ(output_on_page("examples/compare_generations/README.md", ran.out), ran.out);
}

}  // namespace
}  // namespace noteg::test
