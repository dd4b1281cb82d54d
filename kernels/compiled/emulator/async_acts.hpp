// What an instruction of the asynchronous units does when a warp executes it: at which barrier it arrives or waits,
// which bytes a bulk copy moves. Barriers are told apart by their address in the CTA's shared memory; an arrival at a
// peer's barrier stands for the one that the peer sends here, since the CTAs of a cluster do alike.
#pragma once

#include <cstdint>

#include "kernels/compiled/emulator/machine.hpp"

namespace noteg::compiled {

enum class ActKind : std::uint8_t {
  nothing,
  init,
  arrive,
  arrive_copied,
  wait,
  load,
  store,
  named_arrive,
  named_sync,
  fence
};

// A box of a tensor map, or bytes in a row. Without a map in the launch file the address is one made of the
// coordinates: it moves with them as the real one does, and lies in no buffer.
struct BulkCopy {
  bool is_known = false;  // descriptor and coordinates
  std::uint64_t address = 0, pitch = 0;
  std::int64_t rows = 1, row_bytes = 0;         // inside the tensor; row_bytes 0: as many as the barrier expects
  std::array<std::int64_t, 3> planes{1, 1, 1};  // of the outer dimensions, inside the tensor
  std::array<std::uint64_t, 3> plane_pitch{};
  std::int64_t bytes = 0;  // of the whole box; 0: not known
  int peers = 1;           // CTAs that a multicast reaches
};

// Addresses of barriers that lie not in shared memory.
inline constexpr std::int32_t named_barriers = 1 << 24, cluster_barrier = 1 << 25;

struct AsyncAct {
  std::int32_t at = 0;  // instruction
  const Step* step = nullptr;
  ActKind kind = ActKind::nothing;
  std::uint32_t lanes = 0;    // that take part
  std::int32_t barrier = -1;  // -1: not known, or none
  int arrivals = 0;           // of its phase
  bool expects = false;       // bytes that bulk copies bring
  bool of_peer = false;       // arrives at a barrier of another CTA of the cluster, or may
  std::int64_t value = -1;    // init: arrivals per phase; wait: parity; named barriers: threads; expects: bytes
  BulkCopy copy;
};

// BAR with a number of threads, or that only arrives: warps of a CTA that meet apart from the others.
[[nodiscard]] bool is_named_barrier(const Instruction& in);

[[nodiscard]] bool is_bulk_load(const Instruction& in);  // to shared memory, not from it
[[nodiscard]] bool is_bulk_sum(const Instruction& in);   // adds to what lies in memory

[[nodiscard]] AsyncAct act_of(const Registers& registers, const Surroundings& around, const Step& step, std::int32_t at,
                              std::uint32_t active);

}  // namespace noteg::compiled
