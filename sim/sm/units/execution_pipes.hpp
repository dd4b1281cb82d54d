// The execution pipes: from when on each sub-core's pipe takes another instruction. FP32 is one pipe or two halves, one
// of which also runs IMAD. MUFU and a shared FP64 pipe have queues of their own. Pipes that the SM has once are taken
// in turns by all sub-cores.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "arch/spec.hpp"
#include "sim/sm/counters.hpp"
#include "sim/sm/observer.hpp"
#include "sim/sm/units/warp_scheduler.hpp"

namespace noteg::sm {

class ExecutionPipes {
 public:
  ExecutionPipes(const arch::SmSpec& spec, const DecodedProgram& program);

  // A warpgroup multiplication runs until then: its accumulators take ports of the register file, and each instruction
  // beside it keeps its pipe longer.
  void multiply_until(std::uint64_t end) { multiplying_until_ = end; }

  // From when on an instruction of an action finds its pipe free; 0 where it needs none. Of what goes through the
  // load/store queue: when that was last full.
  [[nodiscard]] std::uint64_t free_from(std::size_t sub, std::size_t action) const { return of_[sub].free[action]; }
  void set_free(std::size_t sub, Action action, std::uint64_t from) {
    of_[sub].free[static_cast<std::size_t>(action)] = from;
  }

  // Cycles from one instruction of its pipe to the next.
  [[nodiscard]] std::uint64_t interval_of(const DecodedInstruction& in) const {
    if (in.action != Action::tensor) return intervals_[static_cast<std::size_t>(in.action)] + in.further_cycles;
    return std::max(1u, static_cast<unsigned>(program_.tensor[static_cast<std::size_t>(in.tensor)].interval));
  }

  // Which of `candidates` wait for nothing but a pipe that is busy; `again`: the first cycle in which one is free.
  std::uint32_t held(std::size_t sub, const WarpScheduler& scheduler, std::uint32_t candidates, std::uint64_t now,
                     std::uint64_t& again);
  // An instruction of `warp` goes to its pipe. Others that were ready for it need not be looked at before it is free.
  void occupy(std::size_t sub, WarpScheduler& scheduler, const Warp& warp, const DecodedInstruction& in,
              std::uint64_t now, Tally& tally, CoreCounters& count);

  // Cycles between the issue of a variable-latency instruction and its start in its unit.
  [[nodiscard]] std::uint64_t queued(std::size_t sub, const DecodedInstruction& in, std::uint64_t now) const;
  // Which unit works for the instruction that has just been issued, and when; count_: none.
  struct Use {
    RecordedUnit unit = RecordedUnit::count_;
    std::uint64_t from = 0, until = 0;
  };
  [[nodiscard]] Use use_of(std::size_t sub, const DecodedInstruction& in, std::uint64_t now) const;

  // When a pipe was free explains how long those have waited who wait since then.
  void hash(StateHash& add, std::size_t sub, std::uint64_t waiting_since) const;
  void hash(StateHash& add) const { add.until(fp64_shared_free_); }

 private:
  struct alignas(256) State {  // found by a shift: each issue asks for it
    std::array<std::uint64_t, actions> free{};
    std::uint32_t busy = 0;  // those that `free` may lie ahead of, a bit each
    std::uint64_t lite = 0, heavy = 0, mufu = 0, fp64 = 0;
    double tensor = 0;
  };
  static constexpr std::uint32_t bit(Action action) { return 1u << static_cast<unsigned>(action); }
  [[nodiscard]] std::uint64_t queue_free(std::uint64_t unit_free, std::uint64_t interval) const;
  void share(std::size_t user, Action action);

