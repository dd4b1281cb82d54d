// Which limits of the SM are modelled; a study turns them off one by one. The defaults are the hardware as we know it.
#pragma once

#include <cstdint>

#include "sim/sm/scheduling_policy.hpp"

namespace noteg::sm {

enum class Dependence : std::uint8_t { control_bits, scoreboard };
// cold: the L0 caches are empty at the start, as when another kernel ran before
enum class InstructionCache : std::uint8_t { modelled, cold, no_prefetch, perfect };

struct CoreSwitches {
  Scheduler scheduler = Scheduler::cggty;
  Dependence dependence = Dependence::control_bits;
  InstructionCache icache = InstructionCache::modelled;
  bool constant_cache = true;  // false: constant operands always hit
  bool rf_cache = true;
  int rf_read_ports = 0;       // per bank; 0: as the SM has
  bool rf_ideal = false;       // operands never wait
  bool memory_queue = true;    // false: the load/store queues never fill
  bool bank_conflicts = true;  // false: a shared-memory access takes the wavefronts that its bytes alone need
  bool barriers = true;        // false: BAR.SYNC does not wait
  bool one_issue = true;       // false: a sub-core issues from two of its warps in a cycle

  bool operator==(const CoreSwitches&) const = default;
};

}  // namespace noteg::sm
