// What goes on to DRAM: stores to local memory, against rows local_memory and local_memory_dram of
// h200_memory_micro.csv, and lines of which L2 holds a sector each (l2_lines).
#include <gtest/gtest.h>

#include "tests/compiled/small_run.hpp"

namespace noteg::compiled {
namespace {

constexpr std::int64_t ctas = 132 * 16 * 3, threads = 128;

// Each thread stores so many words.
gpu::MemoryTraffic stored(int words) {
  std::string code = "LDC R1, c[0x0][0x28]\nIADD3 R1, R1, -" + std::to_string(4 * words) + ", RZ\n";
  for (int i = 0; i < words; ++i) code += "STL [R1+" + std::to_string(4 * i) + "], R2\n";
  return simulated(Small(code + "EXIT\n", {}, {threads, 1, 1}, {ctas, 1, 1})).memory;
}

TEST(LocalMemory, AllThatIsStoredGoesToL2AndOnWhereLiveFramesDoNotFitThere) {
  for (const int words : {16, 128, 256}) {
    const double bytes = 4.0 * words * static_cast<double>(ctas * threads);
    const gpu::MemoryTraffic memory = stored(words);
    EXPECT_NEAR(memory.l2_write_bytes, bytes, 0.01 * bytes) << words;
    // 17 MB are live at a time, 138 and 277: an H200 sends 0.06, 0.99 and 1.0 of it to DRAM.
    EXPECT_NEAR(memory.dram_write_bytes / bytes, words == 16 ? 0.06 : 1.0, 0.1) << words;
    EXPECT_EQ(memory.dram_read_bytes, 0) << words;
  }
}

// Each thread reads a row of 256 bytes of each buffer, word by word. Its sectors pass L1 by. Those of all threads that
// are live have room in L2, 17 MB for two buffers, but their lines are 69 MB.
TEST(L2Lines, ASectorTakesTheRoomOfItsLine) {
  const auto times_read = [&](int buffers) {
    std::string code = "S2R R0, SR_CTAID.X\nS2R R2, SR_TID.X\nLEA R3, R0, R2, 0x8\nMOV R30, RZ\n", loads;
    std::vector<Argument> arguments;
    for (int i = 0; i < buffers; ++i) {
      const std::string r = "R" + std::to_string(4 + 2 * i);
      code += "LDC.64 " + r + ", c[0x0][0x" + std::to_string(210 + 8 * i) + "]\n";
      code += "IMAD.WIDE " + r + ", R3, 0x100, " + r + "\n";
      loads += "LDG.E R" + std::to_string(20 + i) + ", desc[UR4][" + r + ".64]\nIADD3 " + r + ", " + r + ", 0x4, RZ\n";
      arguments.push_back(buffer(1 << 28));
      arguments.back().name = std::string(1, static_cast<char>('a' + i));
    }
    code += "LBB0:\n" + loads + "IADD3 R30, R30, 0x1, RZ\nISETP.LT.AND P0, PT, R30, 0x40, PT\n@P0 BRA LBB0\nEXIT\n";
    const gpu::SimReport report = simulated(Small(code, arguments, {256, 1, 1}, {132 * 8 * 3, 1, 1}));
    return report.memory.dram_read_bytes / (132.0 * 8 * 3 * 256 * 256 * buffers);
  };
  EXPECT_NEAR(times_read(1), 1, 0.1);
  EXPECT_GT(times_read(2), 3);
}

// All CTAs pass four times over the same 512 KB, which is more than L1 and a small part of its buffer: it takes that
// much of L2 and comes from DRAM once at most.
TEST(L2Lines, WhatAllCtasReadTakesItsRoomOnce) {
  const gpu::SimReport run = simulated(
      Small("S2R R1, SR_TID.X\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R4, R1, 0x4, R4\nMOV R2, RZ\nLBB0:\nMOV R6, R4\n"
            "MOV R7, R5\nMOV R3, RZ\nLBB1:\nLDG.E R8, desc[UR4][R6.64]\nIADD3 R6, P0, R6, 0x80, RZ\n"
            "IADD3.X R7, R7, RZ, RZ, P0, !PT\nIADD3 R3, R3, 0x1, RZ\nISETP.NE.AND P0, PT, R3, 0x1000, PT\n"
            "@P0 BRA LBB1\nIADD3 R2, R2, 0x1, RZ\nISETP.NE.AND P0, PT, R2, 0x4, PT\n@P0 BRA LBB0\nEXIT\n",
            {buffer(256 << 20)}, {32, 1, 1}, {264, 1, 1}));
  EXPECT_LE(run.memory.dram_read_bytes, 512 * 1024);
}

}  // namespace
}  // namespace noteg::compiled
