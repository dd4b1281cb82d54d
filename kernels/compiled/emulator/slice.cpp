// A value that is needed under a predicate only (@P0 LDG [R2]) is needed of what is written under the same predicate
// (@P0 IADD R2, ...), not of what the register held before.

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "kernels/compiled/emulator/async_acts.hpp"
#include "kernels/compiled/emulator/code.hpp"
#include "kernels/ir/tensor_form.hpp"

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
         step.semantics == S::cluster_wait || (step.semantics == S::barrier && is_named_barrier(*step.in)) ||
         (step.semantics == S::fence && !step.in->has("CTA"));
}

bool reads_shared(S s) { return s == S::load_shared || s == S::atomic_shared; }

// What lanes read of each other: a lane whose predicate is false may be asked.
bool crosses_lanes(S s) {
  return s == S::vote || s == S::shuffle || s == S::match || s == S::reduce || s == S::to_uniform || s == S::elect;
}

// Registers that are needed: those that are whatever predicates say, and those that are where one holds, or does not.
class Needs {
 public:
  bool merge(const Needs& other) {
    bool fresh = always_.merge(other.always_);
    for (const auto& [guard, registers] : other.under_) fresh = under_[guard].merge(registers) || fresh;
    return fresh;
  }

  // Whether what a step writes is needed behind it.
  [[nodiscard]] bool meets(const Step& step, const RegisterSet& writes) const {
    const std::optional<Guard> elsewhere = opposite(guard_of(step));
    return writes.meets(always_) || std::ranges::any_of(under_, [&](const auto& need) {
             return need.first != elsewhere && writes.meets(need.second);
           });
  }

  void write(const Step& step, const RegisterSet& writes) {
    // What was needed under a predicate that is made here was so under another value before.
    std::erase_if(under_, [&](const auto& need) {
      const auto [uniform, predicate, negated] = need.first;
      const bool is_made = (writes.word[uniform ? 9 : 8] >> predicate & 1) != 0;
      if (is_made) always_.merge(need.second);
      return is_made;
    });
    const std::optional<Guard> here = guard_of(step);
    if (here) {
      RegisterSet kept = writes;
      kept.keep(always_);
      under_[*here].remove(writes);
      under_[*opposite(here)].merge(kept);
    } else {
      for (auto& [guard, registers] : under_) registers.remove(writes);
    }
    always_.remove(writes);
  }

  void read(const Step& step, const RegisterSet& reads) {
    const std::optional<Guard> here = guard_of(step);
    if (!here || crosses_lanes(step.semantics)) {
      always_.merge(reads);
      return;
    }
    RegisterSet predicates;
    for (std::size_t i = 8; i < predicates.word.size(); ++i) predicates.word[i] = reads.word[i];
    always_.merge(predicates);
    under_[*here].merge(reads);
  }

 private:
  using Guard = std::tuple<bool, int, bool>;  // uniform, which predicate, negated

  static std::optional<Guard> guard_of(const Step& step) {
    const Instruction& in = *step.in;
    if (in.guard < 0 || in.guard == true_predicate) return std::nullopt;
    return Guard{in.guard_uniform, in.guard, in.guard_negated};
  }
  static std::optional<Guard> opposite(std::optional<Guard> guard) {
    if (guard) std::get<2>(*guard) = !std::get<2>(*guard);
    return guard;
  }

  RegisterSet always_;
  std::map<Guard, RegisterSet> under_;
};

bool computes_numbers(S s) { return s >= S::mufu && s <= S::check_division; }

// Whether nothing can be known of what a step writes, where `unknowable` are registers of which nothing can.
bool is_unknowable(const Step& step, const RegisterSet& unknowable) {
  if (step.semantics == S::opaque || step.semantics == S::load_matrix) return true;
  if (!computes_numbers(step.semantics)) return false;
  RegisterSet sources;
  for (std::size_t i = step.destinations; i < step.in->operands; ++i)
    if (!is_predicate(step.in->operand[i])) sources.add(step.in->operand[i], 1);
  return sources.meets(unknowable);
}

void step_forward(const Step& step, RegisterSet& unknowable) {
  const RegisterSet writes = written(step);
  if (!is_unknowable(step, unknowable))
    unknowable.remove(writes);
  else if (step.in->guard < 0)
    unknowable.merge(writes);
}

