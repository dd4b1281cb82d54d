#include "kernels/compiled/emulator/warp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>

namespace noteg::compiled {
namespace {

using S = Semantics;

}  // namespace

EmulatedWarp::EmulatedWarp(const EmulatedCode& code, const Surroundings& around, std::uint32_t lanes)
    : code_(&code), around_(around), registers_(std::make_unique<Registers>()), alive_(lanes) {
  around_.tables = &code.tables.entries;
  if (lanes != 0 && !code.steps.empty()) fragments_.push_back({0, lanes, -1});
}

void EmulatedWarp::run_block(WarpWatcher& watcher) {
  if (finished() || at_barrier_) return;
  ++blocks_run_;
  const std::int32_t at = fragments_.back().at;
  if (at < 0 || at >= static_cast<std::int32_t>(code_->steps.size()))
    return leave(fragments_.back().lanes);  // ran off the end
  const Block& block = code_->blocks[static_cast<std::size_t>(code_->block_of[static_cast<std::size_t>(at)])];
  watcher.enters(around_.warp, code_->block_of[static_cast<std::size_t>(at)], fragments_.back().lanes);
  for (const std::int32_t i : block.steps) {
    if (i < at) continue;  // entered in its middle
    const Step& step = code_->steps[static_cast<std::size_t>(i)];
    const std::uint32_t lanes = fragments_.back().lanes;
    if (step.is_memory) access(i, step, lanes, watcher);
    if (step.acts) watcher.acts(around_.warp, act_of(*registers_, around_, step, i, lanes));
    switch (step.semantics) {
      case S::push_convergence:
        if (!step.in->operand.empty() && step.in->operand[0].kind == Kind::barrier)
          convergence_[static_cast<std::size_t>(step.in->operand[0].index & 15)].lanes = lanes;
        break;
      case S::leave_convergence:
        if (step.in->operand[0].kind == Kind::barrier) {
          const Guard guard = guard_of(*registers_, *step.in, lanes);
          convergence_[static_cast<std::size_t>(step.in->operand[0].index & 15)].lanes &= ~guard.holds;
        }
        break;
      case S::move_convergence: {
        const Operand &to = step.in->operand[0], &from = step.in->operand[1];
        if (to.kind == Kind::barrier && (from.kind == Kind::reg || from.kind == Kind::ureg)) {
          const Lanes v = value_of(*registers_, around_, from);
          const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
          if ((v.known >> lane & 1) != 0) convergence_[static_cast<std::size_t>(to.index & 15)].lanes = v.value[lane];
        } else if (to.kind == Kind::reg && from.kind == Kind::barrier && to.index != zero_register) {
          registers_->r[static_cast<std::size_t>(to.index)] =
              Lanes::of(convergence_[static_cast<std::size_t>(from.index & 15)].lanes);
        }
        break;
      }
      default:
        if (step.changes_registers()) carry_out(*registers_, around_, step, lanes);
    }
  }
  go_on(block.end - 1, watcher);
  if (!fragments_.empty() && fragments_.back().at <= at) begin_iteration(watcher);
}

void EmulatedWarp::begin_iteration(WarpWatcher& watcher) {
  if (fragments_.size() != 1 || fragments_.back().waits_for >= 0 || !taken_.empty() || around_.shared != nullptr ||
      !around_.turns->empty() || !code_->tables.places.empty())
    return;
  const std::optional<std::size_t> position = watcher.position(around_.warp);
  if (!position) return;
  around_.decisions = loops_.arrives({fragments_.back().at, fragments_.back().lanes, *position, around_.warp}, *code_,
                                     *registers_, watcher);
}

void EmulatedWarp::access(std::int32_t at, const Step& step, std::uint32_t lanes, WarpWatcher& watcher) {
  const Instruction& in = *step.in;
  const Guard guard = guard_of(*registers_, in, lanes);
  Access out;
  out.at = at;
  out.step = &step;
  out.lanes = guard.holds | (guard.unknown != 0 && by_ordinary_numbers(*code_, at) == false ? 0 : guard.unknown);
  out.guessed = guard.unknown;
  const Operand* where[2] = {nullptr, nullptr};
  std::size_t found = 0;
  for (std::size_t i = 0; i < in.operands && found < 2; ++i)
    if (in.operand[i].kind == Kind::memory) where[found++] = &in.operand[i];
  if (step.semantics == S::load_indexed) return indexed(step, out, watcher);
  if (found == 0) return;
  const bool is_copy = step.semantics == S::copy_to_shared;
  const bool is_global = asks_global(step.semantics) && step.semantics != S::store_local;
  out.address = address_of(*registers_, *where[is_copy && found > 1 ? 1 : 0], is_global);
  if (is_copy) {
    out.shared = address_of(*registers_, *where[0], false);
    const Operand& last = in.operand[static_cast<std::size_t>(in.operands - 1)];
    if (last.kind == Kind::pred) {
      const Predicate p = predicate_of(*registers_, last);
      const std::uint32_t off = p.known & ~p.bits;
      out.reads_nothing = (out.lanes & ~off) == 0;
      if (!out.reads_nothing) out.lanes &= ~off;
    }
  }
  if (step.semantics == S::store_local) to_own_place(out);
  if (step.by_window) out.peers = lanes_of_peers(*registers_, *where[0], around_.place->rank) & out.address.known;
  out.guessed |= out.lanes & ~out.address.known;
  // What is not known is guessed: as good a place of the buffer as any.
  for (std::uint32_t rest = is_global ? out.lanes & ~out.address.known : 0; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (around_.memory->buffer_at(out.address.value[static_cast<std::size_t>(lane)]) >= 0)
      out.address.known |= 1u << lane, out.elsewhere |= 1u << lane;
  }
  watcher.accesses(around_.warp, out);
}

// Local memory: the words of a thread stand beside those of its neighbours, warp after warp.
void EmulatedWarp::to_own_place(Access& access) const {
  constexpr std::uint64_t window = 0x7d0000000000, word = 4;
  const Launch& launch = *around_.launch;
  const auto frame = static_cast<std::uint64_t>(code_->frame), bytes = std::uint64_t{access.step->bytes};
  const auto warp = static_cast<std::uint64_t>(launch.before(around_.place->id) * launch.warps() + around_.warp);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint64_t offset = access.address.value[lane] - (LaunchMemory::stack_top - frame);
    access.address.value[lane] =
        window + warp * frame * 32 + offset / word * word * 32 + lane * std::max(word, bytes) + offset % word;
  }
}