  const DecodedProgram& program_;
  std::array<State, max_sub_cores> of_{};
  std::size_t sub_cores_;
  std::array<std::uint64_t, actions> intervals_{};  // by Action, but of tensor instructions
  bool dual_fma_;
  std::uint64_t fma_interval_;  // of one half
  bool half_is_lite_;           // packed halves take the FP32 half that IMAD does not
  bool fp64_shared_;            // one FP64 pipe for the SM
  std::uint64_t fp64_shared_free_ = 0;
  std::uint32_t shared_;  // other pipes of which the SM has one
  // Cycles more that a pipe is taken while a warpgroup multiplication runs; and MUFU for each that others take then.
  std::uint64_t beside_, beside_mufu_, mufu_beside_;
  std::uint64_t multiplying_until_ = 0;
  std::uint64_t variable_queue_;  // instructions that may wait before MUFU or a shared FP64 pipe
};

inline std::uint32_t ExecutionPipes::held(std::size_t sub, const WarpScheduler& scheduler, std::uint32_t candidates,
                                          std::uint64_t now, std::uint64_t& again) {
  const auto where = [](bool condition) { return 0u - static_cast<std::uint32_t>(condition); };
  State& of = of_[sub];
  std::uint32_t held = 0, left = of.busy;
  // No host foresees how many pipes are busy: two are looked at without asking, the second of one being none at all.
  const auto look_at_next = [&] {
    const auto pipe = static_cast<std::size_t>(std::countr_zero(left | 1u << no_single_wait));
    const std::uint64_t free = of.free[pipe];
    const bool busy = free > now;
    of.busy &= ~(static_cast<std::uint32_t>(!busy) << pipe);
    const std::uint32_t waiting = candidates & scheduler.needs(pipe) & where(busy);
    held |= waiting;
    again = std::min(again, waiting != 0 ? free : never);
    left &= left - 1;
  };
  look_at_next();
  look_at_next();
  while (left != 0) look_at_next();
  return held;
}

[[gnu::always_inline]] inline void ExecutionPipes::occupy(std::size_t sub, WarpScheduler& scheduler, const Warp& warp,
                                                          const DecodedInstruction& in, std::uint64_t now, Tally& tally,
                                                          CoreCounters& count) {
  State& of = of_[sub];
  const auto put_others_off = [&](std::uint32_t warps, std::uint64_t free) {
    scheduler.put_off(warps & ~(1u << warp.bit), free, now);
  };
  const auto taken_until = [&](std::uint64_t free) {
    const auto pipe = static_cast<std::size_t>(in.action);
    of.free[pipe] = free;
    of.busy |= 1u << pipe;
    put_others_off(scheduler.needs(pipe), free);
  };
  const auto fma_taken = [&] {
    of.free[static_cast<std::size_t>(Action::fma_heavy)] = of.heavy;
    of.free[static_cast<std::size_t>(Action::fma)] = dual_fma_ ? std::min(of.lite, of.heavy) : of.heavy;
    if (half_is_lite_) of.free[static_cast<std::size_t>(Action::half)] = of.lite;
    tally.fma_cycles += dual_fma_ ? 1 : fma_interval_;
    of.busy |= bit(Action::fma) | bit(Action::fma_heavy) | (half_is_lite_ ? bit(Action::half) : 0u);
    if (!dual_fma_) put_others_off(scheduler.needs(static_cast<std::size_t>(Action::fma)), of.heavy);
  };
  if (in.action == Action::tensor) {  // the most frequent of a matrix kernel
    const TensorCost& cost = program_.tensor[static_cast<std::size_t>(in.tensor)];
    of.tensor = std::max(of.tensor, as_double(now)) + cost.interval;
    count.tensor_cycles += cost.interval;
    count.tensor_macs[cost.kind] += cost.macs;
    return taken_until(static_cast<std::uint64_t>(static_cast<std::int64_t>(of.tensor)));
  }
  const std::uint64_t interval = intervals_[static_cast<std::size_t>(in.action)];
  const std::uint64_t beside = in.action == Action::mufu ? beside_mufu_ : beside_;
  const std::uint64_t taken = interval + (now < multiplying_until_ ? beside : 0);
  constexpr std::uint32_t takes_ports =
      bit(Action::fma) | bit(Action::fma_heavy) | bit(Action::alu) | bit(Action::half);
  if (now < multiplying_until_ && of.mufu > now && (bit(in.action) & takes_ports) != 0) {
    constexpr auto mufu = static_cast<std::size_t>(Action::mufu);
    of.mufu += mufu_beside_;
    of.free[mufu] = queue_free(of.mufu, intervals_[mufu]);
    of.busy |= bit(Action::mufu);
    put_others_off(scheduler.needs(mufu), of.free[mufu]);
  }
  switch (in.action) {
    case Action::fma: {
      const bool lite = dual_fma_ && of.lite <= now;
      const std::uint64_t free = now + fma_interval_ + (taken - interval);
      of.lite = lite ? free : of.lite;
      of.heavy = lite ? of.heavy : free;
      fma_taken();
      break;
    }
    case Action::fma_heavy:
      of.heavy = now + taken + in.further_cycles;
      fma_taken();
      break;
    case Action::alu:
      taken_until(now + taken);
      tally.alu_cycles += interval;
      break;
    case Action::half:
      taken_until(now + taken);
      if (!half_is_lite_) break;
      of.lite = now + taken;
      fma_taken();
      break;
    case Action::uniform: taken_until(now + interval); break;
    case Action::mufu:
      of.mufu = std::max(now, of.mufu) + taken;
      taken_until(queue_free(of.mufu, interval));
      break;
    case Action::fp64:
      if (fp64_shared_) {
        fp64_shared_free_ = std::max(now, fp64_shared_free_) + interval + in.further_cycles;
        for (State& each : std::span(of_).first(sub_cores_)) {
          each.free[static_cast<std::size_t>(Action::fp64)] = queue_free(fp64_shared_free_, interval);
          each.busy |= bit(Action::fp64);
        }
      } else {
        of.fp64 = std::max(now, of.fp64) + interval + in.further_cycles;
        taken_until(of.fp64);
      }
      break;
    case Action::branch:
      // One branch a cycle is what a sub-core issues at most.
      if (interval > 1 || shared_ != 0) of.free[static_cast<std::size_t>(Action::branch)] = now + interval;
      break;
    case Action::tensor:
    case Action::memory:
    case Action::constant_load:
    case Action::control:
    case Action::barrier:
    case Action::asynchronous:
    case Action::exit: break;
  }
  if ((shared_ & bit(in.action)) != 0) share(sub, in.action);
}

}  // namespace noteg::sm
