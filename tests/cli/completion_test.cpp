// What shells offer: the program's own tables, through the completion scripts too.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Words = std::set<std::string>;

// The candidates without their remarks.
Words words_of(const std::string& lines) {
  Words words;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) words.insert(line.substr(0, line.find('\t')));
  return words;
}

Words offered(const std::string& typed) { return words_of(run_program("--complete " + typed).out); }

TEST(Completion, OffersCommandsActionsAndOptions) {
  EXPECT_EQ(offered("si"), Words{"simulate"});
  EXPECT_EQ(offered("arch ''"), (Words{"list", "show", "check", "schema", "new", "scale"}));
  EXPECT_EQ(offered("kernel ''"), (Words{"show", "graph"}));
  EXPECT_EQ(offered("simulate --clock"), (Words{"--clock", "--clock-mode"}));
  EXPECT_TRUE(offered("arch show rtx40").contains("rtx4070"));
}

TEST(Completion, OffersTheValuesOfEveryClosedChoice) {
  EXPECT_TRUE(offered("simulate --l2 ''").contains("cold"));
  EXPECT_TRUE(offered("simulate --l2 ''").contains("warm"));
  EXPECT_EQ(offered("simulate --l2=co"), Words{"--l2=cold"});
  EXPECT_EQ(offered("simulate --dtype bf"), Words{"bf16"});
  EXPECT_EQ(offered("simulate --family w"), Words{"wgmma"});
  EXPECT_EQ(offered("simulate --layout t"), (Words{"tn", "tt"}));
  EXPECT_EQ(offered("simulate --clock-mode ''"), (Words{"burst", "cool", "sustained"}));
  EXPECT_EQ(offered("simulate --operands r"), Words{"random"});
  EXPECT_EQ(offered("simulate --format ''"), (Words{"text", "json", "csv"}));
  EXPECT_EQ(offered("calibrate --format ''"), (Words{"text", "json"}));
  EXPECT_EQ(offered("tune --objective e"), (Words{"energy", "edp"}));
  EXPECT_TRUE(offered("validate --kernel ''").contains("recorded"));
  EXPECT_TRUE(offered("simulate --kernel ''").contains("auto"));
  EXPECT_TRUE(offered("compare --arch l4").contains("l4"));
}

TEST(Completion, OffersTheKeysOfSetWhereTheyAreTaken) {
  const Words all = offered("simulate --set ''");
  for (const char* key : {"stages=", "arch.l2.size=", "arch.sm.pipes.fma.lanes=", "core.rfc=off"})
    EXPECT_TRUE(all.contains(key)) << key;
  EXPECT_FALSE(offered("tune --set ''").contains("stages="));
  EXPECT_TRUE(offered("tune --set arch.l2.s").contains("arch.l2.size="));
  EXPECT_TRUE(offered("calibrate --set ''").contains("power.idle"));
}

// Where nothing is known the shell offers files.
TEST(Completion, OffersNothingWhereAFileFollows) {
  EXPECT_EQ(offered("simulate --report ''"), Words{});
  EXPECT_EQ(offered("simulate --shape ''"), Words{});
  EXPECT_EQ(offered("nonsense --"), Words{});
  EXPECT_EQ(run_program("--complete").status, 0);
}

// Every value offered for a closed choice is one that the option takes.
TEST(Completion, OffersOnlyWhatTheCommandTakes) {
  for (const char* option : {"--l2", "--layout", "--clock-mode", "--operands", "--format"})
    for (const std::string& value : offered(std::string("simulate ") + option + " ''"))
      EXPECT_EQ(run_program(std::string("simulate --arch l4 --family naive --tile 16x16x16 --shape 64x64x64 ") +
                            option + " " + value)
                    .status,
                0)
          << option << " " << value;
}

Words in_bash(const std::string& line) {
  const std::string words = "source cmake/completion/noteg.bash; COMP_LINE=\"$NOTEG " + line +
                            "\"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=($NOTEG); COMP_WORDBREAKS=\" =\"; _noteg; "
                            "printf \"%s\\n\" \"${COMPREPLY[@]}\"";
  return words_of(run_shell("cd " NOTEG_SOURCE_DIR " && NOTEG=$NOTEG bash -c '" + words + "'").out);
}

TEST(Completion, OfBashShowsThem) {
  EXPECT_EQ(in_bash("simulate --dtype bf"), Words{"bf16"});
  EXPECT_EQ(in_bash("simulate --l2=co"), Words{"cold"});  // readline replaces what stands behind '='
  EXPECT_TRUE(in_bash("simulate --set core.rfc=").contains("off"));
  EXPECT_TRUE(in_bash("").contains("simulate"));
}

}  // namespace
}  // namespace noteg::test
