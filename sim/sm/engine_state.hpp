// The engine's state and its parts: one SM stepped cycle by cycle (engine.hpp says what it models). Issue is in
// engine_issue.cpp, the load/store path in engine_memory.cpp, CTAs and barriers in engine_cta.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/sm/async_state.hpp"
#include "sim/sm/constant_cache.hpp"
#include "sim/sm/engine.hpp"
#include "sim/sm/event_wheel.hpp"
#include "sim/sm/fast_forward.hpp"
#include "sim/sm/instruction_cache.hpp"
#include "sim/sm/pending_requests.hpp"
#include "sim/sm/periodic.hpp"
#include "sim/sm/read_ports.hpp"
#include "sim/sm/ready_wheel.hpp"
#include "sim/sm/recorder.hpp"
#include "sim/sm/recurrence.hpp"

namespace noteg::sm {

inline constexpr std::uint64_t never = EventWheel::never;
inline constexpr int max_loops = 32;
inline constexpr int max_groups = 16;
inline constexpr std::size_t max_sub_cores = 16;
inline constexpr int queue_ring = 64;  // entries of a load/store queue that the state has room for

struct Warp {
  std::int32_t pc = 0;
  const DecodedInstruction* next = nullptr;  // at pc
  std::uint16_t cta = 0;
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
  std::uint64_t long_mask = 0;  // counters that a global access holds
  std::array<std::int32_t, max_loops> trips{};
  std::array<std::uint16_t, max_groups> group{};  // copies outstanding per commit group
  std::uint16_t group_head = 0, group_open = 0;   // oldest unfinished group, group being filled
  bool at_barrier = false;
  WarpAsync async{};
};

struct QueuedAccess {
  std::uint64_t issued = 0;
  std::int32_t pc = 0;
  std::uint16_t warp = 0;
  std::int16_t memory = -1;
  std::int8_t write_barrier = -1, read_barrier = -1;
  std::uint8_t group = 0;  // commit group of a copy, fixed at issue
};

struct SubCore {
  SubCore(std::size_t i, const ReadPorts& p, const ConstantCache& c) : index(i), ports(p), constants(c) {}
  std::size_t index;
  ReadPorts ports;
  ConstantCache constants;
  std::uint64_t issued_at = 0;   // last issue
  std::uint64_t issue_free = 0;  // the Control stage is free for an instruction issued then
  std::uint32_t live = 0, blocked = 0;
  std::uint32_t queueing = 0;  // warps that tried and found the load/store queue full
  ReadyWheel wheel;
  double tensor_free = 0;
  std::int32_t last = -1;    // bit of the warp that issued last
  std::uint32_t greedy = 0;  // the same as a mask, where it goes on while it can
  std::array<std::uint16_t, 32> warp_of{};
  std::array<Warp*, 32> warps{};
  std::array<std::uint64_t, 32> issued_last{};  // Warp::last_issue, side by side
  // From when on an instruction finds its pipe free, by Action; 0 where it needs none. Of what goes through the
  // load/store queue: when that was last full.
  std::array<std::uint64_t, actions> pipe_free{};
  std::array<std::uint32_t, no_single_wait + 1> needs{};  // warps by Warp::held_by
  std::uint32_t busy_pipes = 0;                           // those that pipe_free may lie ahead of, a bit each
  std::uint64_t lite_free = 0, heavy_free = 0, mufu_free = 0, fp64_free = 0;
  std::array<QueuedAccess, queue_ring> queue{};
  int queue_head = 0, queue_size = 0;
  std::uint64_t front_ready = 0;  // the address unit is free again
  std::uint64_t write_back_free = 0;
};

struct CtaSlot {
  int running = 0, arrived = 0;
  std::uint64_t started = 0, first_main = 0;      // with skipped periods
  std::uint64_t main_begin = 0, main_cycles = 0;  // while any warpgroup is in its main loop, of all tiles
  std::uint64_t lead_begin = 0, lead_cycles = 0;  // while the leading warp is
  int main_loops = 0;                             // warpgroups that are in theirs
  bool in_main_loop = false;                      // the leading warp
  std::uint16_t first_warp = 0;
};

// Counters that nearly every instruction adds to, whole numbers of them.
struct Tally {
  std::uint64_t warp_instructions = 0, fma_cycles = 0, alu_cycles = 0;
  std::uint64_t rf_reads = 0, rf_hits = 0, rf_conflict_cycles = 0;