// c[0x3][R4+0x10]: the register stands where descriptors do.
void EmulatedWarp::indexed(const Step& step, Access& access, WarpWatcher& watcher) {
  const Operand& from = step.in->operand[1];
  const Lanes& index = registers_->r[static_cast<std::size_t>(from.descriptor)];
  access.address.known = index.known;
  for (std::size_t i = 0; i < 32; ++i)
    access.address.value[i] = index.value[i] + static_cast<std::uint64_t>(from.value);
  access.guessed |= access.lanes & ~index.known;
  watcher.accesses(around_.warp, access);
}

bool EmulatedWarp::assumed(std::int32_t at, std::int32_t target, WarpWatcher& watcher) {
  const Step& step = code_->steps[static_cast<std::size_t>(at)];
  const auto given = around_.launch->assumptions.find(step.in->address);
  bool taken = step.passes_a_call || step.ends_a_search || by_ordinary_numbers(*code_, at) == true;
  if (given != around_.launch->assumptions.end()) {
    std::int64_t& so_far = taken_[at];
    taken = given->second.taken < 0 || so_far < given->second.taken;
    so_far = taken ? so_far + 1 : 0;
  }
  // A loop in which nothing that is known decides anything ends when it comes here again.
  if (given == around_.launch->assumptions.end() && target > at) {
    std::int64_t& before = known_before_.try_emplace(at, -1).first->second;
    const bool turns = before == known_decisions_;
    before = turns ? -1 : known_decisions_;
    if (turns) taken = !taken;
  }
  watcher.assumes(at, taken);
  if (const auto poll = code_->polls.find(at); poll != code_->polls.end() && !taken && poll->second.until != nullptr) {
    const Lanes until = value_of(*registers_, around_, *poll->second.until);
    if (const std::uint32_t known = until.known & fragments_.back().lanes; known != 0)
      watcher.waited(around_.warp, at,
                     static_cast<std::int32_t>(until.value[static_cast<std::size_t>(std::countr_zero(known))]));
  }
  return taken;
}

void EmulatedWarp::jump(std::int32_t at, std::uint64_t address) {
  const auto target = code_->code->at(address);
  fragments_.back().at = target.value_or(at + 1);
  if (fragments_.back().at >= static_cast<std::int32_t>(code_->steps.size())) leave(fragments_.back().lanes);
}

