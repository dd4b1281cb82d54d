// Asynchronous units of an SM (from sm_90 on): transaction barriers in shared memory, bulk tensor copies,
// multiplications of warpgroups and into tensor memory. Left out: the peers of a cluster, which are taken to do the
// same at the same time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arch/spec.hpp"
#include "sim/sm/state_hash.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

class Machine;

class AsyncUnits {
 public:
  AsyncUnits(Machine& sm, const arch::SmSpec& spec);

  // A CTA starts in the slot.
  void reset(std::size_t slot);
  void issue(Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  void handle(const Event& event, std::uint64_t now);
  // The warp's commit groups of copies from `first` to its head have come.
  void groups_ended(Warp& warp, std::uint16_t first, std::uint64_t now);

  // What holds the warp's next instruction, selected where nothing does.
  [[nodiscard]] Stall why_blocked(const Warp& warp) const;
  // With the cycles that were skipped: the last bulk store has reached L2.
  [[nodiscard]] std::uint64_t stores_end() const { return state_.stores_end; }

  // Cycles that so many wavefronts of the load/store unit wait from `at` on: they pass where multiplications leave
  // room.
  [[nodiscard]] std::uint64_t held_by_matmuls(std::uint64_t at, std::uint64_t wavefronts) const {
    if (at >= state_.matmul_free) return 0;
    const double busy = static_cast<double>(state_.matmul_free - at) * (1 - state_.room);
    return static_cast<std::uint64_t>(std::min(static_cast<double>(wavefronts) * (1 / state_.room - 1), busy) + 0.5);
  }

  // The warps of a CTA have gone so much further along each walk, by whole turns of the rings.
  void advance(std::size_t slot, const std::array<std::uint32_t, max_walks>& walked);
  void hash(StateHash& add) const;

 private:
  static constexpr int warps_per_group = 4;
  // A phase is complete when all have arrived and nothing that it expects is under way.
  struct PhaseBarrier {
    std::uint32_t completed = 0, filled = 0;  // phases; filled: all have arrived, who waits does not know it yet
    int arrived = 0;
    int open_boxes = 0;
  };
  // Multiplications of four warps. They begin when all four have issued them, and end in order.
  struct Warpgroup {
    std::uint32_t begun = 0;  // multiplications
    std::uint32_t groups_ended = 0;
  };
  struct State {
    std::vector<std::vector<PhaseBarrier>> barriers;  // by CTA slot
    std::vector<Warpgroup> groups;                    // of all CTA slots
    std::uint64_t matmul_free = 0;                    // the tensor cores and their way to shared memory,
    double room = 1;                                  // the part of the latter that they leave until then
    std::array<bool, 3> descriptor_known{};           // of A, B, C: read by an earlier copy
    std::uint64_t stores_end = 0;
    // Of programs with turns, by warp of the SM: where it is in each instruction's turns, and how many phases of each
    // barrier are complete that it has not yet waited for.
    std::vector<std::uint16_t> turned;
    std::vector<std::uint16_t> unseen;
  };

  [[nodiscard]] std::size_t groups_per_cta() const;
  [[nodiscard]] std::size_t group_of(const Warp& warp) const;
  [[nodiscard]] const kernels::WarpTurns& turns_of(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] std::size_t turn_at(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] kernels::BarrierTurn turn_of(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] std::uint16_t& unseen(const Warp& warp, int barrier) { return state_.unseen[unseen_at(warp, barrier)]; }
  [[nodiscard]] std::size_t unseen_at(const Warp& warp, int barrier) const;
  void take_turn(const Warp& warp, const DecodedAsync& op);
  void reset_turns(std::size_t slot);
  [[nodiscard]] std::uint8_t ring_of(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] int barrier_of(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] std::uint32_t phase_of(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] PhaseBarrier& barrier(std::size_t slot, int index) {
    return state_.barriers[slot][static_cast<std::size_t>(index)];
  }
  // The four warps of a group issue each multiplication before any issues the next.
  [[nodiscard]] bool has_room(const Warp& warp) const {
    return warp.async.matmuls == state_.groups[group_of(warp)].begun;
  }
  void act(Warp& warp, std::uint16_t id, const DecodedAsync& op, std::uint64_t now);
  void arrive(const Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void arrive_copied(Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void commit(const Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void complete_phase(std::uint16_t slot, std::uint8_t ring, int barrier, std::uint64_t now);
  void load_box(const Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void store_box(Warp& warp, std::uint16_t id, const DecodedAsync& op, std::uint64_t now);
  void begin_matmul(const Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void hash_cta(StateHash& add, std::size_t slot) const;

  Machine& sm_;
  arch::TmaSpec tma_;
  double sector_;            // bytes
  double shared_width_;      // bytes per cycle
  std::vector<char> waits_;  // by warp of a CTA and barrier: whether it ever waits there
  State state_;
};

}  // namespace noteg::sm
