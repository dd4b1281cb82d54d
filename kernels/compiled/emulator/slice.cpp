// A value that is needed under a predicate only (@P0 LDG [R2]) is needed of what is written under the same predicate
// (@P0 IADD R2, ...), not of what the register held before.

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/compiled/emulator/async_acts.hpp"
#include "kernels/compiled/emulator/code.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

bool controls(S s) {
  return s == S::branch || s == S::branch_indexed || s == S::exit || s == S::push_convergence || s == S::converge ||
         s == S::leave_convergence || s == S::move_convergence || s == S::call || s == S::ret || s == S::barrier ||
         s == S::warp_sync;
}

bool acts(const Step& step) {
  return is_bulk(step.semantics) || step.semantics == S::mbarrier || step.semantics == S::cluster_arrive ||
         step.semantics == S::cluster_wait || (step.semantics == S::barrier && is_named_barrier(*step.in));
}

bool reads_shared(S s) { return s == S::load_shared || s == S::atomic_shared; }

// What lanes read of each other: a lane whose predicate is false may be asked.
bool crosses_lanes(S s) {
  return s == S::vote || s == S::shuffle || s == S::match || s == S::reduce || s == S::to_uniform || s == S::elect;
}

// Registers that are needed: wherever control comes from, and those that are needed where a predicate holds, or where
// it does not.
class Needs {
 public:
  bool merge(const Needs& other) {
    bool fresh = always_.merge(other.always_);
    for (std::uint32_t left = other.guards_; left != 0; left &= left - 1) {
      const auto g = static_cast<std::size_t>(std::countr_zero(left));
      fresh = under_[g].merge(other.under_[g]) || fresh;
    }
    guards_ |= other.guards_;
    return fresh;
  }

  // Whether what a step writes is needed behind it.
  [[nodiscard]] bool meets(const Step& step, const RegisterSet& writes) const {
    if (writes.meets(always_)) return true;
    const std::uint32_t away = is_guarded(step) ? std::uint32_t{1} << (guard_of(step) ^ 1U) : 0;
    for (std::uint32_t left = guards_ & ~away; left != 0; left &= left - 1)
      if (writes.meets(under_[static_cast<std::size_t>(std::countr_zero(left))])) return true;
    return false;
  }

  void write(const Step& step, const RegisterSet& writes) {
    // What was needed under a predicate that is made here was so under another value before.
    for (std::uint32_t left = guards_; left != 0; left &= left - 1) {
      const auto g = static_cast<std::size_t>(std::countr_zero(left));
      if ((writes.word[8 + g / 16] >> (g % 16 / 2) & 1) == 0) continue;
      always_.merge(under_[g]);
      under_[g] = {};
      guards_ &= ~(std::uint32_t{1} << g);
    }
    if (!is_guarded(step)) {
      always_.remove(writes);
      for (std::uint32_t left = guards_; left != 0; left &= left - 1)
        under_[static_cast<std::size_t>(std::countr_zero(left))].remove(writes);
      return;
    }
    const std::size_t here = guard_of(step), elsewhere = here ^ 1U;
    RegisterSet kept = writes;
    kept.keep(always_);
    always_.remove(writes);
    under_[here].remove(writes);
    need(elsewhere, kept);
  }

  void read(const Step& step, const RegisterSet& reads) {
    if (!is_guarded(step) || crosses_lanes(step.semantics)) {
      always_.merge(reads);
      return;
    }
    RegisterSet predicates;
    for (std::size_t i = 8; i < predicates.word.size(); ++i) predicates.word[i] = reads.word[i];
    always_.merge(predicates);
    need(guard_of(step), reads);
  }

 private:
  static bool is_guarded(const Step& step) { return step.in->guard >= 0 && step.in->guard < true_predicate; }
  static std::size_t guard_of(const Step& step) {
    return (step.in->guard_uniform ? 16U : 0U) + 2U * static_cast<std::size_t>(step.in->guard) +
           (step.in->guard_negated ? 1U : 0U);
  }
  void need(std::size_t guard, const RegisterSet& registers) {
    under_[guard].merge(registers);
    guards_ |= std::uint32_t{1} << guard;
  }

  RegisterSet always_;
  std::array<RegisterSet, 32> under_{};  // by guard_of
  std::uint32_t guards_ = 0;             // of them, those that may hold something
};

// Backward through one instruction: what is needed before it, from what is needed behind it.
void step_back(Step& step, Needs& needs) {
  const RegisterSet writes = written(step);
  step.is_read = step.is_read || needs.meets(step, writes);
  step.carried_out = step.carried_out || step.is_read;
  if (!step.carried_out) return;
  needs.write(step, writes);
  // What nothing is known about needs none of its sources.
  if (step.semantics != S::opaque || step.in->guard >= 0) needs.read(step, read(step));
}

void close_slice(EmulatedCode& code) {
  const std::vector<std::vector<std::int32_t>> successors = successors_of(code);
  std::vector<Needs> before(code.blocks.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = code.blocks.size(); b-- > 0;) {
      Needs needs;
      for (const std::int32_t next : successors[b]) needs.merge(before[static_cast<std::size_t>(next)]);
      for (std::int32_t i = code.blocks[b].end; i-- > code.blocks[b].begin;)
        step_back(code.steps[static_cast<std::size_t>(i)], needs);
      changed = before[b].merge(needs) || changed;
    }
  }
}

}  // namespace

void slice(EmulatedCode& code, Wanted wanted) {
  for (Step& step : code.steps) {
    const bool is_global = step.semantics == S::load_global || step.semantics == S::store_global ||
                           step.semantics == S::copy_to_shared || step.semantics == S::atomic_global;
    step.is_memory = (wanted == Wanted::addresses && has_addresses(step.semantics)) ||
                     (wanted == Wanted::global_addresses && is_global);
    step.acts =
        (wanted == Wanted::addresses && acts(step)) || (wanted == Wanted::global_addresses && is_bulk(step.semantics));
    step.carried_out = controls(step.semantics) || step.is_memory || step.acts;
  }
  for (Step& step : code.steps) step.data_matters = is_counter(step);
  close_slice(code);
  // Values that pass through shared memory are followed where loads of them decide something.
  code.keeps_shared =
      std::ranges::any_of(code.steps, [](const Step& step) { return reads_shared(step.semantics) && step.is_read; });
  for (Step& step : code.steps)
    if (code.keeps_shared && (step.semantics == S::store_shared || step.semantics == S::atomic_shared))
      step.carried_out = step.data_matters = true;
  close_slice(code);
}

}  // namespace noteg::compiled
