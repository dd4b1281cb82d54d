// noteg generate and noteg dataset as a user meets them: signals, kills, ranks, wrong input.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

namespace fs = std::filesystem;

TEST(Examples, HoldSweepsThatCanBeRun) {
  for (const char* sweep : {"gpperf_study/sweep", "measured_forest/linear", "measured_forest/batched"}) {
    const Ran ran = run_shell("\"$NOTEG\" generate --dry-run --sweep '" NOTEG_SOURCE_DIR "/examples/" +
                              std::string(sweep) + ".yaml'");
    EXPECT_EQ(ran.status, 0) << sweep << ran.err;
  }
}

class Generate : public testing::Test {
 protected:
  Generate() {
    std::string name = (fs::temp_directory_path() / "noteg_gen_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
    std::ofstream(folder_ / "s.yaml")
        << "gpus: [l4]\nshape: {m: [64, 128, 192], n: [64, 128], k: [16, 32, 48]}\nkernels:\n"
           "  - {family: simt, tile: [64x64x8, 32x64x8, 64x32x8], stages: 2}\n";
  }
  ~Generate() override { fs::remove_all(folder_); }

  // In the folder, with $S for the sweep.
  [[nodiscard]] Ran shell(const std::string& command) const {
    return run_shell("cd '" + folder_.string() + "'; S='--sweep s.yaml --quiet'\n" + command);
  }

  void expect_same(const std::string& one, const std::string& other) const {
    const Ran ran = shell("$NOTEG dataset export " + one + " --out x.csv && $NOTEG dataset export " + other +
                          " --out y.csv && wc -l <x.csv && cmp x.csv y.csv");
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "55\n");  // 54 rows and the header
  }

  fs::path folder_;
};

// A killed process has its lock until it has ended, which is what the shell waits for.
TEST_F(Generate, GoesOnAfterBeingKilledAndGivesTheSameRows) {
  const Ran ran = shell(
      "for t in 0.05 0.15 0.1; do\n"
      "  $NOTEG generate $S --out killed.db --jobs 2 & p=$!; sleep $t; kill -KILL $p; wait $p\ndone\n"
      "$NOTEG generate $S --out killed.db --jobs 2 && $NOTEG generate $S --out whole.db --jobs 1");
  ASSERT_EQ(ran.status, 0) << ran.err;
  expect_same("killed.db", "whole.db");
  EXPECT_FALSE(fs::exists(folder_ / "killed.db-wal"));
  EXPECT_FALSE(fs::exists(folder_ / "killed.db.lock"));
}

TEST_F(Generate, EndsCleanlyOnSignals) {
  for (const char* signal : {"INT", "TERM"}) {
    const Ran ran = shell(
        "rm -f a.db; $NOTEG generate $S --out a.db --jobs 1 & p=$!\n"
        "while kill -0 $p 2>&- && ! [ -s a.db ]; do sleep 0.01; done; kill -" +
        std::string(signal) + " $p; wait $p; echo status $?; $NOTEG dataset info a.db");
    EXPECT_EQ(ran.status, 0) << ran.err;
    // Stopped, or through before the signal came.
    const bool stopped = ran.out.starts_with("status 1\n") && ran.err.find("goes on from there") != std::string::npos;
    EXPECT_TRUE(stopped || ran.out.starts_with("status 0\n")) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(" of 54"), std::string::npos) << ran.out << ran.err;
    EXPECT_FALSE(fs::exists(folder_ / "a.db-wal"));
  }
}

