// What accesses to global memory cost by how their lanes lie, against rows l1_hits of h200_memory_micro.csv.
#include "sim/sm/decoded.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <tuple>

#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

MemoryCost cost_of(kernels::Opcode op, int bytes, int stride) {
  kernels::AccessPattern pattern;
  pattern.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  for (std::size_t lane = 0; lane < 32; ++lane)
    pattern.offset[lane] = static_cast<std::uint32_t>(lane) * static_cast<std::uint32_t>(stride);
  kernels::Program program;
  program.patterns.push_back(pattern);
  kernels::Instruction in;
  in.op = op;
  in.pattern = 0;
  in.access_bytes = static_cast<std::uint8_t>(bytes);
  return memory_cost(in, program, sm_of("h200-sxm-141gb"), {}, true);
}

// By way, bytes, stride and warps: cycles of an iteration.
using Rows = std::map<std::tuple<std::string, int, int, int>, double>;

const Rows& rows() {
  static const Rows all = [] {
    Rows out;
    std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/h200_memory_micro.csv");
    for (std::string text; std::getline(file, text);) {
      std::array<char, 64> way{};
      int bytes = 0, stride = 0, warps = 0;
      double cycles = 0;
      if (std::sscanf(text.c_str(), "l1_hits,way=%63[^;];bytes=%d;stride=%d;warps=%d,%lf", way.data(), &bytes, &stride,
                      &warps, &cycles) == 5)
        out[{way.data(), bytes, stride, warps}] = cycles;
    }
    return out;
  }();
  return all;
}

template <class Check>
void for_each_row(const std::string& wanted, int warps_wanted, Check check) {
  int count = 0;
  for (const auto& [key, cycles] : rows()) {
    const auto& [way, bytes, stride, warps] = key;
    if (way != wanted || warps != warps_wanted) continue;
    SCOPED_TRACE(way + ", " + std::to_string(bytes) + " bytes each " + std::to_string(stride));
    check(bytes, stride, cycles, rows().at({way, bytes, bytes, warps}));
    ++count;
  }
  EXPECT_GT(count, 20);
}

// Conflicts of banks and lines of tags delay a load by what an H200 delays it, beyond one whose lanes lie close.
TEST(GlobalAccess, ConflictsDelayALoadThatL1Has) {
  for_each_row("a chain", 1, [](int bytes, int stride, double cycles, double close) {
    EXPECT_NEAR(cost_of(kernels::Opcode::ldg, bytes, stride).pass_latency, cycles - close, 2.5);
  });
}

// Of 32 warps, each of which waits for its own load, L1 is the limit where lanes lie apart.
TEST(GlobalAccess, ConflictsKeepL1BusyWhateverTheWidth) {
  for_each_row("a chain", 32, [](int bytes, int stride, double cycles, double) {
    const MemoryCost cost = cost_of(kernels::Opcode::ldg, bytes, stride);
    const int busy = std::max(cost.front_cycles, cost.l1_bank_cycles);
    if (busy < 4) return;
    EXPECT_NEAR(busy, cycles / 32, 1.1);
  });
}

// A store leaves the SM once it has passed L1, sector by sector, with a mask for each line; a load waits behind it.
TEST(GlobalAccess, AStoreIsSentWhenItHasPassedL1) {
  for_each_row("behind a store and from L2", 1, [](int bytes, int stride, double cycles, double close) {
    const auto until_sent = [&](int apart) {
      const MemoryCost cost = cost_of(kernels::Opcode::stg, bytes, apart);
      return cost.pass_latency + cost.sectors + cost.masked;
    };
    EXPECT_NEAR(until_sent(stride) - until_sent(bytes), cycles - close, 17);
  });
}

}  // namespace
}  // namespace noteg::sm
