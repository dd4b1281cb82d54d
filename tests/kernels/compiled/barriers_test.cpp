// Asynchronous units of compiled kernels: which barriers warps use in which turns, and what bulk copies move.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/compiled/footprint.hpp"
#include "kernels/compiled/profile.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {
namespace {

const std::string compiled_data = NOTEG_SOURCE_DIR "/tests/data/compiled/";
using kernels::AsyncKind;

const Listing& hopper() {
  static const Result<Listing> listing = read_listing(compiled_data + "hopper_sm90a.sass.gz");
  return *listing;
}

struct Emulated {
  Launch launch;
  std::unique_ptr<LaunchMemory> memory;
  Profile profile;
};

// The first measured launch of a kernel, with the launch file's own words behind.
Emulated emulated(const std::string& kernel, const std::string& changed_arguments = {}) {
  const auto rows = read_csv(compiled_data + "h200_hopper_launches.csv");
  Emulated out;
  for (std::size_t i = 0; i < rows->rows.size(); ++i) {
    const auto field = [&](std::string_view name) { return rows->rows.at(i, *rows->column(name)); };
    if (field("kernel") != kernel) continue;
    const std::string_view arguments = changed_arguments.empty() ? field("args") : std::string_view(changed_arguments);
    out.launch = *launch_from_row({field("kernel"), field("grid"), field("block"), field("dynamic_shared"), arguments,
                                   field("static_shared"), field("regs")},
                                  "rows.csv", rows->lines[i]);
    break;
  }
  out.memory = std::make_unique<LaunchMemory>(out.launch, hopper().sm);
  Result<Profile> profile = noteg::compiled::profile(hopper(), **hopper().kernel(kernel), out.launch, *out.memory);
  EXPECT_TRUE(profile);
  out.profile = std::move(*profile);
  return out;
}

double copied(const Profile& profile, bool loads) {
  double bytes = 0;
  for (std::size_t i = 0; i < profile.bulk_sectors.size(); ++i)
    if (is_bulk_load(*profile.code.steps[i].in) == loads) bytes += 32 * profile.bulk_sectors[i];
  return bytes;
}

TEST(Barriers, StagesOfAPipelineAreRingsOfOneWithTheArrivalsThatTheyWereMadeFor) {
  const AsyncPlan plan = emulated("w_ws_128x128_s4").profile.classes.front().async;
  ASSERT_EQ(plan.rings.size(), 8u);  // four stages, full and empty
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(plan.rings[i].arrivals, 1);
  for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(plan.rings[i].arrivals, 2);  // two warpgroups
}

TEST(Barriers, FreeStagesAreFoundFreeAtTheStartAndFullOnesAreNot) {
  const AsyncPlan plan = emulated("w_ws_128x128_s4").profile.classes.front().async;
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(plan.rings[i].starts_complete, i >= 4) << i;
}

TEST(Barriers, AnUnrolledLoopTakesEveryOtherStage) {
  const AsyncPlan plan = emulated("w_ws_128x128_s4").profile.classes.front().async;
  bool found = false;
  for (const auto& [at, op] : plan.ops) {
    if (op.kind != AsyncKind::wait || op.turns < 0) continue;
    const auto& turns = plan.turns[static_cast<std::size_t>(op.turns)].front().turns;
    if (turns.size() != 2) continue;
    EXPECT_EQ(std::abs(turns[0].ring - turns[1].ring), 2);
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST(Barriers, ExpectedBytesAreBoxesOfBothOperands) {
  const AsyncPlan plan = emulated("w_ws_128x128_s4").profile.classes.front().async;
  for (const auto& [at, op] : plan.ops) {
    if (op.kind == AsyncKind::load_box) {
      EXPECT_EQ(op.bytes, 128 * 64 * 2);
    }
    if (op.kind != AsyncKind::arrive) continue;
    for (const kernels::WarpTurns& warp : plan.turns[static_cast<std::size_t>(op.turns)])
      for (const kernels::BarrierTurn& turn : warp.turns)
        if (turn.ring >= 0 && turn.ring < 4) {
          EXPECT_EQ(turn.boxes, 2);
        }
  }
}

TEST(Barriers, MulticastBringsTheBoxesOfAllPeers) {
  Emulated run = emulated("w_cluster_64x128_s4");
  run.launch.cluster = Extent{2, 1, 1};
  const Result<Profile> profile =
      noteg::compiled::profile(hopper(), **hopper().kernel("w_cluster_64x128_s4"), run.launch, *run.memory);
  ASSERT_TRUE(profile);
  double halves = 0;
  for (const auto& [at, op] : profile->classes.front().async.ops)
    if (op.kind == AsyncKind::load_box && op.bytes == 2 * 32 * 64 * 2) halves += 1;
  EXPECT_GT(halves, 0);
}

TEST(BulkCopies, MoveWhatTheCountersOfTheH200Say) {
  // 64 CTAs, 16 k-tiles, two boxes of 16 KiB.
  EXPECT_DOUBLE_EQ(copied(emulated("w_ws_128x128_s4").profile, true), 64.0 * 16 * 2 * 16384);
  EXPECT_DOUBLE_EQ(copied(emulated("b_bulk_copy").profile, true), 16777216);
  EXPECT_DOUBLE_EQ(copied(emulated("b_bulk_copy").profile, false), 16777216);
}

TEST(BulkCopies, WithoutATensorMapTheBarrierTellsTheirSize) {
  const Emulated run = emulated("w_ws_128x128_s4", "i=1024 i=1024 i=1024 l=4096 l=8192 p=C:2097152:bf16");
  EXPECT_DOUBLE_EQ(copied(run.profile, true), 64.0 * 16 * 2 * 16384);
  EXPECT_TRUE(std::ranges::any_of(run.profile.assumptions, [](const std::string& text) {
    return text.find("no tensor map") != std::string::npos && text.find("16384 bytes") != std::string::npos;
  }));
}

TEST(BulkCopies, CtasOfARowShareTheRowsOfA) {
  const Emulated run = emulated("w_ws_128x128_s4");
  const Footprints prints = footprints(run.profile, hopper(), **hopper().kernel("w_ws_128x128_s4"), run.launch,
                                       *run.memory, {128 * 1024, 132, 1});
  int along_x = 0, along_y = 0;
  for (const FootprintGroup& group : prints.groups) {
    if (group.store) continue;
    EXPECT_TRUE(group.is_affine);
    along_x += group.step[0] != 0 && group.step[1] == 0 ? 1 : 0;
    along_y += group.step[0] == 0 && group.step[1] != 0 ? 1 : 0;
  }
  EXPECT_EQ(along_x, 1);  // B
  EXPECT_EQ(along_y, 1);  // A
}

// A grid of 8 x 8 whose CTAs read as much of A, of their row, as of B, of their column. On 132 SMs each has a TPC for
// itself and a GPC has a row, whose reads of A merge two by two. On 64 SMs it has two rows, and a TPC two columns: A
// merges there, then two by two of the four TPCs of a row, and B of the two of a column.
TEST(BulkCopies, CtasOfAGpcMergeWhatTheyCopyTwoByTwo) {
  const Emulated run = emulated("w_ws_128x128_s4");
  const auto prints = [&](int sms) {
    return footprints(run.profile, hopper(), **hopper().kernel("w_ws_128x128_s4"), run.launch, *run.memory,
                      {128 * 1024, sms, 1, sms / 16});
  };
  const Footprints alone = prints(132), in_pairs = prints(64);
  EXPECT_DOUBLE_EQ(alone.merged_by_pair, 0);
  EXPECT_DOUBLE_EQ(alone.merged_in_gpc, 0.5 / 2);
  EXPECT_DOUBLE_EQ(in_pairs.merged_by_pair, 0.5 / 2);
  EXPECT_DOUBLE_EQ(in_pairs.merged_in_gpc, 0.5);
}

// What waits for a barrier may ask more than once; nothing else depends on time.
TEST(MeasuredHopperCounts, ExecutedInstructionsAreThoseOfTheCountersButForRepeatedTries) {
  const auto rows = read_csv(compiled_data + "h200_hopper_launches.csv");
  for (std::size_t i = 0; i < rows->rows.size(); ++i) {
    const auto field = [&](std::string_view name) { return rows->rows.at(i, *rows->column(name)); };
    const auto launch = launch_from_row({field("kernel"), field("grid"), field("block"), field("dynamic_shared"),
                                         field("args"), field("static_shared"), field("regs")},
                                        "rows.csv", rows->lines[i]);
    const LaunchMemory memory(*launch, hopper().sm);
    const Result<Profile> profile =
        noteg::compiled::profile(hopper(), **hopper().kernel(launch->kernel), *launch, memory);
    ASSERT_TRUE(profile);
    const double measured = noteg::parse_number(field("smsp__inst_executed.sum")).value_or(0);
    EXPECT_LE(profile->warp_instructions(), measured) << field("launch");
    EXPECT_GE(profile->warp_instructions(), 0.929 * measured) << field("launch");
  }
}

TEST(LiveRegisters, AreNoneBehindTheLastUseAndAtMostWhatTheKernelHas) {
  const Code& code = **hopper().kernel("m_hist");
  const EmulatedCode prepared = prepare(hopper(), code, Wanted::path);
  const std::vector<int> live = live_registers(prepared);
  ASSERT_EQ(live.size(), code.instructions.size());
  EXPECT_GT(*std::ranges::max_element(live), 3);
  EXPECT_LE(*std::ranges::max_element(live), prepared.registers);
  for (std::size_t i = 0; i < live.size(); ++i)
    if (code.instructions[i].base == "EXIT" && code.instructions[i].guard < 0) {
      EXPECT_EQ(live[i], 0);
    }
}

// A stage is given back an iteration later, so that the first gives none back; that comes once, however long the loop.
TEST(BarrierTurns, WhatOnlyTheFirstIterationLeavesOutIsNotRepeated) {
  constexpr int stages = 3, iterations = 22, empty = 64;
  BarrierLog log(1, 1);
  const auto note = [&log](std::int32_t at, ActKind kind, int barrier, std::int64_t parity = -1) {
    AsyncAct act;
    act.at = at;
    act.kind = kind;
    act.barrier = barrier;
    act.arrivals = kind == ActKind::arrive ? 1 : 0;
    act.value = parity;
    log.note(0, act);
  };
  for (int i = 0; i < iterations; ++i) {
    note(0, ActKind::wait, empty + 8 * (i % stages), (i / stages + 1) % 2);
    note(1, i > 0 ? ActKind::arrive : ActKind::nothing, empty + 8 * ((i + stages - 1) % stages));
  }
  const AsyncPlan plan = log.plan({});
  const auto turns = [&plan](std::int32_t at) {
    return plan.turns[static_cast<std::size_t>(plan.ops.at(at).turns)].front();
  };
  EXPECT_EQ(turns(0).turns.size(), 3U);
  EXPECT_EQ(turns(0).repeats_from, 0U);
  EXPECT_EQ(turns(1).turns.size(), 4U);
  EXPECT_EQ(turns(1).turns.front().ring, -1);
  EXPECT_EQ(turns(1).repeats_from, 1U);
}

// An arrival counts for as many as its register says, and expects no bytes.
TEST(BarrierTurns, AnArrivalMayCountForSeveral) {
  Small kernel(
      "UMOV UR4, 0x400\nUMOV UR5, 0xfffff8\nSYNCS.EXCH.64 URZ, [UR4], UR5\nMOV R5, 0x3\nELECT P0, URZ, PT\n"
      "@P0 SYNCS.ARRIVE.TRANS64.ART0 RZ, [UR4], R5\nMOV R6, RZ\n"
      "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R6\nEXIT\n");
  EXPECT_EQ(kernel.at(5).warps, 1);
  const AsyncPlan& plan = kernel.profile->classes.front().async;
  ASSERT_EQ(plan.ops.count(5), 1u);
  const kernels::WarpTurns& turns = plan.turns[static_cast<std::size_t>(plan.ops.at(5).turns)].at(0);
  ASSERT_EQ(turns.turns.size(), 1u);
  EXPECT_EQ(turns.turns[0].arrivals, 3);
  EXPECT_EQ(turns.turns[0].boxes, 0);
}

// A box of 32 rows of 64 in each of two planes: 2 bytes an element, as the driver writes the map of such a tensor.
TEST(BulkCopies, ABoxTakesSeveralPlanes) {
  std::array<std::uint32_t, 32> word{};
  word[0] = 0x10000000;
  word[1] = 0x7f00;                              // address
  word[3] = 256 / 16;                            // bytes from row to row, by 16
  word[4] = 128 / 16;                            // from plane to plane
  word[8] = 63, word[9] = 1023, word[10] = 1;    // extents less one
  word[13] = 63u << 24, word[14] = 31 | 1 << 8;  // of the box, likewise
  word[16] = 64 * 32 * 2 * 2;                    // its bytes
  std::string hex;
  for (const std::uint32_t each : word)
    for (int i = 0; i < 4; ++i) hex += fmt::format("{:02x}", each >> (8 * i) & 0xff);
  const std::string before(2 * 0x70, '0');  // so many bytes of other parameters
  const std::string arguments = "x=" + before + " x=" + hex;
  const auto launch = launch_from_row({"k", "1x1x1", "1x1x1", "0", arguments, "", ""}, "rows.csv", 1);
  ASSERT_TRUE(launch) << to_string(launch.errors());
  Small kernel(
      "UMOV UR4, 0x400\nUMOV UR5, 0xfffffe\nSYNCS.EXCH.64 URZ, [UR4], UR5\nULDC.64 UR6, c[0x0][0x198]\n"
      "UIADD3 UR6, UP0, UR6, 0x70, URZ\nUIADD3.X UR7, URZ, UR7, URZ, UP0, !UPT\nUMOV UR8, 0x1000\nUMOV UR9, 0x400\n"
      "UMOV UR10, URZ\nUMOV UR11, URZ\nUMOV UR12, URZ\nUTMALDG.3D [UR8], [UR6]\nEXIT\n",
      launch->arguments, launch->block);
  EXPECT_EQ(kernel.at(11).warps, 1);
  EXPECT_EQ(kernel.profile->bulk_sectors.at(11), 64.0 * 32 * 2 * 2 / 32);
}

TEST(LaunchRows, StructuresAreWordsInHex) {
  const auto read = [](const std::string& arguments) {
    return launch_from_row({"k", "1x1x1", "32x1x1", "0", arguments, "", ""}, "rows.csv", 3);
  };
  const auto good = read("i=1 x=0100000002000000");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->arguments.at(1).raw, std::string("\1\0\0\0\2\0\0\0", 8));
  for (const char* bad : {"x=", "x=01", "x=0g000000", "x=010000000"}) EXPECT_FALSE(read(bad)) << bad;
}

}  // namespace
}  // namespace noteg::compiled