// Numbers that are made of what matrix instructions bring are unknown on every way: what makes them is not carried out.
void forget_unknowable(EmulatedCode& out) {
  const auto leaves_sight = [](const Step& step) {
    return step.semantics == S::branch_indexed || step.semantics == S::call || step.semantics == S::ret;
  };
  if (std::ranges::any_of(out.steps, leaves_sight)) return;
  const std::vector<std::vector<std::int32_t>> successors = successors_of(out);
  std::vector<RegisterSet> at(out.blocks.size());
  std::vector<char> reached(out.blocks.size(), 0);
  reached[0] = 1;
  const auto meet = [&](std::size_t block, const RegisterSet& from) {
    const RegisterSet before = at[block];
    const bool is_first = reached[block] == 0;
    if (is_first)
      at[block] = from;
    else
      at[block].keep(from);
    reached[block] = 1;
    return is_first || at[block].word != before.word;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < out.blocks.size(); ++b) {
      if (reached[b] == 0) continue;
      RegisterSet now = at[b];
      for (std::int32_t i = out.blocks[b].begin; i < out.blocks[b].end; ++i)
        step_forward(out.steps[static_cast<std::size_t>(i)], now);
      for (const std::int32_t next : successors[b]) changed = meet(static_cast<std::size_t>(next), now) || changed;
    }
  }
  for (std::size_t b = 0; b < out.blocks.size(); ++b) {
    if (reached[b] == 0) continue;
    for (std::int32_t i = out.blocks[b].begin; i < out.blocks[b].end; ++i) {
      Step& step = out.steps[static_cast<std::size_t>(i)];
      const bool forget = computes_numbers(step.semantics) && is_unknowable(step, at[b]);
      step_forward(step, at[b]);
      if (forget) step.semantics = S::opaque;
    }
  }
}

// The call that a branch jumps over, with no other branch on the way; nullptr: none.
const Instruction* call_between(const EmulatedCode& code, std::int32_t from, std::int32_t to) {
  for (std::int32_t i = from; i < to; ++i) {
    const Step& step = code.steps[static_cast<std::size_t>(i)];
    if (step.semantics == S::call) return step.in;
    if (step.semantics == S::branch) return nullptr;
  }
  return nullptr;
}

// Where random numbers lead by chance alone: to the root of a negative one, or to what ends the program with a word, as
// an assertion does (such functions, which a kernel does not hold itself, go by an absolute address).
bool is_called_by_chance(const Instruction& call) {
  const auto names = [&](std::string_view part) { return call.text.find(part) != std::string_view::npos; };
  return names(".ABS") || names("sqrt");
}

// Branches, by instruction, that are decided by what some step brings, on some way there.
template <class Brings>
std::vector<bool> decided_by(const EmulatedCode& code, Brings brings) {
  const std::vector<std::vector<std::int32_t>> successors = successors_of(code);
  std::vector<RegisterSet> at(code.blocks.size());
  std::vector<bool> out(code.steps.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < code.blocks.size(); ++b) {
      RegisterSet made = at[b];
      for (auto i = static_cast<std::size_t>(code.blocks[b].begin); i < static_cast<std::size_t>(code.blocks[b].end);
           ++i) {
        const Step& step = code.steps[i];
        const bool meets = read(step).meets(made);
        if (step.semantics == S::branch && meets) out[i] = true;
        if (brings(step) || meets)
          made.merge(written(step));
        else if (step.in->guard < 0)
          made.remove(written(step));
      }
      if (code.steps[static_cast<std::size_t>(code.blocks[b].end - 1)].semantics == S::ret) continue;
      for (const std::int32_t next : successors[b]) changed = at[static_cast<std::size_t>(next)].merge(made) || changed;
    }
  }
  return out;
}

// A branch out of a loop that goes back behind it.
bool leaves_a_loop(const EmulatedCode& code, std::int32_t at, std::int32_t target) {
  for (std::int32_t i = at + 1; i < target; ++i)
    if (code.steps[static_cast<std::size_t>(i)].semantics == S::branch && target_at(code, i).value_or(at + 1) <= at)
      return true;
  return false;
}

