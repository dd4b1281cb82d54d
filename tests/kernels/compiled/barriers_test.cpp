// Asynchronous units of compiled kernels: which barriers warps use in which turns, and what bulk copies move.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/compiled/footprint.hpp"
#include "kernels/compiled/live_registers.hpp"
#include "kernels/compiled/profile.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

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
    EXPECT_GE(profile->warp_instructions(), 0.93 * measured) << field("launch");
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

}  // namespace
}  // namespace noteg::compiled
