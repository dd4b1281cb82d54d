// What one CTA does while it is emulated: its ways, its accesses with what they cost, its barriers. Accesses of an
// instruction that differ by whole lines cost the same and are counted together.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernels/compiled/profile.hpp"

namespace noteg::compiled {

// Its lanes go to banks at random where nobody knows its addresses.
[[nodiscard]] bool is_thrown(Semantics s);

// One execution's lanes relative to a line, and what they cost. Accesses that differ by whole lines cost the same.
struct Variant {
  std::uint32_t lanes = 0;
  std::array<std::uint32_t, 32> offset{}, shared{};
  InstructionCounts cost;
  double executions = 0;
};

struct InstructionRecord {
  std::vector<Variant> variants;
  std::size_t last = 0;
  Joins joins{};
  double lanes = 0, of_peers = 0;  // by a generic address to shared memory; and to another CTA of the cluster
};

// What it did on values that are not known.
struct Guesses {
  std::set<std::pair<std::int32_t, bool>> decisions;            // instructions, and as what they were taken
  std::set<std::int32_t> unknown_addresses, guessed_addresses;  // instructions
};

// What one CTA does. Events of a warp: a block with its lanes, or an access by instruction and variant.
class CtaRecorder : public WarpWatcher {
 public:
  CtaRecorder(const EmulatedCode& code, PathNodes& nodes, const Launch& launch, std::uint32_t shared_begin)
      : code_(code), shared_begin_(shared_begin), barriers_(launch.warps(), launch.cluster_ctas()) {
    for (int i = 0; i < launch.warps(); ++i) warps_.emplace_back(nodes, code);
  }

  void enters(int warp, std::int32_t block, std::uint32_t lanes) override {
    Warp& w = warps_[static_cast<std::size_t>(warp)];
    w.path.enter(block);
    w.entered[static_cast<std::size_t>(block)] += 1;
    w.lanes[static_cast<std::size_t>(block)] += std::popcount(lanes);
    w.keep({-1 - block, lanes});
  }

  void accesses(int warp, const Access& access) override;

  void acts(int warp, const AsyncAct& act) override {
    warps_[static_cast<std::size_t>(warp)].keep({act_event, barriers_.note(warp, act)});
  }

  void assumes(std::int32_t at, bool taken) override { guesses_.decisions.emplace(at, taken); }
  void waited(int warp, std::int32_t at, std::int64_t until) override {
    std::int64_t& most = waits_.try_emplace(at, until).first->second;
    most = std::max(most, until);
    const Warp& w = warps_[static_cast<std::size_t>(warp)];
    if (w.takes_lock || !released_.contains(w.looked_at))
      waiting_[w.looked_at] = {at, -1, until, w.looked_at, 1, !w.takes_lock};
  }

  std::optional<std::size_t> position(int warp) const override {
    const Warp& w = warps_[static_cast<std::size_t>(warp)];
    return w.log_is_full ? std::nullopt : std::optional(w.log.size());
  }
  bool repeats(int warp, std::size_t a, std::size_t b, std::size_t c) const override {
    const std::vector<Event>& log = warps_[static_cast<std::size_t>(warp)].log;
    if (c - b != b - a || c > log.size()) return false;
    const auto at = [&](std::size_t i) { return log.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::equal(at(a), at(b), at(b));
  }
  void repeat(int warp, std::size_t from, std::size_t to, std::int64_t times) override;

  [[nodiscard]] CtaClass finish(std::array<std::uint32_t, 3> id) const;
  // The way of each warp, and of all of them one after the other by block how many lanes went it.
  struct Ways {
    std::vector<std::vector<std::int32_t>> paths;
    std::vector<double> lanes;
  };
  [[nodiscard]] Ways ways() const {
    Ways out;
    for (const Warp& w : warps_) {
      out.paths.push_back(w.path.path());
      out.lanes.insert(out.lanes.end(), w.lanes.begin(), w.lanes.end());
    }
    return out;
  }
  [[nodiscard]] const Guesses& guesses() const { return guesses_; }
  // By branch that polls: the highest value that it waited for.
  [[nodiscard]] const std::map<std::int32_t, std::int64_t>& waits() const { return waits_; }

 private:
  static constexpr std::int32_t repeat_event = std::numeric_limits<std::int32_t>::max(), act_event = repeat_event - 1;
  static constexpr std::size_t longest_log = 1 << 22;
  struct Event {
    std::int32_t what = 0;
    std::uint32_t detail = 0;
    bool operator==(const Event&) const = default;
  };
  struct Warp {
    Warp(PathNodes& nodes, const EmulatedCode& code)
        : path(nodes), entered(code.blocks.size()), lanes(code.blocks.size()), memory(code.steps.size()) {}
    void keep(Event event) {
      if (log.size() < longest_log)
        log.push_back(event);
      else
        log_is_full = true;
    }
    PathBuilder path;
    std::vector<double> entered, lanes;  // by block
    std::vector<InstructionRecord> memory;
    std::vector<Event> log;
    bool log_is_full = false;
    std::array<std::vector<std::uint64_t>, kernels::stores_looked_back> stored;  // sectors of the last ones, in turn
    std::size_t stores = 0;
    std::uint64_t looked_at = 0;  // where it polled last
    bool takes_lock = false;      // by an atomic operation that writes there
  };

  // Which of the warp's last stores went to the same sectors.
  void note_store(Warp& w, const Access& access);

  // Turns at semaphores begin with a wait. Who writes first and waits then, as at a barrier of the grid, holds up
  // nobody.
  void note_semaphore(Warp& w, const Access& access);
  // Who looks back polls words of CTAs before it that follow each other, and writes to its own, which follows them.
  void note_window(const Access& access);

  static void apply(Warp& w, std::size_t from, std::size_t to, double times, PathBuilder& body);
  static void add_acts(const Warp& w, std::size_t from, std::size_t to, std::vector<std::uint32_t>& out);

  static std::size_t note(InstructionRecord& record, Variant& v, const Step& step, bool reads_nothing);

  const EmulatedCode& code_;
  std::uint32_t shared_begin_, shared_end_ = 0;
  BarrierLog barriers_;
  std::vector<Warp> warps_;
  std::vector<std::uint64_t> scratch_;  // sectors of a store
  Guesses guesses_;
  std::map<std::uint64_t, SemaphoreTurn> waiting_;  // by address of the semaphore
  std::set<std::uint64_t> released_;
  std::optional<SemaphoreTurn> window_;  // of who looks back: its semaphore is the CTA's own word
  std::optional<SemaphoreTurn> turn_;    // that is passed on, behind most others
  std::map<std::int32_t, std::int64_t> waits_;
};

}  // namespace noteg::compiled
