// The load/store unit: a queue of each sub-core, the SM-wide arbiter that takes their accesses first come, first
// served, the data stage behind it that passes wavefronts, the barrier unit, and the requests on their way.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "arch/spec.hpp"
#include "sim/sm/event_wheel.hpp"
#include "sim/sm/state_hash.hpp"
#include "sim/sm/units/front_end.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

// Global loads and copies on their way: one entry of the pending request table per warp instruction, which collects
// the lines that its lanes touch, and a limit on the lines in flight (MICRO25, section 7). An access that finds no
// room waits at the front of the load/store path. Entries leave in the order in which they came.
class PendingRequests {
 public:
  PendingRequests(int entries, int requests) : entries_(std::max(1, entries)), requests_(std::max(1, requests)) {}

  // The first cycle, not before `now`, in which it makes sense to try again; `now` where there is room.
  [[nodiscard]] std::uint64_t room_at(std::uint64_t now, int requests) {
    while (!pending_.empty() && pending_.front().until <= now) {
      in_flight_ -= pending_.front().requests;
      pending_.pop_front();
    }
    const bool has_room = static_cast<int>(pending_.size()) < entries_ && in_flight_ + requests <= requests_;
    return has_room || pending_.empty() ? now : pending_.front().until;
  }

  void add(std::uint64_t until, int requests) {
    pending_.push_back({until, requests});
    in_flight_ += requests;
  }

  void hash(StateHash& add) const {
    bool gone = true;
    for (const auto& [until, requests] : pending_) {
      gone = gone && until <= add.now();
      if (gone) continue;
      add((until > add.now() ? until - add.now() : 0) << 16 | static_cast<std::uint64_t>(requests));
    }
  }

 private:
  struct Entry {
    std::uint64_t until;
    int requests;
  };

  int entries_, requests_;
  int in_flight_ = 0;
  std::deque<Entry> pending_;
};

// Stores wait a while on their way to L2 and take others to the same sectors with them: as many lines as fit, for so
// long (H200M, store_merging: one warp that fills sectors by pieces sends each once with 16 lines at a time and pieces
// 24 cycles apart, 1.4 and 2.5 times with 35 and 83 cycles, each piece with 32 lines or 276 cycles).
class StoreMerging {
 public:
  explicit StoreMerging(std::size_t warps) : of_(warps) {}

  // A store of so many lines passes; whether it goes with the warp's store `back` stores before (0: with none).
  [[nodiscard]] bool merges(std::uint16_t warp, std::size_t back, std::uint64_t lines, std::uint64_t now) {
    OfWarp& of = of_[warp];
    bool out = false;
    if (back > 0 && back <= of.stores) {
      const Place& there = of.last[(of.stores - back) % of.last.size()];
      out = lines_ - there.lines + lines <= room && now <= there.time + wait;
    }
    if (!out) lines_ += lines;
    of.last[of.stores++ % of.last.size()] = {lines_, now};
    return out;
  }

  void hash(StateHash& add) const {
    for (const OfWarp& of : of_)
      for (std::size_t back = 1; back <= std::min(of.stores, of.last.size()); ++back) {
        const Place& there = of.last[(of.stores - back) % of.last.size()];
        add(std::min<std::uint64_t>(lines_ - there.lines, room + 1));
        add.until(there.time + wait);
      }
  }

 private:
  static constexpr std::uint64_t room = 16, wait = 80;  // lines, cycles
  struct Place {
    std::uint64_t lines = 0, time = 0;  // that had passed, when it did
  };
  struct OfWarp {
    std::array<Place, kernels::stores_looked_back> last{};
    std::size_t stores = 0;
  };
  std::vector<OfWarp> of_;
  std::uint64_t lines_ = 0;
};

class Machine;

class LoadStoreUnit {
 public:
  LoadStoreUnit(Machine& sm, const arch::SmSpec& spec, std::size_t sub_cores);

  [[nodiscard]] bool is_full(std::size_t sub) const { return of_[sub].size >= capacity_; }
  // Accesses that the sub-core has queued since then, as far as the ring still holds them.
  [[nodiscard]] std::uint64_t queued_since(std::size_t sub, std::uint64_t from) const;

