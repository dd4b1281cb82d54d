// Barriers in shared memory, bulk tensor copies and warpgroup multiplications, each by a law of its own, and the rates
// and latencies of wgmma as an H200 shows them (h200_micro.csv: wgmma_latency, wgmma_throughput).
#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "kernels/families/common.hpp"
#include "kernels/ir/emitter.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::sm {
namespace {

using kernels::AsyncKind;
using kernels::AsyncOp;
using kernels::Emitter;
using kernels::Opcode;

arch::GpuSpec h200() {
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  EXPECT_TRUE(gpu);
  return *gpu;
}

void add(Emitter& e, Opcode op, const AsyncOp& async) {
  e.program().async.push_back(async);
  e.emit(op, "", {}, {}).async = static_cast<std::int16_t>(e.program().async.size() - 1);
}

double cycles(Emitter& e, int warps, std::int64_t iterations = 1) {
  e.emit(Opcode::exit, "", {}, {});
  e.program().warps = warps;
  const arch::GpuSpec gpu = h200();
  SmWork work;
  work.iterations = iterations;
  CoreSwitches switches;
  switches.icache = InstructionCache::perfect;
  const SmResult result = run_sm(decode(e.program(), gpu.sm), gpu.sm, switches, {}, work);
  EXPECT_FALSE(result.deadlock);
  return result.cycles;
}

// Iterations of: fence, `count` multiplications, wait for all of them.
double cycles_per_iteration(int n, bool a_in_registers, int warpgroups, int count) {
  const auto run = [&](std::int64_t iterations) {
    Emitter e;
    const int loop = e.begin_loop(true, 1);
    e.emit(Opcode::warpgroup, ".ARRIVE", {}, {}).control.stall = kernels::LatencyModel{}.arrive_stall;
    for (int i = 0; i < count; ++i)
      add(e, Opcode::hgmma,
          {.kind = AsyncKind::matmul, .n = n, .a_in_registers = a_in_registers, .closes_group = i + 1 == count});
    add(e, Opcode::warpgroup, {.kind = AsyncKind::matmul_wait});
    e.end_loop(loop, kernels::Operand{});
    return cycles(e, 4 * warpgroups, iterations);
  };
  return (run(60) - run(20)) / 40;
}

struct Latency {
  int n;
  bool a_in_registers;
  double measured;
};

// The loop's branch is not in the measurement.
TEST(Wgmma, LatencyAsMeasured) {
  const double branch = h200().sm.front_end.branch_redirect.value;
  for (const Latency& row :
       {Latency{8, false, 59.1}, Latency{16, false, 63.1}, Latency{32, false, 75.5}, Latency{64, false, 91.5},
        Latency{96, false, 107.6}, Latency{128, false, 123.7}, Latency{192, false, 160.5}, Latency{256, false, 198.8},
        Latency{64, true, 84.8}, Latency{128, true, 116.9}, Latency{256, true, 187.4}}) {
    EXPECT_NEAR(cycles_per_iteration(row.n, row.a_in_registers, 1, 1) - branch, row.measured, 0.05 * row.measured)
        << row.n << (row.a_in_registers ? " RS" : " SS");
  }
}

struct Rate {
  int n;
  bool a_in_registers;
  int warpgroups, count;
  double measured;  // MAC per cycle and SM, f16
};

TEST(Wgmma, RateAsMeasured) {
  for (const Rate& row :
       {Rate{8, false, 2, 32, 447.7}, Rate{16, false, 2, 32, 807.2}, Rate{32, false, 2, 32, 1350.3},
        Rate{64, false, 2, 32, 2028.8}, Rate{128, false, 2, 32, 2036}, Rate{256, false, 2, 32, 2039.1},
        Rate{64, false, 1, 32, 1909.4}, Rate{128, false, 1, 32, 1974.4}, Rate{256, false, 1, 32, 2003.6},
        Rate{64, true, 2, 8, 2016.6}, Rate{128, true, 2, 8, 2028.4}, Rate{256, true, 2, 8, 2033.2},
        Rate{256, false, 1, 4, 1792.7}, Rate{128, false, 1, 4, 1653.2}}) {
    const double work = 64.0 * row.n * 16 * row.count * row.warpgroups;
    EXPECT_NEAR(work / cycles_per_iteration(row.n, row.a_in_registers, row.warpgroups, row.count), row.measured,
                0.05 * row.measured)
        << row.n << " x" << row.count << " of " << row.warpgroups;
  }
}

// One box through a barrier: the copy's latency, the transfer, the barrier; the descriptor before it once.
TEST(BulkCopies, ABoxArrivesAfterLatencyAndTransfer) {
  const auto run = [](double bytes, int boxes) {
    Emitter e;
    e.program().rings = {{"full", 1, 1, 0, false, false}};
    for (int i = 0; i < boxes; ++i) {
      add(e, Opcode::syncs, {.kind = AsyncKind::arrive, .ring = 0, .boxes = 1});
      add(e, Opcode::utmaldg, {.kind = AsyncKind::load_box, .ring = 0, .bytes = bytes});
      add(e, Opcode::syncs, {.kind = AsyncKind::wait, .ring = 0, .rounds_ahead = 1, .advances = true});
    }
    return cycles(e, 1);
  };
  const MemoryPort env;
  const arch::TmaSpec tma = h200().sm.tma;
  const double one = env.latency + tma.latency.value + tma.barrier_latency.value;
  EXPECT_NEAR(run(6400, 1), one + tma.descriptor_latency.value + 6400 / env.read_bytes_per_cycle, 8);
  EXPECT_NEAR(run(6400, 3) - run(6400, 2), one + 6400 / env.read_bytes_per_cycle, 4);
  EXPECT_NEAR(run(12800, 2) - run(6400, 2), 2 * 6400 / env.read_bytes_per_cycle, 1);
}

// MEMBAR `scope` three times in each of `warps`, the first behind a load where `loads`.
double fences(const char* scope, int warps, bool loads = false) {
  Emitter e;
  if (loads) {
    const int words = e.add_pattern(kernels::contiguous(kernels::Space::global, kernels::Matrix::none, false, 4, 128));
    e.memory(Opcode::ldg, ".E", {kernels::reg(e.fresh())}, {kernels::reg(kernels::zero_value)}, 4, words);
  }
  for (int i = 0; i < 3; ++i) e.emit(Opcode::membar, scope, {}, {});
  e.emit(Opcode::nop, "", {}, {});
  return cycles(e, warps);
}

// Beyond the CTA a warp waits for each, all warps at once; within it they only take their turns.
TEST(MemoryBarriers, WarpsWaitTogether) {
  const double gpu = h200().sm.memory.membar_gpu.value;
  EXPECT_NEAR(fences(".ALL.GPU", 1) - fences(".ALL.CTA", 1), 3 * gpu, 0.1 * gpu);
  EXPECT_LE(fences(".ALL.GPU", 8), fences(".ALL.GPU", 1) + 3 * 8 * 4);
  EXPECT_LE(fences(".ALL.CTA", 8), fences(".ALL.CTA", 1) + 3 * 8 * 4);
}

// Of GPU scope the first waits for the answer to what was asked before it, and the others for nothing more.
TEST(MemoryBarriers, BeyondTheCtaTheyWaitForAnswers) {
  const MemoryPort port;
  const double more = fences(".ALL.GPU", 1, true) - fences(".ALL.GPU", 1);
  EXPECT_NEAR(more, port.latency, 0.15 * port.latency);
  EXPECT_LE(fences(".ALL.CTA", 1, true) - fences(".ALL.CTA", 1), 40);
}

// The barrier of a cluster, and what a peer's shared memory takes.
TEST(Clusters, TheirBarrierTakesItsLatencyAndItsWarps) {
  const auto run = [](int warps) {
    Emitter e;
    e.program().rings = {{"cluster", 1, warps, 0, true, true}};
    for (int i = 0; i < 2; ++i)
      add(e, Opcode::syncs, {.kind = AsyncKind::sync, .ring = 0, .rounds_ahead = 1, .advances = true});
    e.emit(Opcode::nop, "", {}, {});
    return cycles(e, warps);
  };
  EXPECT_GE(run(1), 2 * h200().sm.tma.cluster_barrier.value);
  EXPECT_NEAR(run(9) - run(1), 2 * 8 * h200().sm.memory.barrier_interval.value, 16);
}

TEST(Clusters, APeersAnswerTakesItsLatency) {
  const auto run = [](bool peer) {
    Emitter e;
    kernels::AccessPattern words = kernels::contiguous(kernels::Space::shared, kernels::Matrix::none, false, 4, 128);
    words.of_peer = peer;
    const kernels::Value loaded = e.fresh();
    e.memory(Opcode::lds, "", {kernels::reg(loaded)}, {kernels::reg(kernels::zero_value)}, 4, e.add_pattern(words))
        .control.write_barrier = 0;
    e.emit(Opcode::iadd3, "", {kernels::reg(loaded)}, {kernels::reg(loaded), kernels::reg(loaded)}).control.wait_mask =
        1;
    return cycles(e, 1);
  };
  const arch::SmSpec sm = h200().sm;
  EXPECT_NEAR(run(true) - run(false), sm.tma.cluster_latency.value - sm.memory.lds_latency.value, 8);
}

// A phase needs all arrivals: the waiting warp goes on only behind the last, however late.
// LDGSTSBAR: the warp goes on at once, the barrier's phase completes with its last copy.
TEST(SharedBarriers, ACopysArrivalWaitsForTheCopy) {
  const auto run = [](bool copies, bool waits) {
    Emitter e;
    e.program().rings = {{"full", 1, 1, 0, false, false}};
    kernels::AccessPattern pattern;
    pattern.space = kernels::Space::global;
    pattern.bytes_per_lane = 16;
    for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.offset[lane] = pattern.shared_offset[lane] = 16 * lane;
    const int rows = e.add_pattern(pattern);
    if (copies)
      e.memory(Opcode::ldgsts, ".E.BYPASS.128", {},
               {kernels::reg(kernels::zero_value), kernels::reg(kernels::zero_value)}, 16, rows);
    add(e, Opcode::syncs, {.kind = AsyncKind::arrive_copied, .ring = 0});
    if (waits) add(e, Opcode::syncs, {.kind = AsyncKind::wait, .ring = 0, .rounds_ahead = 1});
    for (int i = 0; i < 4; ++i) e.emit(Opcode::nop, "", {}, {});
    return cycles(e, 1);
  };
  EXPECT_NEAR(run(false, true) - run(false, false), h200().sm.tma.barrier_latency.value, 4);  // nothing is under way
  EXPECT_GT(run(true, true), run(false, true) + 200);                                         // a way to L2 and back
}

// A branch before a loop that names it leaves it out where the problem gives it no iteration.
TEST(Loops, AGuardPassesALoopWithoutIterationsBy) {
  const auto run = [](std::int64_t iterations) {
    Emitter e;
    const int loop = e.begin_guarded_loop(kernels::pred(0));
    for (int i = 0; i < 100; ++i) e.emit(Opcode::nop, "", {}, {});
    e.end_loop(loop, kernels::pred(0));
    return cycles(e, 1, iterations);
  };
  EXPECT_GE(run(2) - run(1), 100);
  EXPECT_GE(run(1) - run(0), 90);
}

TEST(SharedBarriers, APhaseNeedsEveryArrival) {
  const auto run = [](int arrivals, int late) {
    Emitter e;
    e.program().rings = {{"turn", 1, arrivals, 0, false, false}};
    for (int i = 0; i < late; ++i) e.emit(Opcode::nop, "", {}, {}).control.stall = 10;
    add(e, Opcode::syncs, {.kind = AsyncKind::arrive, .ring = 0});
    add(e, Opcode::syncs, {.kind = AsyncKind::wait, .ring = 0, .rounds_ahead = 1});
    return cycles(e, arrivals);
  };
  EXPECT_NEAR(run(4, 30) - run(4, 10), 200, 1);
}

}  // namespace
}  // namespace noteg::sm
