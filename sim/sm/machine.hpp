// The SM as a machine of units: it owns them, hands events to them and steps to the next cycle in which one has
// something to do. Each unit keeps its state to itself, adds it to the hash, and says what it holds a warp back for.
// What all of them share (program, warps, calendar of events, counters) is here in the open.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/sm/event_wheel.hpp"
#include "sim/sm/observer.hpp"
#include "sim/sm/sampling/fast_forward.hpp"
#include "sim/sm/sm.hpp"
#include "sim/sm/units/async_units.hpp"
#include "sim/sm/units/cta_slots.hpp"
#include "sim/sm/units/execution_pipes.hpp"
#include "sim/sm/units/front_end.hpp"
#include "sim/sm/units/load_store_unit.hpp"
#include "sim/sm/units/register_file.hpp"
#include "sim/sm/units/warp_scheduler.hpp"

namespace noteg::sm {

// Cycles in which the read ports held a sub-core's issue, the latest few: a warp that was ready meanwhile waited for
// those, and for the scheduler's choice in the others.
class DispatchHolds {
 public:
  void add(std::uint64_t from, std::uint64_t until) { last_[next_++ % kept] = {from, until}; }
  // How many of the cycles [from, until) were held.
  [[nodiscard]] std::uint64_t within(std::uint64_t from, std::uint64_t until) const {
    std::uint64_t sum = 0;
    for (std::size_t back = 1; back <= kept; ++back) {
      const Held& held = last_[(next_ - back) % kept];
      if (held.until <= from) break;
      const std::uint64_t begin = std::max(held.from, from), end = std::min(held.until, until);
      sum += end > begin ? end - begin : 0;
    }
    return sum;
  }
  void hash(StateHash& add, std::uint64_t ready_since) const {
    for (std::size_t back = 1; back <= kept; ++back) {
      const auto& [from, until] = last_[(next_ - back) % kept];
      if (until <= ready_since) break;
      add.at(std::max(from, ready_since));
      add.at(until);
    }
  }

 private:
  static constexpr std::size_t kept = 32;
  struct Held {
    std::uint64_t from = 0, until = 0;
  };
  std::array<Held, kept> last_{};
  std::size_t next_ = 0;
};

struct SubCore {
  std::size_t index;
  WarpScheduler scheduler;
  RegisterFile registers;
  ConstantCache constants{};
  std::uint64_t issued_at = 0;   // last issue
  std::uint64_t issue_free = 0;  // the Control stage is free for an instruction issued then
  DispatchHolds holds{};
};

class Machine {
 public:
  Machine(const DecodedProgram& program, const arch::SmSpec& spec, const CoreSwitches& switches, const MemoryPort& port,
          const SmWork& work);
  SmResult run();

  // --- What units share.
  const DecodedProgram& program;
  const arch::SmSpec& spec;
  const SmWork work;
  const CoreSwitches switches;
  EventWheel events;
  CoreCounters count;
  Tally tally;  // not yet in count
  std::vector<Warp> warps;

  // --- The units.
  std::vector<SubCore> subs;
  ExecutionPipes pipes;
  PortTraffic traffic;
  LoadStoreUnit load_store;
  AsyncUnits async;
  CtaSlots ctas;
  ConstantFill constant_fill;
  InstructionCaches icache;
  std::optional<Scoreboard> scoreboard;
  Observer observer;
  std::optional<FastForward> fast_forward;

  // --- Warps.
  [[nodiscard]] static std::uint16_t id_of(const Warp& warp) { return warp.id; }
  [[nodiscard]] int place_of(const Warp& warp) const { return id_of(warp) - warp.cta * program.warps; }  // in its CTA
  [[nodiscard]] std::span<Warp> warps_of(std::size_t slot) {
    const auto each = static_cast<std::size_t>(program.warps);
    return std::span(warps).subspan(slot * each, each);
  }
  [[nodiscard]] std::span<const Warp> warps_of(std::size_t slot) const {
    const auto each = static_cast<std::size_t>(program.warps);
    return std::span(warps).subspan(slot * each, each);
  }
  [[nodiscard]] bool is_live(const Warp& warp) const { return subs[warp.sub].scheduler.is_live(warp); }
  [[nodiscard]] bool is_blocked(const Warp& warp) const { return subs[warp.sub].scheduler.is_blocked(warp); }
  [[nodiscard]] std::size_t slots() const { return warps.size() / static_cast<std::size_t>(program.warps); }  // of CTAs
  void start_warp(Warp& warp, std::int32_t pc, std::uint64_t now);

  // What holds the next instruction of a warp that only an event can end; selected: nothing.
  [[nodiscard]] Stall why_blocked(const Warp& warp) const;
  void check_blocked(Warp& warp, std::uint64_t now);
  // There may be something to do in that cycle.
  void wake(std::size_t sub, std::uint64_t at) { next_try_[sub] = std::min(next_try_[sub], at); }

  // Iterations of a loop for warps of a place in their CTA; tiles of those that a share takes.
  [[nodiscard]] std::int64_t iterations_of(int place, const DecodedLoop& loop) const;
  // Iterations that the warp, which is in the loop, has done of it.
  [[nodiscard]] std::int32_t done_of(const Warp& warp, int loop) const {
    return warp.iterations[static_cast<std::size_t>(program.loops[static_cast<std::size_t>(loop)].depth)];
  }
  [[nodiscard]] std::int64_t tiles_of(const TileShare& share) const;