// Branches of which more is known than what decides them: over what random numbers lead to by chance alone. What other
// CTAs have written lets a search among them end where it begins (look-back).
void find_ways_out(EmulatedCode& out) {
  const std::vector<bool> by_loads = decided_by(out, [](const Step& step) {
    return step.semantics == S::load_global || step.semantics == S::load_shared || step.semantics == S::load_local ||
           step.semantics == S::load_matrix;
  });
  const std::vector<bool> by_others =
      decided_by(out, [](const Step& step) { return step.semantics == S::load_global && is_coherent_beyond_sm(step); });
  for (std::size_t i = 0; i < out.steps.size(); ++i) {
    Step& step = out.steps[i];
    if (step.semantics != S::branch) continue;
    const auto at = static_cast<std::int32_t>(i);
    const std::int32_t target = target_at(out, at).value_or(at);
    const Instruction* call = call_between(out, at + 1, target);
    step.passes_a_call = call != nullptr;
    step.passes_what_chance_calls = call != nullptr && by_loads[i] && is_called_by_chance(*call);
    step.ends_a_search = by_others[i] && leaves_a_loop(out, at, target);
  }
}

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
  find_ways_out(code);
  forget_unknowable(code);
  for (Step& step : code.steps) {
    step.is_memory = (wanted == Wanted::addresses && has_addresses(step.semantics)) ||
                     (wanted == Wanted::global_addresses && asks_global(step.semantics));
    step.acts =
        (wanted == Wanted::addresses && acts(step)) || (wanted == Wanted::global_addresses && is_bulk(step.semantics));
    step.carried_out = controls(step.semantics) || step.is_memory || step.acts;
  }
  for (Step& step : code.steps) step.data_matters = is_counter(step);
  close_slice(code);
  // Values that pass through shared memory are followed where loads of them decide something.
  code.keeps_shared =
      std::ranges::any_of(code.steps, [](const Step& step) { return reads_shared(step.semantics) && step.is_read; });
  const bool keeps_local =
      std::ranges::any_of(code.steps, [](const Step& step) { return step.semantics == S::load_local && step.is_read; });
  for (Step& step : code.steps) {
    if (code.keeps_shared && (step.semantics == S::store_shared || step.semantics == S::atomic_shared))
      step.carried_out = step.data_matters = true;
    if (keeps_local && step.semantics == S::store_local) step.carried_out = true;  // registers that were spilled
  }
  close_slice(code);
}

namespace {

constexpr std::size_t words = 4;  // of R0 to R254
using Live = std::array<std::uint64_t, words>;

void put(Live& live, const Operand& operand, int width) {
  if (operand.kind != Kind::reg && operand.kind != Kind::memory) return;
  if (operand.index < 0 || operand.index == zero_register) return;
  for (int r = operand.index; r < std::min<int>(operand.index + width, zero_register); ++r)
    live[static_cast<std::size_t>(r) / 64] |= std::uint64_t{1} << (r % 64);
}

// Registers of A, B and the sums of a matrix instruction; of a multiplication of a warpgroup the sums alone.
kernels::FormRegisters fragments_of(const Step& step) {
  const auto form = kernels::tensor_form_from(timed_as(*step.in), step.in->modifiers);
  if (!form) return {};
  if (!form->warp_group) return kernels::registers_of(*form);
  const int sums = form->shape.n / 2 / (form->acc == kernels::DataType::f16 ? 2 : 1);
  return {4, 1, sums, 0};
}

int read_width(const Step& step, const Operand& operand, std::size_t which) {
  const Instruction& in = *step.in;
  if (operand.kind == Kind::memory) return operand.wide ? 2 : 1;
  if (const kernels::FormRegisters form = fragments_of(step); form.c > 0)
    return which == 0 ? form.a : which == 1 ? form.b : form.c;
  const bool stores =
      is_store(step.semantics) || step.semantics == S::store_shared || step.semantics == S::store_matrix;
  if (stores) return std::max(1, in.base == "STSM" ? (in.has("4") ? 4 : in.has("2") ? 2 : 1) : step.bytes / 4);
  if (in.base == "IMAD" && in.has("WIDE") && which == 2) return 2;
  return in.base.starts_with("D") || in.has("64") ? 2 : 1;
}

void step_back(const Step& step, Live& live) {
  const Instruction& in = *step.in;
  const kernels::FormRegisters form = fragments_of(step);
  if (in.guard < 0) {
    Live written{};
    for (std::size_t i = 0; i < step.destinations; ++i) put(written, in.operand[i], form.c > 0 ? form.c : step.width);
    for (std::size_t i = 0; i < words; ++i) live[i] &= ~written[i];
  }
  std::size_t which = 0;
  for (std::size_t i = step.destinations; i < in.operands; ++i) {
    put(live, in.operand[i], read_width(step, in.operand[i], which));
    if (in.operand[i].kind != Kind::memory) ++which;
  }
}

}  // namespace

std::vector<int> live_registers(const EmulatedCode& code) {
  const std::vector<std::vector<std::int32_t>> next = successors_of(code);
  std::vector<Live> before(code.blocks.size());
  std::vector<int> out(code.steps.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = code.blocks.size(); b-- > 0;) {
      Live live{};
      for (const std::int32_t to : next[b])
        for (std::size_t i = 0; i < words; ++i) live[i] |= before[static_cast<std::size_t>(to)][i];
      for (std::int32_t i = code.blocks[b].end; i-- > code.blocks[b].begin;) {
        step_back(code.steps[static_cast<std::size_t>(i)], live);
        int count = 0;
        for (const std::uint64_t word : live) count += std::popcount(word);
        out[static_cast<std::size_t>(i)] = count;
      }
      changed = changed || live != before[b];
      before[b] = live;
    }
  }
  return out;
}

}  // namespace noteg::compiled
