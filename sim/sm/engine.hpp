// One SM, cycle by cycle: four sub-cores issue from their warps, greedily and then by the SM's rule or a switch,
// memory instructions queue towards the SM-wide load/store front, CTAs refill their slots on completion.
// Left out here: what lies behind the SM (an environment says how far away and how wide it is),
// and register values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/stall.hpp"
#include "sim/sm/switches.hpp"

namespace noteg::sm {

// What a box of A, B or C means for the SM's share of the way to L2; zero: as its size says. For C, bytes is the share
// of a box that lies inside the matrix.
struct BoxTraffic {
  double bytes = 0, cycles = 0;

  auto operator<=>(const BoxTraffic&) const = default;
};

// Sectors of an operand that several warps of a CTA ask for within a trip: all but the first find them in L1.
struct SharedSectors {
  static constexpr int steps = 20;
  int again = 0;      // of `steps` loads, those that find what an earlier load of the CTA has asked for
  double beyond = 1;  // of the sectors of the others, what comes from L2

  auto operator<=>(const SharedSectors&) const = default;
};

// What an SM sees of the rest of the GPU, behind its L1. Latencies in cycles from issue to data.
struct MemoryPort {
  double latency = 272;  // mean of loads that leave the SM
  double l1_latency = 33;
  double l1_hit_rate = 0;                 // of sectors
  std::array<SharedSectors, 4> shared{};  // by kernels::Matrix
  double read_bytes_per_cycle = 64;       // this SM's share of the way from L2, over a while
  double read_burst_bytes_per_cycle = 0;  // what its own port takes while others ask for less than theirs; 0: the share
  double write_bytes_per_cycle = 64;
  double c_latency = 0;               // of loads of C, where it is another; 0: as of others
  double c_bytes_per_cycle = 0;       // this SM's share of what brings C; 0: no limit of its own
  std::array<BoxTraffic, 3> boxes{};  // of A, B, C

  auto operator<=>(const MemoryPort&) const = default;
};
using MemoryEnvironment = MemoryPort;

struct Recorder;  // recorder.hpp

// A stretch of main loops in which no CTA ends, told by how many trips all CTAs of the SM together have begun.
struct FlowWindow {
  std::int64_t from = 0, until = 0;  // until 0: nothing is measured
  bool then_stop = false;            // the run ends there

  auto operator<=>(const FlowWindow&) const = default;
};

// When the CTAs of a steady state have been seen for long enough: windows of as many CTAs as are resident, until
// `windows` that follow each other differ by less than `agree`, or so many warp instructions have been stepped through.
struct CtaSampling {
  static constexpr std::size_t windows = 3;
  static constexpr double agree = 0.005, most_instructions = 1e6;
};

// CTAs of an SM whose ends lie closer than this share of their life end together, as far as an SM beside it can tell.
// Source: an H200 whose CTAs last up to 2 % longer or shorter at random still hands the last CTAs of a grid out by
// pairs (H200M: 4 warps, two CTAs on an SM, 2.85 CTAs for each SM: 36 SMs take two of the rest and 40 take one).
inline constexpr double in_step = 0.02;

// Main loops of fewer trips are passed over by whole periods only, each measured afresh: how the CTAs lie to each other
// at the end counts there. FP32 loops are 2048 deep by then, less the trips that are peeled off.
[[nodiscard]] inline std::int64_t many_trips(const DecodedProgram& program) {
  return program.tensor.empty() ? 240 : 256;
}

// The same where many rounds of CTAs follow each other, so that the end of the last counts little.
[[nodiscard]] inline std::int64_t flow_trips(const DecodedProgram& program) {
  return program.tensor.empty() ? 60 : many_trips(program);
}

// exact: every cycle of all CTAs is stepped through. sampled: as much as tells the rest (fast_forward.hpp).
enum class Fidelity : std::uint8_t { exact, sampled };

// Which CTAs this SM runs.
struct SmWork {
  int resident = 1;               // CTA slots
  std::int64_t ctas = 1;          // CTAs in all
  std::int64_t trips = 1;         // iterations of the loop whose count comes from the problem
  std::int64_t tiles = 1;         // of each CTA of a persistent kernel
  double launch_interval = 0;     // cycles between the first CTAs of an SM
  double cta_launch_latency = 0;  // end of a CTA to the first issue of its successor
  Fidelity fidelity = Fidelity::exact;
  bool skip_periodic = false;  // once the main loop has become periodic, pass over whole periods
  bool sample_ctas = false;    // no more CTAs are run than tell the steady-state throughput (SmResult::cta_cycles)
  // Warp instructions stepped through after which shorter loops are passed over as long ones are, and those after
  // which still shorter ones are, by what fewer trips tell; 0: never.
  double patience = 0, haste = 0;
  FlowWindow flow{};
  Recorder* recorder = nullptr;  // what happens is written down there; null: nowhere

  auto operator<=>(const SmWork&) const = default;
};

inline constexpr std::size_t opcode_count = static_cast<std::size_t>(kernels::Opcode::count_);

// Sums over the run. Warp cycles are counted while a warp is resident.
struct CoreCounters {
  std::array<double, opcode_count> issued{};
  std::array<double, stall_count> stall_cycles{};
  std::array<double, kernels::tensor_kind_count> tensor_macs{};  // multiply-accumulates by types
  double warp_instructions = 0;
  double issue_cycles = 0, fma_cycles = 0, alu_cycles = 0, tensor_cycles = 0, lsu_cycles = 0;
  double rf_reads = 0, rf_hits = 0, rf_conflict_cycles = 0;
  double shared_bytes = 0, shared_wavefronts = 0, shared_conflict_wavefronts = 0;
  double l1_bytes = 0;
  double read_sectors = 0, write_sectors = 0;  // asked of L2 when l1_hit_rate is 0
  // Of CTAs: before any warpgroup's main loop, while one is in its main loop, and the rest.
  double prologue_cycles = 0, mainloop_cycles = 0, epilogue_cycles = 0;
  double lead_epilogue_cycles = 0;  // the rest where only the leading warp's main loop counts

  CoreCounters& operator+=(const CoreCounters& o);
  [[nodiscard]] CoreCounters operator*(double factor) const;
  [[nodiscard]] std::array<double, stall_count> stall_shares() const;  // sum 1, or all 0 where nothing ran
};

// What passed in such a stretch.
struct FlowSample {
  double began = 0, cycles = 0;  // since the start of the run; of the stretch
  CoreCounters counters;         // within it
};

struct SmResult {
  double cycles = 0;          // start of the first CTA to the end of the last
  double stepped_cycles = 0;  // of these, stepped through
  double stepped_warp_instructions = 0;
  bool deadlock = false;  // no warp can ever issue again
  std::int64_t ctas = 0;  // that were run
  // CTA slots that fell empty together with the one that took the last CTA (see in_step).
  int emptied_together = 0;
  CoreCounters counters;
  // In the steady state, while all slots were taken: cycles and counters of a CTA. 0: never were.
  double cta_cycles = 0;
  CoreCounters cta_counters;
  FlowSample flow;             // as the work asks for
  bool rounds_repeat = false;  // exactly: a state came back with its CTAs as far in their loops
};

// Cycles, counters and CTAs are those of all the work at either fidelity.
[[nodiscard]] SmResult run_sm(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
                              const MemoryPort& port, const SmWork& work);

}  // namespace noteg::sm
