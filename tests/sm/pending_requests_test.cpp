#include "sim/sm/units/load_store_unit.hpp"

#include <gtest/gtest.h>

#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

TEST(PendingRequests, HasRoomUntilItsEntriesAreTakenAndAgainWhenTheOldestReturns) {
  PendingRequests pending(2, 100);
  EXPECT_EQ(pending.room_at(0, 1), 0U);
  pending.add(50, 1);
  EXPECT_EQ(pending.room_at(1, 1), 1U);
  pending.add(60, 1);
  EXPECT_EQ(pending.room_at(2, 1), 50U);
  EXPECT_EQ(pending.room_at(49, 1), 50U);
  EXPECT_EQ(pending.room_at(50, 1), 50U);
}

TEST(PendingRequests, LimitsTheLinesInFlight) {
  PendingRequests pending(10, 8);
  pending.add(40, 6);
  EXPECT_EQ(pending.room_at(1, 2), 1U);
  EXPECT_EQ(pending.room_at(1, 3), 40U);
}

TEST(PendingRequests, AnAccessOfMoreLinesThanThereAreGoesAloneAndDoesNotHang) {
  PendingRequests pending(10, 8);
  EXPECT_EQ(pending.room_at(1, 32), 1U);
  pending.add(40, 1);
  EXPECT_EQ(pending.room_at(2, 32), 40U);
  EXPECT_EQ(pending.room_at(40, 32), 40U);
}

// 64 warps load 8 times each from memory 4000 cycles away: 512 loads through a table of 128 take four round trips, and
// one through a table of 1024.
TEST(PendingRequests, TheTableBoundsTheLoadsOfAnSm) {
  std::string text = ".warps 32\n";
  for (int i = 0; i < 8; ++i) text += "[B------:R-:W0:-:S01] LDG.E R" + std::to_string(8 + i) + ", [R2] ;\n";
  text += "[B0-----:R-:W-:-:S01] EXIT ;\n";
  const auto cycles = [&text](const char* gpu) {
    MicroKernel kernel{.text = text, .resident = 2, .gpu = gpu};
    kernel.memory_port.latency = 4000;
    return run_micro(kernel, 1).cycles;
  };
  EXPECT_GE(cycles("a100-pcie-40gb"), 4 * 4000);
  EXPECT_LT(cycles("a100-pcie-40gb"), 4 * 4000 + 1000);
  EXPECT_LT(cycles("h200-sxm-141gb"), 4000 + 1100);
}

TEST(Depbar, WaitsUntilAtMostSoManyProducersOfItsCounterAreOpen) {
  const auto waits_for = [](int open) {
    std::string text;
    for (int i = 0; i < 3; ++i) {
      text += "[B------:R-:W0:-:S02] LDG.E R" + std::to_string(8 + i) + ", [R2] ;\n";
      for (int n = 0; n < 10; ++n) text += "[B------:R-:W-:-:S10] NOP ;\n";  // loads start 102 cycles apart
    }
    text += "[B------:R-:W-:-:S04] DEPBAR.LE SB0, " + std::to_string(open) +
            " ;\n[B------:R-:W-:-:S01] NOP ;\n[B------:R-:W-:-:S01] EXIT ;\n";
    MicroKernel kernel{.text = text};
    kernel.memory_port.latency = 1000;
    return last_issue_before_exit(kernel);
  };
  EXPECT_NEAR(waits_for(0) - waits_for(1), 102, 1);
  EXPECT_NEAR(waits_for(1) - waits_for(2), 102, 1);
  EXPECT_GT(waits_for(2), 1000);
  EXPECT_LT(waits_for(3), 330);
}

// H200M, store_merging.
TEST(StoreMerging, TakesPiecesOfASectorAlongWhileItsLineWaits) {
  StoreMerging stores(2);
  EXPECT_FALSE(stores.merges(0, 0, 4, 100));
  EXPECT_TRUE(stores.merges(0, 1, 4, 124));
  EXPECT_FALSE(stores.merges(0, 1, 4, 400)) << "it has gone";
  EXPECT_TRUE(stores.merges(0, 1, 4, 424));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(stores.merges(1, 0, 4, 430));
  EXPECT_TRUE(stores.merges(0, 1, 4, 440)) << "sixteen lines in all";
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(stores.merges(1, 0, 4, 450));
  EXPECT_FALSE(stores.merges(0, 1, 4, 460)) << "pushed out";
}

}  // namespace
}  // namespace noteg::sm
