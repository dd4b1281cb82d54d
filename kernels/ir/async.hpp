// The asynchronous machinery from sm_90 on, as a kernel uses it: rings of transaction barriers (mbarrier) in shared
// memory, boxes that bulk tensor copies move (TMA), and matrix multiplications of a warpgroup (wgmma) or of one thread
// into tensor memory (tcgen05). An instruction refers to an AsyncOp for what its mnemonic does not say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace noteg::kernels {

// `count` barriers that are used in turn. A phase completes when so many warps have arrived and every box that the
// phase expects has come. Each warp has a position for each `walk`; rings that share a walk advance together.
struct BarrierRing {
  std::string name;
  int count = 1;
  int arrivals = 1;  // warps per phase
  int walk = 0;
  bool is_hardware = false;      // a named barrier of the SM (BAR.SYNC) or a cluster's, not one in shared memory
  bool across_cluster = false;   // arrivals come from every CTA of the cluster
  bool starts_complete = false;  // who waits first finds a phase complete that nobody has arrived for

  bool operator==(const BarrierRing&) const = default;
};

// Where barriers are found by their addresses (compiled kernels) each is a ring of one, and an instruction says for
// each of its executions by a warp which one it concerns.
struct BarrierTurn {
  std::int16_t ring = -1;     // -1: this execution does nothing (no lane takes part)
  std::int16_t boxes = 0;     // an arrival: boxes that its phase expects
  std::uint8_t arrivals = 1;  // an arrival: lanes that arrive
  bool consumes = true;       // a wait: for a phase that the warp has not yet seen complete

  bool operator==(const BarrierTurn&) const = default;
};
struct WarpTurns {
  std::vector<BarrierTurn> turns;
  std::size_t repeats_from = 0;  // behind the last turn comes this one

  bool operator==(const WarpTurns&) const = default;
};
using BarrierTurns = std::vector<WarpTurns>;  // by warp of the CTA

enum class AsyncKind : std::uint8_t {
  arrive,         // at a barrier; with `boxes`, the phase also expects so many
  arrive_copied,  // at a barrier, when the warp's copies so far (LDGSTS) have come: cp.async.mbarrier.arrive
  wait,           // until the phase is complete
  sync,           // arrive and wait
  load_box,       // bulk tensor copy, global to shared memory
  store_box,      // shared to global memory, part of the warp's open commit group
  matmul,         // of the four warps of a warpgroup
  matmul_wait,    // until at most `groups` groups of multiplications are unfinished
  fence,          // MEMBAR beyond the CTA
  commit,         // arrives at a barrier when all multiplications so far have ended
  skip            // the walk passes over the stages that another warpgroup's tile takes
};

enum class BoxOf : std::uint8_t { a, b, c };

struct AsyncOp {
  AsyncKind kind = AsyncKind::wait;
  int ring = -1;
  int places_back = 0;     // arrive: at the barrier so many places behind the warp's position
  int rounds_ahead = 0;    // wait: 1 for who needs what the ring's phase brings, 0 for who needs its place free
  int boxes = 0;           // arrive
  bool not_first = false;  // arrive: left out in the first iteration of a main loop
  bool one_warp = false;   // the first warp of the warpgroup does it for all: arrivals and boxes
  bool by_design = false;  // wait: for a free stage, or for the warp's turn; who waits there holds nothing up
  bool advances = false;   // the warp's position moves on behind this instruction
  BoxOf box = BoxOf::a;    // load_box, store_box
  double bytes = 0;        // of the whole box
  double copiers = 1;      // load_box: CTAs of a cluster that bring a part of it each, to all of them
  int n = 0;               // matmul: columns of the result
  int issuers = 4;         // matmul: warps that issue it together
  bool a_in_registers = false;
  bool closes_group = false;
  int groups = 0;  // matmul_wait
  int turns = -1;  // index into Program::turns; -1: barriers by ring and walk

  bool operator==(const AsyncOp&) const = default;
};

}  // namespace noteg::kernels
