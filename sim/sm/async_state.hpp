// State of the asynchronous machinery of one SM: barriers of each CTA, the warpgroups' multiplications, the bulk copy
// engine. What it leaves out: the peers of a cluster, which are taken to do the same at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace noteg::sm {

inline constexpr int max_walks = 4;
inline constexpr int warps_per_group = 4;

// One barrier: a phase is complete when all have arrived and nothing that it expects is under way.
struct PhaseBarrier {
  std::uint32_t completed = 0;
  int arrived = 0;
  int open_boxes = 0;
};

// Multiplications of four warps. They begin when all four have issued them, and end in order.
struct WarpgroupState {
  std::uint32_t begun = 0;       // multiplications
  std::uint64_t last_start = 0;  // of the last that has begun
  std::uint32_t groups_ended = 0;
};

// What a warp remembers.
struct WarpAsync {
  std::array<std::uint32_t, max_walks> walk{};  // position in the rings
  std::uint32_t matmuls = 0, groups = 0;        // issued
  int sync_barrier = -1;                        // a sync that the warp waits behind
  std::uint32_t sync_phase = 0;
};

struct AsyncState {
  std::vector<std::vector<PhaseBarrier>> barriers;  // by CTA slot
  std::vector<WarpgroupState> groups;               // of all CTA slots
  std::uint64_t matmul_free = 0;                    // the tensor cores and their way to shared memory
  std::array<bool, 3> descriptor_known{};           // of A, B, C: read by an earlier copy
  std::uint64_t stores_end = 0;                     // the last bulk store has reached L2
};

}  // namespace noteg::sm