  void enqueue(Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  // A memory barrier beyond the CTA, of a warp of which some lane takes part or none.
  void fence(Warp& warp, std::uint16_t id, const DecodedInstruction& in, bool takes_part, std::uint64_t now);
  // LDC has a path of its own, beside queue and arbiter: on our H200 two of them for each eight LDS cost nothing where
  // LDS keep the unit busy.
  void load_constant(const Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);

  // Events: the head of a sub-core's queue reaches the arbiter; the arbiter is free again.
  void arrive(std::size_t sub, std::uint64_t now);
  void arbiter_free(std::uint64_t now);
  // The data of a copy are there, and go to shared memory beside multiplications of warpgroups.
  void copy_arrives(const Event& event, std::uint64_t now);

  void hash(StateHash& add) const;

 private:
  static constexpr int ring = 64;  // entries of a queue that the state has room for
  struct Access {
    std::uint64_t issued = 0;
    std::int32_t pc = 0;
    std::uint16_t warp = 0;
    std::int16_t memory = -1;
    std::int8_t write_barrier = -1, read_barrier = -1;
    std::uint8_t group = 0;  // commit group of a copy, fixed at issue
  };
  struct OfSubCore {
    std::array<Access, ring> queue{};
    int head = 0, size = 0;
    std::uint64_t link_ready = 0, warp_ready = 0;  // it may send its next access; one of `last_warp`
    std::uint16_t last_warp = 0;
    std::array<std::uint64_t, 3> write_back_free{};  // the way to the registers, by PortTraffic::From
  };
  // Accesses whose addresses the arbiter has taken wait in a queue that all share, and pass the data stage in order.
  struct Shared {
    std::array<std::uint8_t, 16> waiting{};  // sub-cores, in the order in which they came
    int head = 0, size = 0;
    bool posted = false;
    std::uint64_t arbiter_free = 0, data_stage_free = 0, barrier_free = 0;
    std::uint64_t texture_free = 0, constant_free = 0;  // units beside the data stage
    double requests_gone = 0;                           // when L2's port has taken those of all copies
    double beyond_l1 = -1;  // of the first access in the arbiter, once it has asked L1; below 0: it has not
    int parts = 0;          // sixteenths of a wavefront that accesses have not taken yet (MemoryCost::next_share)
    std::array<std::uint64_t, arch::max_data_queue + 1> data_at{};  // when the data stage has each of the last accesses
    std::size_t accesses = 0;
    std::uint64_t copies_written = 0;  // all that have arrived, where copy_arrives() tells
    std::uint64_t stored = 0;          // the last store to shared memory has passed, where there are memory barriers

    // An access comes from the arbiter, for which the data stage has time from `at` on: when has the queue room again?
    std::uint64_t room_behind(std::uint64_t at, std::size_t places) {
      data_at[accesses++ % data_at.size()] = at;
      return places == 0 ? data_stage_free : data_at[(accesses - places) % data_at.size()];
    }
  };

  void post_head(std::size_t sub, std::uint64_t now);
  static void let_pass(OfSubCore& of, std::uint64_t now);
  void serve(std::uint64_t now);
  std::uint64_t room_for_requests(double requests, std::uint64_t now);
  [[nodiscard]] std::uint64_t answer_to(const MemoryCost& cost, std::uint64_t ready) const;  // comes from L2
  void complete(std::size_t sub, const Access& access, double beyond_l1, std::uint64_t now, std::uint64_t data_at);
  void release_sources(const Access& access, std::uint64_t at);
  std::uint64_t data_ready(OfSubCore& of, const MemoryCost& cost, double beyond_l1, std::uint64_t now);
  [[nodiscard]] const MemoryCost& cost_of(std::int16_t memory) const;
  [[nodiscard]] bool takes_one_more(std::uint8_t share);

  Machine& sm_;
  int capacity_;
  std::size_t data_queue_;  // accesses between arbiter and data stage
  double copy_requests_;    // between arbiter and L2's port
  std::uint64_t barrier_interval_, constant_interval_;
  double write_back_;  // bytes per cycle
  double sector_;      // bytes
  std::vector<OfSubCore> of_;
  Shared shared_;
  PendingRequests pending_;
  StoreMerging merging_;
  ConstantCache constants_;
};

}  // namespace noteg::sm
