// A warp: where it is, and what its next instruction waits for.
#pragma once

#include <array>
#include <cstdint>

#include "sim/sm/counters.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/event_wheel.hpp"
#include "sim/sm/state_hash.hpp"

namespace noteg::sm {

inline constexpr std::uint64_t never = EventWheel::never;
inline constexpr std::size_t max_sub_cores = 16;
inline constexpr int max_depth = 16;  // of loops in loops
inline constexpr int max_groups = 16;

// What the end of a commit group of copies does, if anything: it arrives so often at a barrier of a ring; not at all:
// it is one of the transactions that the phase there waits for.
struct CopiedArrival {
  std::uint16_t barrier = 0;
  std::uint8_t ring = 0, arrivals = 0;
  bool is_one = false;

  void hash(StateHash& add) const {
    add(static_cast<std::uint64_t>(barrier) << 24 | static_cast<std::uint64_t>(ring) << 16 |
        static_cast<std::uint64_t>(arrivals) << 8 | static_cast<std::uint64_t>(is_one));
  }
};

// What a warp remembers of asynchronous operations.
struct WarpAsync {
  std::array<std::uint32_t, max_walks> walk{};  // position in the rings
  std::uint32_t matmuls = 0, groups = 0;        // issued
  int sync_barrier = -1;                        // a sync that the warp waits behind
  std::uint32_t sync_phase = 0;
  std::array<CopiedArrival, max_groups> arrives{};  // by commit group of copies
};

struct Warp {
  std::int32_t pc = 0;
  const DecodedInstruction* next = nullptr;  // at pc
  std::uint16_t id = 0;                      // of the SM
  std::uint16_t cta = 0;                     // slot
  std::uint8_t sub = 0;
  std::uint8_t bit = 0;                   // position in its sub-core's masks; larger = younger
  std::uint8_t held_by = no_single_wait;  // DecodedInstruction::held_by of the next instruction
  std::uint64_t ready_at = 0;
  std::uint64_t stalled_until = 0;  // ready_at as far as the stall count decides it; what is beyond is fetch
  std::uint64_t counters = 0;       // six dependence counters, one byte each
  std::uint64_t last_issue = 0;
  std::uint64_t unblocked_at = 0;
  Stall blocked_by = Stall::wait;
  Stall failed_by = Stall::not_selected;
  std::uint64_t failed_until = 0;
  std::uint64_t long_mask = 0;                           // counters that a global access holds
  std::array<std::int32_t, max_depth + 1> iterations{};  // done of the loops around pc, by depth from 1
  std::array<std::uint16_t, max_groups> group{};         // copies outstanding per commit group
  std::uint16_t group_head = 0, group_open = 0;          // oldest unfinished group, group being filled
  bool at_barrier = false;
  WarpAsync async{};
};

// Copy groups complete in order: those at the head that are closed and have no copy outstanding.
inline void retire_groups(Warp& warp) {
  while (warp.group_head != warp.group_open && warp.group[warp.group_head % max_groups] == 0) ++warp.group_head;
}

// Nothing that the warp has asked for is still to read or write its registers or the shared memory of its CTA.
inline bool has_drained(const Warp& warp) {
  return warp.counters == 0 && warp.group_head == warp.group_open && warp.group[warp.group_open % max_groups] == 0;
}

// Position of a commit group of the warp from the one that is being filled.
inline std::uint64_t group_behind_open(const Warp& warp, unsigned group) {
  return static_cast<std::uint64_t>((group - warp.group_open) % max_groups);
}

}  // namespace noteg::sm
