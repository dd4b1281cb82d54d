// Global loads and copies on their way: one entry of the pending request table per warp instruction, which collects
// the lines that its lanes touch, and a limit on the lines in flight (MICRO25, section 7). An access that finds no
// room waits at the front of the load/store path. Entries leave in the order in which they came.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "sim/sm/state_hash.hpp"

namespace noteg::sm {

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

}  // namespace noteg::sm
