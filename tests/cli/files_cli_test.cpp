// What commands read and write: no output destroys an input or another output, and what cannot be written is told
// before the work.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

// In a folder of its own that holds the file d and, beside it, every other name for it.
Ran shell(const std::string& command) {
  return run_shell(
      "cd \"$TMPDIR\" && mkdir w && cd w && mkdir folder && echo precious > d && ln -s d link && ln d hard && ln d "
      "folder/d.csv\n" +
      command);
}

TEST(Files, NoOutputOfACommandIsOneOfItsInputs) {
  const std::vector<std::string> commands{"dataset export d --out d",
                                          "dataset merge d --out d",
                                          "simulate --kernel ./d --report d",
                                          "simulate --kernel ./d --power-trace d",
                                          "simulate --kernel ./d --trace d",
                                          "simulate --arch ./d --report d",
                                          "simulate --asm d --report d",
                                          "compare --arch ./d --arch l4 --report d",
                                          "compare --arch ./d:l2.size=24MiB --arch l4 --report d",
                                          "compare --kernel ./d --report d",
                                          "tune --shapes d --report d",
                                          "tune --arch ./d --report d",
                                          "validate --data d --report d",
                                          "validate --data d --table d",
                                          "validate --data d --markdown d",
                                          "validate --data d --predictions d",
                                          "validate --data x.csv --model d --predictions d",
                                          "calibrate --data d --out d",
                                          "calibrate --arch ./d --out d",
                                          "generate --sweep d --out d",
                                          "train --data d --out d",
                                          "train --data d --onnx d",
                                          "train --data d --table d",
                                          "train --data d --report d",
                                          "train --test d --out d",
                                          "validate --data link --report d",
                                          "validate --data d --report link",
                                          "validate --data hard --report d",
                                          "validate --data d --report hard",
                                          "validate --data folder --report d",
                                          "validate --data d --report ../w/./d"};
  for (const std::string& command : commands) {
    const Ran ran = shell("$NOTEG " + command + "; status=$?; cat d; exit $status");
    EXPECT_EQ(ran.status, 2) << command << "\n" << ran.err;
    EXPECT_EQ(ran.out, "precious\n") << command;
    EXPECT_TRUE(has(ran.err, "expected a file that this command does not read, found")) << command << "\n" << ran.err;
  }
}

TEST(Files, TheBaseOfAGpuFileIsAnInputToo) {
  const Ran ran = shell(
      "echo base: mybase > gpu.yaml; cp d mybase.yaml\n"
      "$NOTEG simulate --arch ./gpu.yaml --report mybase.yaml; status=$?; cat mybase.yaml; exit $status");
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_EQ(ran.out, "precious\n");
}

TEST(Files, StandardOutputIsNoInputEither) {
  const Ran ran = shell("$NOTEG dataset export d >> d; status=$?; cat d; exit $status");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "precious\n");
  EXPECT_TRUE(has(ran.err, "standard output: expected a file that this command does not read")) << ran.err;
}

TEST(Files, NoTwoOutputsAreOneFile) {
  for (const char* command :
       {"train --data x --out m --onnx m", "train --data x --out m --onnx ../w/m",
        "validate --data x --table m --markdown ./m", "validate --data x --table d --report hard"}) {
    const Ran ran = shell(std::string("$NOTEG ") + command);
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_TRUE(has(ran.err, "expected a file of its own, found")) << command << "\n" << ran.err;
  }
  EXPECT_FALSE(has(shell("$NOTEG validate --data x --table /dev/null --markdown /dev/null").err, "of its own"));
}

TEST(Files, WhatCannotBeWrittenIsToldBeforeTheWork) {
  for (const char* command :
       {"calibrate --arch l4 --data x --out", "train --data x --out", "train --data x --onnx",
        "validate --data x --table", "validate --data x --predictions", "validate --data x --markdown",
        "simulate --arch l4 --power-trace", "dataset merge x --out", "compare --arch l4 --report"})
    for (const char* path : {"no/folder/f", "folder", "''", "$(printf '%0250d' 0)"}) {
      const Ran ran = shell(std::string("$NOTEG ") + command + " " + path);
      EXPECT_EQ(ran.status, 2) << command << path;
      EXPECT_TRUE(has(ran.err, "expected a file")) << command << path << "\n" << ran.err;
    }
  EXPECT_TRUE(
      has(shell("$NOTEG tune --arch l4 --out-dir d").err, "--out-dir: expected a folder to write into, found a file"));
}

TEST(Files, WhatAProgramReadsFromStandardOutputIsOneText) {
  for (const char* command :
       {"simulate --arch l4 --power-trace - --format json", "validate --data x --predictions - --format csv",
        "simulate --arch l4 --sass x --launch x --stalls - --format json",
        "calibrate --arch l4 --data x --out - --format json"}) {
    const Ran ran = shell(std::string("$NOTEG ") + command);
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_TRUE(has(ran.err, "a file (standard output holds the result as")) << command << "\n" << ran.err;
  }
}

// A page that could not be written stays a failure, whatever is written after it.
TEST(Files, EveryFileOfACompiledKernelCounts) {
  const std::string folder = NOTEG_SOURCE_DIR "/examples/triton_kernel/";
  const Ran ran = run_shell("$NOTEG simulate --arch l4 --sass " + folder + "softmax.sass --launch " + folder +
                            "launch.yaml --report /dev/full --stalls \"$TMPDIR\"/s.csv");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_TRUE(has(ran.err, "No space left on device")) << ran.err;
}

TEST(Files, AClosedStandardOutputIsAFailureAndLendsItsNumberToNoFile) {
  const Ran ran = shell("$NOTEG arch list >&-");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.err, "standard output: Bad file descriptor")) << ran.err;
  const Ran page = shell(
      "$NOTEG simulate --arch l4 --family simt --tile 64x64x8 --shape 64x64x64 --report r.html >&-; head -c 9 r.html");
  EXPECT_EQ(page.out, "<!DOCTYPE") << page.err;
}

TEST(Files, ControlCharactersReachNoTerminal) {
  for (const char* command : {"simulate --arch \"$(printf 'x\\033[2J')\"", "dataset info \"$(printf 'x\\033[2J')\"",
                              "\"$(printf '\\033[2J')\"", "simulate --kernel-name \"$(printf 'x\\302\\2332J')\"",
                              "validate --data \"$(printf 'x\\377')\""}) {
    const Ran ran = shell(std::string("$NOTEG ") + command);
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_TRUE(has(ran.err, "\\u00")) << command << "\n" << ran.err;
    for (const char* raw : {"\033", "\302\233", "\377"}) EXPECT_FALSE(has(ran.err, raw)) << command;
  }
}

TEST(Files, ALatin1ByteIsToldWithItsPlace) {
  const Ran ran = shell("printf 'm,time_us\\n1,2\\n3,caf\\351\\n' > l.csv; $NOTEG train --data l.csv --out m.json");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(has(ran.err, "l.csv:3:2: expected text in UTF-8, found the byte 0xe9")) << ran.err;
}

}  // namespace
}  // namespace noteg::test