TEST_F(Generate, TellsWrongInputWithStatusTwo) {
  for (const char* arguments :
       {"--out a.db", "--sweep s.yaml", "--sweep nothing.yaml --out a.db", "--sweep s.yaml --out a.db --shard 3/2",
        "--sweep s.yaml --out a.db --jobs 0", "--sweep s.yaml --out s.yaml"}) {
    const Ran ran = shell(std::string("$NOTEG generate ") + arguments);
    EXPECT_EQ(ran.status, 2) << arguments << ran.err;
    EXPECT_NE(ran.err.find("expected"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(shell("$NOTEG dataset info s.yaml").status, 2);
  EXPECT_EQ(shell("$NOTEG dataset inform s.yaml").status, 2);
}

TEST_F(Generate, SaysWhereItCannotWrite) {
  for (const char* out : {"no/folder.db", "/proc/nothing.db", "/dev/full/x.db"}) {
    const Ran ran = shell(std::string("$NOTEG generate $S --out ") + out);
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_NE(ran.err.find(out), std::string::npos) << ran.err;
  }
  const Ran full = shell("$NOTEG generate $S --out a.db --jobs 2 && $NOTEG dataset export a.db > /dev/full");
  EXPECT_EQ(full.status, 1);
  EXPECT_NE(full.err.find("No space left"), std::string::npos) << full.err;
}

TEST_F(Generate, AnExportIsThereInFullOrNotAtAll) {
  const Ran ran = shell(
      "$NOTEG generate $S --out a.db --jobs 2 && echo old > x.csv && "
      "(ulimit -f 2; $NOTEG dataset export a.db --out x.csv)");
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("x.csv: File too large"), std::string::npos) << ran.err;
  EXPECT_EQ(shell("ls | grep part").out, "");
  EXPECT_EQ(fs::file_size(folder_ / "x.csv"), 4);
}

TEST_F(Generate, TurnsASecondWriterAway) {
  const Ran ran = shell("exec 7>a.db.lock; flock 7; $NOTEG generate $S --out a.db");
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("being written"), std::string::npos) << ran.err;
}

TEST_F(Generate, TurnsAWriterAwayThatComesByAnotherName) {
  const Ran link = shell("ln -s a.db b.db; exec 7>a.db.lock; flock 7; $NOTEG generate $S --out b.db");
  EXPECT_EQ(link.status, 2);
  EXPECT_NE(link.err.find("being written"), std::string::npos) << link.err;
  // The log of an interrupted run lies beside one of the names only.
  const Ran hard = shell("$NOTEG generate $S --out c.db --jobs 2 && ln c.db d.db && $NOTEG generate $S --out d.db");
  EXPECT_EQ(hard.status, 2);
  EXPECT_NE(hard.err.find("d.db: expected a file with one name"), std::string::npos) << hard.err;
  const Ran part = shell("echo mine > v; ln -s v e.csv.part; $NOTEG generate $S --out e.csv");
  EXPECT_EQ(part.status, 2);
  EXPECT_NE(part.err.find("e.csv.part: expected a file of this program"), std::string::npos) << part.err;
  EXPECT_EQ(shell("cat v").out, "mine\n");
}

TEST_F(Generate, AnExportEndsQuietlyWhereItsReaderHasSeenEnough) {
  const Ran ran =
      shell("$NOTEG generate $S --out a.db --jobs 2; { $NOTEG dataset export a.db; echo $? >&2; } | head -c 1");
  EXPECT_EQ(ran.err, "0\n");
}

TEST_F(Generate, AMergeLeavesOtherFilesAlone) {
  const Ran ran =
      shell("$NOTEG generate $S --out a.db --jobs 2; echo mine > m.db.tmp; $NOTEG dataset merge a.db --out m.db");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(shell("cat m.db.tmp").out, "mine\n");
  EXPECT_EQ(shell("ls | grep part").out, "");
}

#ifdef NOTEG_MPIRUN
TEST_F(Generate, OnRanksGivesTheSameRowsAsAlone) {
  const std::string mpirun =
      "ASAN_OPTIONS=detect_leaks=0 "  // MPI leaves behind what it allocated
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 '" NOTEG_MPIRUN
      "'";
  const Ran ran =
      shell(mpirun + " -n 1 $NOTEG generate $S --out one.db && " + mpirun + " -n 3 $NOTEG generate $S --out three.db");
  ASSERT_EQ(ran.status, 0) << ran.err;
  expect_same("one.db", "three.db");
  const Ran wrong = shell(mpirun + " -n 2 $NOTEG generate --sweep s.yaml --out s.yaml");
  EXPECT_EQ(wrong.status, 2) << wrong.err;
}
#endif

}  // namespace
}  // namespace noteg::test
