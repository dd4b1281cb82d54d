// --report, --trace and --timeline on the command line: files beside the result, clear mistakes.
#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

const std::string run = "simulate --arch l4 --family simt --tile 64x64x8 --shape 256x256x128 ";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Report, LiesBesideTheResultAndDoesNotChangeIt) {
  const Ran plain = run_program(run + "--format json");
  const Ran ran =
      run_shell("f=$(mktemp -d)/r.html; \"$NOTEG\" " + run + "--format json --report $f && head -c 15 $f >&2");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, plain.out);
  EXPECT_EQ(ran.err, "<!DOCTYPE html>");
}

TEST(Report, IsRefusedBeforeTheRunWhereItCannotBe) {
  for (const std::string place : {"/no/such/folder/r.html", "/tmp", "-"}) {
    const Ran ran = run_program(run + "--report " + place);
    EXPECT_EQ(ran.status, 2) << place;
    EXPECT_TRUE(has(ran.err, "--report: expected a file")) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST(Report, FailsWhereTheDiskIsFull) {
  const Ran ran = run_program(run + "--report /dev/full");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.err, "/dev/full: No space left on device")) << ran.err;
}

TEST(Trace, IsCompressedWhereItsNameSaysSo) {
  const Ran ran =
      run_shell("d=$(mktemp -d); \"$NOTEG\" " + run + "--trace $d/t.json --quiet > /dev/null && \"$NOTEG\" " + run +
                "--trace $d/t.json.gz > /dev/null && gzip -dc $d/t.json.gz | cmp - $d/t.json && "
                "head -c 20 $d/t.json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "{\"displayTimeUnit\":\"");
}

TEST(Trace, TellsMistakes) {
  for (const auto& [words, part] : {std::pair{"--trace t.txt", "--trace: expected a file named .json or .json.gz"},
                                    std::pair{"--timeline --window 4:2", "--window: expected iterations A:B"},
                                    std::pair{"--window 2:4", "--window: expected --trace or --timeline"},
                                    std::pair{"--timeline --window 900", "--window: expected iterations between 1 and 16"},
                                    std::pair{"--timeline --format csv", "--timeline: expected --format text"}}) {
    const Ran ran = run_program(run + words);
    EXPECT_EQ(ran.status, 2) << words;
    EXPECT_TRUE(has(ran.err, part)) << ran.err;
  }
}

TEST(Timeline, FitsTheTerminal) {
  const Ran ran = run_shell("COLUMNS=60 \"$NOTEG\" " + run +
                            "--timeline | sed -n '/^cycles /,$p' | awk '{ print length }' | sort -n | tail -1");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_LE(std::stoi(ran.out), 60);
}

}  // namespace
}  // namespace noteg::test