// Each lane goes where its entry of the table says; where that is not known, all go to each place in turn.
void EmulatedWarp::jump_by_table(std::int32_t at) {
  const Instruction& in = *code_->steps[static_cast<std::size_t>(at)].in;
  const std::vector<std::int32_t>& places = code_->tables.places.at(at);
  Lanes where = Lanes::unknown();
  for (std::size_t i = 0; i < in.operands; ++i)
    if (in.operand[i].kind == Kind::reg) where = value_of(*registers_, around_, in.operand[i]);
  const std::uint32_t lanes = fragments_.back().lanes;
  std::map<std::int32_t, std::uint32_t> to;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    const auto known = (where.known >> i & 1) != 0 ? code_->code->at(where.value[i]) : std::nullopt;
    to[known ? *known : -1] |= 1u << i;
  }
  if (const auto unknown = to.find(-1); unknown != to.end()) {
    const auto turn = static_cast<std::size_t>(table_turns_[at]++ % static_cast<std::int64_t>(places.size()));
    to[places[turn]] |= unknown->second;
    to.erase(-1);
  }
  fragments_.pop_back();
  for (const auto& [place, group] : to) fragments_.push_back({place, group, -1});
}

void EmulatedWarp::branch(std::int32_t at, WarpWatcher& watcher) {
  const Step& step = code_->steps[static_cast<std::size_t>(at)];
  const Instruction& in = *step.in;
  const std::uint32_t lanes = fragments_.back().lanes;
  Guard guard = guard_of(*registers_, in, lanes);
  for (std::size_t i = 0; i < in.operands; ++i) {
    if (in.operand[i].kind != Kind::pred && in.operand[i].kind != Kind::upred) continue;
    const Predicate p = predicate_of(*registers_, in.operand[i]);
    guard.unknown = (guard.unknown & (p.bits | ~p.known)) | (guard.holds & ~p.known);
    guard.holds &= p.known & p.bits;
  }
  if (in.has("DIV")) guard = {lanes == alive_ ? 0 : lanes, 0};
  if (in.has("ANY") && guard.holds != 0) guard = {lanes, 0};  // all go where one does
  const std::int32_t target = target_at(*code_, at).value_or(at + 1);
  if (step.passes_what_chance_calls && around_.memory->has_numbers()) guard = {lanes, 0};
  std::uint32_t taken = guard.holds;
  if (guard.unknown != 0 && assumed(at, target, watcher)) taken |= guard.unknown;
  const bool decides = in.guard >= 0 && !in.has("DIV");
  if (decides && guard.unknown == 0) ++known_decisions_;
  const std::uint32_t stays = lanes & ~taken;
  if (taken == 0) {
    fragments_.back().at = at + 1;
  } else if (stays == 0) {
    fragments_.back().at = target;
  } else {
    fragments_.back() = {target, taken, -1};
    fragments_.push_back({at + 1, stays, -1});
  }
}

void EmulatedWarp::leave(std::uint32_t lanes) {
  alive_ &= ~lanes;
  for (Convergence& each : convergence_) each.lanes &= ~lanes;
  fragments_.back().lanes &= ~lanes;
  if (fragments_.back().lanes == 0) fragments_.pop_back();
  choose();
}

// The group that runs next: one that waits for nobody, or all that have met at a barrier. Where none can, those that
// wait longest go on: lanes are missing that another way has taken out of the barrier.
void EmulatedWarp::choose() {
  for (bool merged = true; merged && !fragments_.empty() && fragments_.back().waits_for >= 0;) {
    merged = false;
    const int barrier = fragments_.back().waits_for;
    std::uint32_t there = 0;
    for (const Fragment& each : fragments_)
      if (each.waits_for == barrier) there |= each.lanes;
    const std::uint32_t expected = convergence_[static_cast<std::size_t>(barrier)].lanes;
    const auto ready = std::ranges::find_if(fragments_, [](const Fragment& f) { return f.waits_for < 0; });
    if ((expected & ~there) == 0 || ready == fragments_.end()) {
      const std::int32_t at = fragments_.back().at;
      std::erase_if(fragments_, [&](const Fragment& f) { return f.waits_for == barrier; });
      fragments_.push_back({at, there, -1});
      return;
    }
    std::rotate(ready, ready + 1, fragments_.end());
  }
}

