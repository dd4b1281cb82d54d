// One SM, cycle by cycle: sub-cores issue from their warps by a scheduling policy, memory instructions queue towards
// the SM-wide load/store unit, CTAs refill their slots on completion. Left out here: what lies behind the SM (the
// memory port says how far away and how wide it is), and register values. machine.hpp has the units.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/spec.hpp"
#include "sim/sm/counters.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/memory_port.hpp"

namespace noteg::sm {

struct Recorder;  // recorder.hpp

// exact: every cycle of all CTAs is stepped through. sampled: as much as tells the rest (fast_forward.hpp).
enum class Fidelity : std::uint8_t { exact, sampled };

// Which CTAs this SM runs.
struct SmWork {
  int resident = 1;               // CTAs for whose warps there is room
  int slots = 0;                  // CTAs at once where warps of some have ended, no fewer than `resident`
  std::int64_t ctas = 1;          // CTAs in all
  std::int64_t iterations = 1;    // iterations of the loop whose count comes from the problem
  std::int64_t tiles = 1;         // of each CTA of a persistent kernel
  double start_interval = 0;      // cycles between the first CTAs of an SM
  double end_interval = 0;        // cycles between ends of its CTAs that the chip sees, at least
  double end_slack = 0;           // cycles that the last of these may come late without the kernel's ending later
  double cta_launch_latency = 0;  // end of a CTA to the first issue of its successor
  // Cycles from a line that goes to the SM's L0 constant caches to the next, at least.
  double constant_fill_interval = 0;
  Fidelity fidelity = Fidelity::exact;
  Recorder* recorder = nullptr;  // what happens is written down there; null: nowhere. Exact runs only

  auto operator<=>(const SmWork&) const = default;
};

// CTAs of an SM whose ends lie closer than this share of their life end together, as far as an SM beside it can tell.
// Source: an H200 whose CTAs last up to 2 % longer or shorter at random still hands the last CTAs of a grid out by
// pairs (H200M: 4 warps, two CTAs on an SM, 2.85 CTAs for each SM: 36 SMs take two of the rest and 40 take one).
inline constexpr double end_together = 0.02;

// A warp that waits for ever: where, and for what.
struct BlockedWarp {
  int warp = 0;  // of the SM
  std::int32_t pc = 0;
  Stall reason = Stall::wait;
};

// Of all the work, at either fidelity.
struct SmResult {
  double cycles = 0;          // start of the first CTA to the end of the last
  double stepped_cycles = 0;  // of these, stepped through
  double stepped_warp_instructions = 0;
  bool deadlock = false;             // no warp can ever issue again
  std::vector<BlockedWarp> blocked;  // and what each of them waits for
  std::int64_t ctas = 0;
  // Until a CTA is the first in its main loop, and one has asked for something beyond L1.
  double prologue = 0;
  int emptied_together = 0;  // CTA slots that fell empty together with the one that took the last CTA (end_together)
  CoreCounters counters;
};

[[nodiscard]] SmResult run_sm(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
                              const MemoryPort& port, const SmWork& work);

}  // namespace noteg::sm