  // Between its last issue and `now`, what did the warp wait for? spend(reason, from, until) is called for stretches
  // that follow each other without gaps and end at `now`.
  template <class Spend>
  void split_wait(const Warp& warp, std::uint64_t now, Spend spend) const;

  // --- Counters, and what was skipped.
  const CoreCounters& counted() {
    tally.move_to(count);
    return count;
  }
  [[nodiscard]] CoreCounters total();
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }  // cycles; event times know nothing of them
  [[nodiscard]] double stepped_instructions() { return counted().warp_instructions - skipped_instructions_; }
  void skip(std::uint64_t cycles, double instructions, const CoreCounters& counters);

  // All that decides what happens from now on. Iterations of loops of that depth are extrapolated from those of the
  // warp that leads its stream, those of outer loops do not count. Depth 0: the grid; all iterations count.
  [[nodiscard]] std::uint64_t hash(const Streams& streams, std::uint64_t now, int depth) const;

 private:
  bool step_through();
  void handle(const Event& event, std::uint64_t now);
  void hash_warps(StateHash& add, const Streams& streams, std::size_t slot, int depth) const;
  [[nodiscard]] std::vector<BlockedWarp> blocked_warps() const;
  void release(Warp& warp, int counter, std::uint64_t now);
  void fetch(Warp& warp, std::int32_t from, std::int32_t next, std::uint64_t now);
  // issue.cpp
  std::uint64_t& next_try(const SubCore& sub) { return next_try_[sub.index]; }
  void step(SubCore& sub, std::uint64_t now);
  void sleep(SubCore& sub, int bit, bool yields, bool went_on, std::uint64_t now);
  [[nodiscard]] bool goes_the_short_way(const Warp& warp, std::uint64_t now) const;
  std::uint64_t try_issue(SubCore& sub, Warp& warp, std::uint64_t now);
  void issue_simple(SubCore& sub, Warp& warp, std::uint64_t now);
  void issue(SubCore& sub, Warp& warp, std::uint64_t now);
  void account(SubCore& sub, Warp& warp, std::uint64_t now);
  void read_operands(SubCore& sub, const DecodedInstruction& in, std::uint16_t id, std::uint64_t now);
  [[nodiscard]] std::int32_t execute(SubCore& sub, Warp& warp, std::uint64_t now);
  void signal(const Warp& warp, std::uint64_t now);
  std::int32_t branch(Warp& warp, std::uint64_t now);
  [[nodiscard]] std::int32_t pass_guard(Warp& warp, const DecodedLoop& loop, std::uint64_t now);
  void go_on(SubCore& sub, Warp& warp, std::int32_t next, std::uint64_t now);

  // First cycle in which there may be something to do, by sub-core: side by side, as each cycle looks at all of them.
  // Those that do not exist have nothing to do, ever.
  std::array<std::uint64_t, max_sub_cores> next_try_{};
  bool cta_started_ = false;         // in this cycle
  double skipped_instructions_ = 0;  // of warps
  std::uint64_t skipped_ = 0;
  std::uint32_t issue_twice_;  // sub-cores that may issue a second time in a cycle, a bit each: all or none
  // From when an instruction leaves Allocate back to when another may issue: two where both may in one cycle.
  std::uint64_t issue_lead_;
  bool plain_;       // nobody listens and warps wait for nothing but control bits: the short way of issue will do
  bool ports_full_;  // matrix instructions leave no read port free
  std::uint64_t redirect_;
};

template <class Spend>
void Machine::split_wait(const Warp& warp, std::uint64_t now, Spend spend) const {
  const SubCore& sub = subs[warp.sub];
  std::uint64_t from = warp.last_issue + 1;
  const auto until = [&](Stall reason, std::uint64_t end) {
    if (end <= from) return;
    spend(reason, from, end);
    from = end;
  };
  until(Stall::wait, std::min(warp.stalled_until, now));
  until(Stall::no_instruction, std::min(warp.ready_at, now));
  until(warp.blocked_by, std::min(warp.unblocked_at, now));
  // Cycles in which the read ports held the pipe for everybody.
  if (now > from) until(Stall::dispatch, from + sub.holds.within(from, now));
  if (warp.failed_by != Stall::not_selected) until(warp.failed_by, std::min(warp.failed_until, now));
  // A pipe that was busy, or a queue that was full, explains the wait until it was free, but for the cycles in which it
  // took an instruction of another warp; what remains is the scheduler's choice.
  const DecodedInstruction& in = *warp.next;
  const std::uint64_t free = std::min(pipes.free_from(sub.index, static_cast<std::size_t>(in.action)), now);
  if (free > from) {
    const bool queues = in.action == Action::memory || in.action == Action::barrier;
    const std::uint64_t taken =
        queues ? load_store.queued_since(sub.index, from) : (free - from) / pipes.interval_of(in);
    until(queues ? Stall::memory_queue : Stall::math_pipe, free - std::min(taken, free - from));
  }
  until(Stall::not_selected, now);
}

}  // namespace noteg::sm