  void move_to(CoreCounters& count) {
    count.warp_instructions += static_cast<double>(warp_instructions);
    count.fma_cycles += static_cast<double>(fma_cycles);
    count.alu_cycles += static_cast<double>(alu_cycles);
    count.rf_reads += static_cast<double>(rf_reads);
    count.rf_hits += static_cast<double>(rf_hits);
    count.rf_conflict_cycles += static_cast<double>(rf_conflict_cycles);
    *this = {};
  }
};

// How far the SM has come.
struct Progress {
  std::uint64_t time = 0;
  double ctas = 0;  // ended, with parts
  CoreCounters count;
};

class Engine {
 public:
  Engine(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
         const MemoryEnvironment& environment, const SmWork& work);
  SmResult run();

  friend class FastForward;

 private:
  bool step_through();
  std::uint64_t& next_try(const SubCore& sub) { return next_try_[sub.index]; }
  void sleep(SubCore& sub, int bit, std::uint64_t now);
  void step(SubCore& sub, std::uint64_t now);
  [[nodiscard]] bool goes_the_short_way(const SubCore& sub, const Warp& warp, std::uint64_t now) const;
  std::uint32_t held(SubCore& sub, std::uint32_t candidates, std::uint64_t now, std::uint64_t& again) const;
  std::uint64_t try_issue(SubCore& sub, Warp& warp, std::uint16_t id, std::uint64_t now);
  static void set_held_by(SubCore& sub, Warp& warp, std::uint8_t by);
  [[nodiscard]] std::uint64_t queue_free(std::uint64_t unit_free, std::uint64_t interval) const;
  std::uint64_t queued(const SubCore& sub, const DecodedInstruction& in, std::uint64_t now) const;
  void share_pipe(const SubCore& user, Action action);
  void occupy_pipe(SubCore& sub, const Warp& warp, const DecodedInstruction& in, std::uint64_t now);
  [[nodiscard]] static int longest_waiting(const SubCore& sub, std::uint32_t candidates);
  [[nodiscard]] int next_candidate(const SubCore& sub, std::uint32_t candidates) const;
  void issue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  void issue_simple(SubCore& sub, Warp& warp, std::uint16_t id, std::uint64_t now);
  void read_operands(SubCore& sub, const DecodedInstruction& in, std::uint16_t id, std::uint64_t now);
  void go_on(SubCore& sub, Warp& warp, std::uint16_t id, std::int32_t next, std::uint64_t now);
  const CoreCounters& counted();
  [[nodiscard]] double stepped_instructions() { return counted().warp_instructions - skipped_instructions_; }
  [[nodiscard]] CoreCounters total();
  void account(SubCore& sub, Warp& warp, std::uint64_t now);
  [[nodiscard]] std::uint64_t interval_of(const DecodedInstruction& in) const;
  [[nodiscard]] static std::uint64_t queued_since(const SubCore& sub, std::uint64_t from);
  template <class Spend>
  void split_wait(const SubCore& sub, const Warp& warp, std::uint64_t now, Spend spend) const;
  void record_issue(const SubCore& sub, const Warp& warp, std::uint16_t id, std::uint64_t now);
  void record_pipe(const SubCore& sub, const DecodedInstruction& in, std::uint16_t id, std::int32_t pc,
                   std::uint64_t now);
  void record_use(RecordedUnit unit, std::uint16_t id, std::int32_t pc, std::uint64_t from, std::uint64_t until,
                  std::uint64_t ready);
  void enqueue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  void load_constant(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  void post_front(SubCore& sub, std::uint64_t now);
  [[nodiscard]] std::uint64_t front_cycles(const MemoryCost& cost) const;
  void arrive_at_front(int sub_index, std::uint64_t now);
  void serve_front(std::uint64_t now);
  static void retire_groups(Warp& warp);
  void open_complete_barrier(std::uint16_t slot, std::uint64_t now);
  void arrive_at_barrier(std::uint16_t slot, std::uint64_t now);
  void post_read_release(const QueuedAccess& access, std::uint64_t at);
  void complete(SubCore& sub, const QueuedAccess& access, std::uint64_t now);
  void read_from_l2(double bytes, double now);
  bool asked_again(const MemoryCost& cost);
  [[nodiscard]] double beyond_l1(const MemoryCost& cost) const;
  std::uint64_t data_ready(SubCore& sub, const MemoryCost& cost, std::uint64_t now);
  void handle(const Event& event, std::uint64_t now);
  void release(Warp& warp, int counter, std::uint64_t now);
  void check_blocked(Warp& warp, std::uint64_t now);
  Stall check_scoreboard(Warp& warp);
  void fetch(Warp& warp, std::int32_t from, std::int32_t next, std::uint64_t now);
  [[nodiscard]] std::size_t id_of(const Warp& warp) const { return static_cast<std::size_t>(&warp - warps_.data()); }
  void unblock(Warp& warp, std::uint64_t now);
  void start_cta(int slot, std::uint64_t now);
  void finish_warp(SubCore& sub, Warp& warp, std::uint64_t now);
  [[nodiscard]] std::int64_t trips_of(int place, const DecodedLoop& loop) const;
  void replace_ctas(std::int64_t ctas, std::uint64_t cycles);
  [[nodiscard]] std::int64_t tiles_of(const TileShare& share) const;
  void reset_async(int slot);
  [[nodiscard]] int groups_per_cta() const;
  [[nodiscard]] std::size_t group_of(const Warp& warp) const;
  [[nodiscard]] int barrier_of(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] std::uint32_t phase_of(const Warp& warp, const DecodedAsync& op) const;
  [[nodiscard]] Stall check_async(const Warp& warp, const DecodedInstruction& in) const;
  [[nodiscard]] std::uint64_t matmul_room(const Warp& warp) const;
  void issue_async(Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  void arrive(const Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void complete_phase(std::uint16_t slot, std::uint8_t ring, int barrier, std::uint64_t now);
  void handle_async(const Event& event, std::uint64_t now);
  void load_box(const Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void store_box(Warp& warp, std::uint16_t id, const DecodedAsync& op, std::uint64_t now);
  void begin_matmul(Warp& warp, const DecodedAsync& op, std::uint64_t now);
  void pass_trip(const Warp& warp, std::uint16_t id, std::uint64_t now);
  [[nodiscard]] std::uint64_t fingerprint(std::uint64_t now, int depth) const;
  void add_async(std::size_t slot, std::uint64_t now, Fingerprint& add) const;
  [[nodiscard]] double main_trips(const CtaSlot& cta) const;
  [[nodiscard]] double part_of_trip(const CtaSlot& cta) const;
  [[nodiscard]] Progress progress(std::uint64_t now);
  void sample_ctas(std::uint64_t now);
  void measure_flow(std::uint64_t now);
  bool pass_equal_trips(std::uint16_t slot, std::uint64_t now);
  void pass_equal_rounds(std::uint64_t now);
  void pass_over(double periods, std::uint64_t cycles, const CoreCounters& period);
  void phase_change(Warp& warp, std::uint16_t id, std::int32_t from, std::int32_t to, std::uint64_t now);

  const DecodedProgram& program_;
  const MemoryEnvironment env_;
  const SmWork work_;
  const CoreSwitches switches_;
  CoreCounters count_;
  Tally tally_;  // not yet in count_
  EventWheel events_;
  std::vector<SubCore> subs_;
  // First cycle in which there may be something to do, by sub-core: side by side, as each cycle looks at all of them.
  // Those that do not exist have nothing to do, ever.
  std::array<std::uint64_t, max_sub_cores> next_try_{};
  std::vector<Warp> warps_;
  std::vector<CtaSlot> slots_;
  std::int64_t launched_ = 0, finished_ = 0;
  std::int64_t ctas_;              // to be run
  std::uint64_t last_refill_ = 0;  // end of the CTA whose slot took the last one
  int emptied_together_ = 0;
  std::uint64_t end_ = 0;
  PeriodicSkip periodic_;
  Recurrence same_trip_, same_round_;
  Progress steady_begin_, steady_end_;                    // of the steady state: when CTAs that were replaced ended
  std::array<Progress, CtaSampling::windows + 1> marks_;  // between the last sampling windows, oldest first
  bool sampled_ = false;                                  // the number of CTAs is settled
  FlowSample flow_sample_;
  std::int64_t trips_begun_ = 0;  // of all CTAs, if work_.flow asks
  bool measured_ = false;         // and the run shall end there
  bool rounds_repeat_ = false;
  bool cta_started_ = false;         // in this cycle
  double skipped_instructions_ = 0;  // of warps, passed over
  std::uint64_t skipped_ = 0;        // cycles passed over; event times know nothing of them
  int main_loop_ = -1;
  std::vector<int> leader_of_;  // of the warps of a CTA: the first that executes the same
  std::optional<FastForward> fast_;
  InstructionCaches icache_;
  std::optional<Scoreboard> scoreboard_;

  // Numbers of the SM that the loop needs, unwrapped once.
  int queue_capacity_;
  std::uint32_t issue_twice_;  // sub-cores that may issue a second time in a cycle, a bit each: all or none
  // From when an instruction leaves Allocate back to when another may issue: two where both may in one cycle.
  std::uint64_t issue_lead_;
  bool watches_trips_;
  bool plain_;  // nobody watches and warps wait for nothing but control bits: the short way of issue will do
  bool dual_fma_;
  std::uint64_t fma_interval_, heavy_interval_, alu_interval_, half_interval_, mufu_interval_, uniform_interval_;
  std::uint64_t fp64_interval_, branch_interval_;
  bool fp64_shared_;                                // one FP64 pipe for the SM
  std::uint32_t shared_pipes_;                      // other pipes of which the SM has one, a bit for each Action
  std::array<std::uint64_t, actions> intervals_{};  // by Action, but of tensor instructions: see interval_of()
  std::uint64_t fp64_free_ = 0;
  bool longest_waiting_first_;
  std::uint64_t variable_queue_;  // instructions that may wait before MUFU or a shared FP64 pipe
  std::uint64_t redirect_, barrier_latency_, barrier_interval_, constant_interval_;
  double write_back_;
  double sector_;  // bytes

  AsyncState async_;
  arch::TmaSpec tma_;
  double shared_width_;  // bytes per cycle

  // SM-wide load/store front: first come, first served over the sub-cores.
  std::array<std::uint8_t, 16> front_queue_{};
  int front_head_ = 0, front_size_ = 0;
  bool front_posted_ = false;
  // Where the front takes the addresses of half a warp a cycle, the data stage behind it has cycles left: for barriers,
  // which bring none, and for lines that arrive. It may lag so many cycles behind (a judgement: two accesses of four
  // wavefronts). Where it takes a warp a cycle, they are one.
  std::uint64_t front_free_ = 0, passes_free_ = 0;
  std::uint64_t backlog_;
  PendingRequests pending_;
  std::uint64_t barrier_free_ = 0;
  double read_port_free_ = 0, write_port_free_ = 0;
  // Bursts shorter than this are served at the port's rate: the order of a trip of a main loop.
  static constexpr double burst_cycles = 2048;
  std::array<int, 4> shared_turn_{};  // of SharedSectors::steps, by kernels::Matrix
  double c_free_ = 0;                 // when the C that was asked for so far has come
  double read_share_free_ = 0;        // when what was asked for so far has come at the SM's share of L2's bandwidth
};

// Cycles from one instruction of its pipe to the next.
inline std::uint64_t Engine::interval_of(const DecodedInstruction& in) const {
  if (in.action != Action::tensor) return intervals_[static_cast<std::size_t>(in.action)];
  return std::max(1u, static_cast<unsigned>(program_.tensor[static_cast<std::size_t>(in.tensor)].interval));
}

inline void Engine::set_held_by(SubCore& sub, Warp& warp, std::uint8_t by) {
  sub.needs[warp.held_by] &= ~(1u << warp.bit);
  sub.needs[by] |= 1u << warp.bit;
  warp.held_by = by;
}

// Accesses that the sub-core has queued since then, as far as the ring still holds them.
inline std::uint64_t Engine::queued_since(const SubCore& sub, std::uint64_t from) {
  constexpr std::uint64_t last = queue_ring - 1;
  const auto end = static_cast<std::uint64_t>(sub.queue_head + sub.queue_size) + queue_ring;
  std::uint64_t count = 0;
  while (count < last && sub.queue[(end - 1 - count) % queue_ring].issued >= from) ++count;
  return count;
}

// Between its last issue and `now`, what did the warp wait for? spend(reason, from, until) is called for stretches that
// follow each other without gaps and end at `now`.
template <class Spend>
void Engine::split_wait(const SubCore& sub, const Warp& warp, std::uint64_t now, Spend spend) const {
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
  const std::uint64_t held_from = std::max(from, sub.issued_at + 1), held_until = std::min(sub.issue_free, now);
  if (held_until > held_from) until(Stall::dispatch, from + (held_until - held_from));
  if (warp.failed_by != Stall::not_selected) until(warp.failed_by, std::min(warp.failed_until, now));
  // A pipe that was busy, or a queue that was full, explains the wait until it was free, but for the cycles in which it
  // took an instruction of another warp; what remains is the scheduler's choice.
  const DecodedInstruction& in = *warp.next;
  const std::uint64_t free = std::min(sub.pipe_free[static_cast<std::size_t>(in.action)], now);
  if (free > from) {
    const bool queues = in.action == Action::memory || in.action == Action::barrier;
    const std::uint64_t taken = queues ? queued_since(sub, from) : (free - from) / interval_of(in);
    until(queues ? Stall::memory_queue : Stall::math_pipe, free - std::min(taken, free - from));
  }
  until(Stall::not_selected, now);
}

}  // namespace noteg::sm