// All groups of the warp meet behind an aligned barrier or WARPSYNC.ALL; those that are elsewhere run first.
bool EmulatedWarp::all_meet(std::int32_t at) {
  std::uint32_t all = 0;
  bool same = true;
  for (const Fragment& each : fragments_) all |= each.lanes, same = same && each.at == at;
  if (same && fragments_.size() > 1) {
    fragments_.clear();
    fragments_.push_back({at, all, -1});
  }
  const auto other = std::ranges::find_if(fragments_, [&](const Fragment& f) { return f.waits_for < 0 && f.at != at; });
  if (other == fragments_.end() || fragments_.size() < 2) return true;
  std::rotate(other, other + 1, fragments_.end());
  return false;
}

void EmulatedWarp::go_on(std::int32_t last, WarpWatcher& watcher) {
  const Step& step = code_->steps[static_cast<std::size_t>(last)];
  const Instruction& in = *step.in;
  const std::uint32_t lanes = fragments_.back().lanes;
  const auto next = [&] {
    fragments_.back().at = last + 1;
    if (last + 1 >= static_cast<std::int32_t>(code_->steps.size())) leave(lanes);
  };
  switch (step.semantics) {
    case S::branch: return branch(last, watcher);
    case S::exit: {
      const Guard guard = guard_of(*registers_, in, lanes);
      std::uint32_t gone = guard.holds;
      if (guard.unknown != 0 && assumed(last, last, watcher)) gone |= guard.unknown;
      fragments_.back().at = last + 1;
      if (gone != 0) return leave(gone);
      return next();
    }
    case S::call: {
      const Guard guard = guard_of(*registers_, in, lanes);
      const Operand* target = target_of(in);
      if (guard.holds == 0) return next();
      const bool by_pointer = code_->tables.places.contains(last);
      if (target == nullptr && !by_pointer) {  // CALL R6: a function that a pointer names, of which none is here
        watcher.assumes(last, false);
        return next();
      }
      if (calls_.size() < 64) calls_.push_back(last + 1);
      return by_pointer ? jump_by_table(last) : jump(last, static_cast<std::uint64_t>(target->value));
    }
    case S::ret:
    case S::branch_indexed: {
      // RET R4 `(kernel) and BRX R4 -0x120: the register holds an address of the section.
      if (code_->tables.places.contains(last)) return jump_by_table(last);
      const Operand* where = nullptr;
      for (std::size_t i = 0; i < in.operands; ++i)
        if (in.operand[i].kind == Kind::reg || in.operand[i].kind == Kind::ureg) where = &in.operand[i];
      const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
      if (where != nullptr) {
        const Lanes v = value_of(*registers_, around_, *where);
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < in.operands; ++i)
          if (in.operand[i].kind == Kind::integer) offset = in.operand[i].value;
        if ((v.known >> lane & 1) != 0) {
          if (!calls_.empty() && step.semantics == S::ret) calls_.pop_back();
          const auto base = step.semantics == S::ret ? 0 : static_cast<std::int64_t>(in.address) + 16;
          const std::int64_t to = step.semantics == S::ret ? std::int64_t{v.value[lane]}
                                                           : static_cast<std::int32_t>(v.value[lane]) + offset + base;
          return jump(last, static_cast<std::uint64_t>(to));
        }
      }
      if (!calls_.empty()) {
        const std::int32_t to = calls_.back();
        calls_.pop_back();
        fragments_.back().at = to;
        return;
      }
      watcher.assumes(last, false);
      return next();
    }
    case S::converge: {
      fragments_.back().at = last + 1;
      if (in.operands > 0 && in.operand[0].kind == Kind::barrier) {
        fragments_.back().waits_for = in.operand[0].index & 15;
        return choose();
      }
      return next();
    }
    case S::barrier:
    case S::cluster_arrive: {
      next();
      const bool waits = step.semantics == S::barrier && !in.has("ARV");
      if ((waits || step.semantics == S::cluster_arrive) && !finished()) at_barrier_ = all_meet(last + 1) && waits;
      return;
    }
    case S::warp_sync:
      next();
      if (in.has("ALL") && !finished()) std::ignore = all_meet(last + 1);
      return;
    case S::cluster_wait:
    default: return next();
  }
}

}  // namespace noteg::compiled
