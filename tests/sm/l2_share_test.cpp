// What a load beyond L1 costs: bursts at the SM's own port, the share of L2 over a while, the front for each line.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

// Loads of 128 bytes one after the other, the last one waited for, then `apart` cycles without any.
std::string bursts(int loads, int apart) {
  std::string text = ".warps 1\n.access R2 global 4 lane*4\nloop:\n";
  for (int i = 0; i < loads; ++i) text += fmt::format("[B------:R-:W0:-:S01] LDG.E R{}, [R2] ;\n", 8 + i);
  text += "[B0-----:R-:W-:-:S01] FADD R4, R5, R5 ;\n";
  for (int i = 0; i < apart / 4; ++i) text += "[B------:R-:W-:-:S04] FADD R4, R4, R5 ;\n";
  return text + "[B------:R-:W-:-:S01] BRA loop ;\n";
}

double iteration(int loads, int apart, double share, double port) {
  MicroKernel kernel{.text = bursts(loads, apart)};
  kernel.memory_port.read_bytes_per_cycle = share;
  kernel.memory_port.read_burst_bytes_per_cycle = port;
  // From behind the time in which all SMs begin together.
  return (run_micro(kernel, 48).cycles - run_micro(kernel, 24).cycles) / 24;
}

TEST(ShareOfL2, RareBurstsComeAtTheRateOfThePort) {
  EXPECT_NEAR(iteration(32, 4000, 16, 128), iteration(32, 4000, 128, 128), 1);
  EXPECT_GT(iteration(32, 4000, 16, 0), iteration(32, 4000, 128, 128) + 100);
}

TEST(ShareOfL2, SteadyLoadsGetTheShareAndNoMore) {
  EXPECT_NEAR(iteration(32, 0, 4, 128), 32 * 128 / 4, 0.02 * 32 * 128 / 4);
}

// Loads one behind the other, each waited for, of which `again` in twenty were asked for by another warp.
double chain(int again, bool joins = false) {
  MicroKernel kernel{.text =
                         ".warps 1\n.access R2 global 4 lane*4\nloop:\n"
                         "[B------:R-:W0:-:S01] LDG.E R8, [R2] ;\n"
                         "[B0-----:R-:W-:-:S04] FADD R4, R8, R8 ;\n"
                         "[B------:R-:W-:-:S01] BRA loop ;\n"};
  kernel.memory_port.shared[0].again = again;  // of an operand that the text does not name
  kernel.memory_port.shared[0].joins = joins;
  return (run_micro(kernel, 120).cycles - run_micro(kernel, 60).cycles) / 60;
}

TEST(ShareOfL2, WhatAnotherWarpAskedForIsInL1) {
  const MicroKernel usual;
  EXPECT_NEAR(chain(0) - chain(20), usual.memory_port.latency - usual.memory_port.l1_latency, 4);
  EXPECT_NEAR(chain(15), 0.25 * chain(0) + 0.75 * chain(20), 1);
}

TEST(ShareOfL2, WhatIsOnItsWayTakesAsLongAsForWhoAskedForIt) { EXPECT_NEAR(chain(15, true), chain(0), 2); }

// Rows out_of_l1 of h200_memory_micro.csv: 16 bytes a lane, 16 warps load and 16 store; alone a load takes 6.7 cycles
// and a store 16.0, both 21.3.
TEST(ShareOfL2, LoadsAndStoresLeaveL1OneAfterTheOther) {
  const auto iteration = [](const char* access) {
    MicroKernel kernel{.text = std::string(".warps 16\n.access R2 global 16 lane*16\nloop:\n") + access +
                               "[B------:R-:W-:-:S05] BRA loop ;\n"};
    kernel.memory_port.read_bytes_per_cycle = kernel.memory_port.read_burst_bytes_per_cycle = 128;
    kernel.memory_port.write_bytes_per_cycle = kernel.memory_port.write_burst_bytes_per_cycle = 32;
    return (run_micro(kernel, 128).cycles - run_micro(kernel, 64).cycles) / 64 / 16;
  };
  const char* load = "[B0-----:R-:W0:-:S01] LDG.E.128 R8, [R2] ;\n";
  const char* store = "[B------:R-:W-:-:S01] STG.E.128 [R2], R12 ;\n";
  EXPECT_NEAR(iteration(store), 16.0, 0.2);
  EXPECT_NEAR(iteration((std::string(load) + store).c_str()), 21.3, 0.4);
}

// Eight warps whose LDS keep the front busy, and one load of four lines among each sixteen.
double front_cycles_of_load(const std::string& gpu) {
  const auto cycles = [&](bool with_load) {
    std::string text = ".warps 8\n.access R2 shared 4 lane*4\n.access R3 global 4 lane/8*4096+lane%8*4\nloop:\n";
    for (int i = 0; i < 64; ++i) {
      text += fmt::format("[B------:R-:W-:-:S01] LDS R{}, [R2] ;\n", 8 + i % 32);
      if (with_load && i % 16 == 0) text += fmt::format("[B------:R-:W-:-:S01] LDG.E R{}, [R3] ;\n", 48 + i / 16);
    }
    return cycles_per_iteration({.text = text + "[B------:R-:W-:-:S01] BRA loop ;\n", .gpu = gpu});
  };
  return (cycles(true) - cycles(false)) / (4 * 8);
}

// H200M: 4.6 to 4.9 cycles beside busy LDS on GH100.
TEST(LinesThatArrive, HoldTheFront) { EXPECT_NEAR(front_cycles_of_load("h200-sxm-141gb"), 5, 0.4); }

// Where the front takes the addresses of half a warp a cycle, the data stage has time for the lines: a load costs
// little more than its addresses take, although eight warps load at once and the lines of one take five cycles.
TEST(LinesThatArrive, PassWhileAddressesAreTaken) {
  EXPECT_GE(front_cycles_of_load("rtx4070"), 2);
  EXPECT_LE(front_cycles_of_load("rtx4070"), 3.2);
}

}  // namespace
}  // namespace noteg::sm
