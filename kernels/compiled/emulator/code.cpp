#include "kernels/compiled/emulator/code.hpp"

#include <algorithm>

#include "kernels/ir/tensor_form.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

bool is_predicate(const Operand& o) { return o.kind == Kind::pred || o.kind == Kind::upred; }
bool is_register(const Operand& o) { return o.kind == Kind::reg || o.kind == Kind::ureg; }

// Leading operands that an instruction writes. Behind the register come the predicates that carry out of it.
std::uint8_t destinations_of(const Instruction& in, Semantics semantics) {
  switch (semantics) {
    case S::nothing:
    case S::store_shared:
    case S::store_global:
    case S::store_local:
    case S::copy_to_shared:
    case S::store_matrix:
    case S::branch:
    case S::branch_indexed:
    case S::exit:
    case S::push_convergence:
    case S::converge:
    case S::leave_convergence:
    case S::call:
    case S::ret:
    case S::barrier:
    case S::warp_sync: return 0;
    case S::isetp:
    case S::fsetp:
    case S::double_compare:
    case S::plop3: return 2;
    case S::check_division: return 1;
    default: break;
  }
  std::uint8_t n = 0;
  if (n < in.operands && is_predicate(in.operand[n])) ++n;  // LOP3 P0, R1; SHFL P0, R1; VOTE P0
  if (semantics == S::vote) return std::max<std::uint8_t>(1, in.operands > 0 ? in.operands - 1 : 0);
  if (n < in.operands && is_register(in.operand[n])) ++n;
  const bool is_minmax = semantics == S::minmax || semantics == S::add_minmax;  // sm_100: VIMNMX R4, PT, PT, R0, ...
  if (semantics == S::iadd || semantics == S::imad || semantics == S::lea || is_minmax) {
    while (n + 2 < in.operands && is_predicate(in.operand[n])) ++n;
  }
  if (semantics == S::barrier_result && n < in.operands && is_predicate(in.operand[n])) ++n;
  if (semantics == S::predicates_from_register || semantics == S::move_convergence || semantics == S::elect)
    n = std::max<std::uint8_t>(n, 1);
  return std::min(n, in.operands);
}

// Of the types of a conversion the first is that of its result: F2F.F32.F64 has one register.
bool makes_double(const Instruction& in) {
  return in.modifiers.find(".F64") < std::min(in.modifiers.find(".F32"), in.modifiers.find("F16"));
}

// As much as the stack pointer R1 is moved down by at most.
std::int64_t frame_of(const Code& code) {
  std::int64_t most = 0;
  const auto is_pointer = [](const Operand& o) { return o.kind == Kind::reg && o.index == 1; };
  for (const Instruction& in : code.instructions)
    if (is_pointer(in.operand[0]) && is_pointer(in.operand[1]) && in.operand[2].kind == Kind::integer)
      most = std::max<std::int64_t>(most, -static_cast<std::int32_t>(in.operand[2].value));
  return most;
}

std::uint8_t width_of(const Instruction& in, Semantics semantics) {
  if (const auto form = kernels::tensor_form_from(timed_as(in), in.modifiers))
    return static_cast<std::uint8_t>(kernels::registers_of(*form).c);
  if (in.base.ends_with("GMMA")) return 128;
  if (in.base == "LDSM" || in.base == "LDTM") return in.has("4") ? 4 : in.has("2") ? 2 : 1;
  switch (semantics) {
    case S::load_shared:
    case S::load_global:
    case S::load_local:
    case S::load_constant:
    case S::load_indexed: return in.has("128") ? 4 : in.has("64") ? 2 : 1;
    case S::zero_or_clock: return in.has("32") ? 1 : in.has("128") ? 4 : 2;
    case S::imad: return in.has("WIDE") ? 2 : 1;
    case S::float_to_int: return in.has("U64") || in.has("S64") ? 2 : 1;
    case S::double_arithmetic: return 2;
    case S::int_to_float:
    case S::convert_number: return makes_double(in) ? 2 : 1;
    case S::opaque:
      return in.base.ends_with("MMA") || in.base.starts_with("T") ? 4
             : in.base.starts_with("D") || in.has("64") || in.has("F64") || in.base == "FADD2" || in.base == "FFMA2" ||
                     in.base == "FMUL2"
                 ? 2
                 : 1;
    case S::number_round: return in.has("F64") ? 2 : 1;
    case S::iadd:
    case S::mov: return in.has("64") ? 2 : 1;
    default: return 1;
  }
}

bool ends_block(Semantics s) {
  return s == S::branch || s == S::branch_indexed || s == S::exit || s == S::call || s == S::ret || s == S::converge ||
         s == S::barrier || s == S::cluster_arrive || s == S::cluster_wait || s == S::warp_sync;
}

Step step_of(const Instruction& in) {
  const OpcodeRow* row = find_opcode(in.base);
  Step out;
  out.in = &in;
  out.semantics = row != nullptr ? row->semantics : unknown_opcode().semantics;
  if (in.base == "LDC" && in.operands > 1 && in.operand[1].kind == Kind::constant && in.operand[1].descriptor >= 0)
    out.semantics = S::load_indexed;
  out.bytes = static_cast<std::uint8_t>(access_bytes(in));
  out.destinations = destinations_of(in, out.semantics);
  out.width = width_of(in, out.semantics);
  out.uniform = in.operands > 0 && out.destinations > 0 &&
                std::any_of(in.operand.begin(), in.operand.begin() + out.destinations,
                            [](const Operand& o) { return o.kind == Kind::ureg || o.kind == Kind::upred; });
  return out;
}

}  // namespace

bool has_addresses(Semantics s) {
  return s == S::load_shared || s == S::load_global || s == S::load_local || s == S::store_shared ||
         s == S::store_global || s == S::store_local || s == S::copy_to_shared || s == S::load_matrix ||
         s == S::store_matrix || s == S::atomic_shared || s == S::atomic_global || s == S::load_indexed;
}

bool asks_global(Semantics s) {
  return s == S::load_global || is_store(s) || s == S::copy_to_shared || s == S::atomic_global;
}

std::vector<std::vector<std::int32_t>> successors_of(const EmulatedCode& code) {
  std::vector<std::vector<std::int32_t>> out(code.blocks.size());
  const auto block_at = [&](std::uint64_t address) -> std::int32_t {
    const auto at = code.code->at(address);
    return at ? code.block_of[static_cast<std::size_t>(*at)] : -1;
  };
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    const Step& last = code.steps[static_cast<std::size_t>(code.blocks[b].end - 1)];
    const Instruction& in = *last.in;
    const bool jumps = last.semantics == S::branch || last.semantics == S::call;
    for (std::size_t i = 0; jumps && i < in.operands; ++i) {
      if (in.operand[i].kind != Kind::label && in.operand[i].kind != Kind::integer) continue;
      if (const std::int32_t to = block_at(static_cast<std::uint64_t>(in.operand[i].value)); to >= 0)
        out[b].push_back(to);
    }
    if (last.semantics == S::branch_indexed || last.semantics == S::ret) {
      for (std::size_t all = 0; all < code.blocks.size(); ++all) out[b].push_back(static_cast<std::int32_t>(all));
    } else if (b + 1 < code.blocks.size()) {
      out[b].push_back(static_cast<std::int32_t>(b) + 1);
    }
  }
  return out;
}

RegisterSet written(const Step& step) {
  RegisterSet out;
  for (std::size_t i = 0; i < step.destinations; ++i) out.add(step.in->operand[i], step.width);
  if (step.semantics == S::predicates_from_register) {  // R2P PR, R0, mask
    const Operand& mask = step.in->operand[2];
    const bool is_known = step.in->operands > 2 && mask.kind == Kind::integer;
    out.word[step.in->base == "R2P" ? 8 : 9] |= is_known ? static_cast<std::uint64_t>(mask.value) & 0x7f : 0x7f;
  }
  return out;
}

RegisterSet read(const Step& step) {
  RegisterSet out;
  const Instruction& in = *step.in;
  // 64-bit sources stand as one register: their pair is taken along. Data of a store decides nothing.
  const bool is_wide = in.has("64") || in.has("U64") || in.has("S64") || in.has("F64") || in.base.starts_with("D");
  const bool all_pairs = step.semantics != S::shift && is_wide;
  const bool adds_pair = step.semantics == S::imad && (in.has("WIDE") || in.has("HI"));
  const bool only_address =
      has_addresses(step.semantics) && step.semantics != S::store_local && step.semantics != S::load_indexed;
  for (std::size_t i = step.destinations; i < in.operands; ++i) {
    if (is_bulk(step.semantics) && in.operand[i].kind == Kind::memory) {
      // Addresses, barrier and coordinates stand in registers that follow each other.
      Operand first = in.operand[i];
      first.kind = Kind::ureg;
      first.index = first.uniform;
      if (first.index >= 0) out.add(first, 7);
      continue;
    }
    if (step.data_matters) {
      out.add(in.operand[i], std::max(1, step.bytes / 4));
      continue;
    }
    if (only_address && in.operand[i].kind != Kind::memory && !is_predicate(in.operand[i])) continue;
    out.add(in.operand[i], all_pairs || (adds_pair && i == step.destinations + 2U) ? 2 : 1);
  }
  if (step.semantics == S::register_from_predicates) out.word[in.base == "P2R" ? 8 : 9] |= 0x7f;
  if (in.guard >= 0) {
    Operand guard;
    guard.kind = in.guard_uniform ? Kind::upred : Kind::pred;
    guard.index = in.guard;
    out.add(guard, 1);
  }
  return out;
}

bool is_counter(const Step& step) {
  const Instruction& in = *step.in;
  if (step.semantics != S::atomic_global || step.polls || !in.has("ADD") || in.has("64") ||
      in.modifiers.find(".F") != in.modifiers.npos)
    return false;
  return std::any_of(in.operand.begin(), in.operand.begin() + step.destinations,
                     [](const Operand& o) { return o.kind == Kind::reg && o.index != zero_register; });
}

const Operand* memory_operand(const Instruction& in, std::size_t which) {
  for (std::size_t i = 0; i < in.operands; ++i)
    if (in.operand[i].kind == Kind::memory && which-- == 0) return &in.operand[i];
  return nullptr;
}

const Operand* target_of(const Instruction& in) {
  for (std::size_t i = in.operands; i-- > 0;)
    if (in.operand[i].kind == Kind::label || in.operand[i].kind == Kind::integer) return &in.operand[i];
  return nullptr;
}

std::optional<std::int32_t> target_at(const EmulatedCode& code, std::int32_t at) {
  const Operand* target = target_of(*code.steps[static_cast<std::size_t>(at)].in);
  return target != nullptr ? code.code->at(static_cast<std::uint64_t>(target->value)) : std::nullopt;
}

bool is_coherent_beyond_sm(const Step& step) {
  return step.semantics == S::atomic_global || (step.in->has("STRONG") && !step.in->has("SM"));
}

// The loop that the branch closes, if it polls.
std::optional<Poll> poll_of(const EmulatedCode& code, std::int32_t branch) {
  const std::optional<std::int32_t> begin = target_at(code, branch);
  if (!begin || *begin > branch) return std::nullopt;
  RegisterSet seen, changed;
  bool looks = false;
  for (std::int32_t at = *begin; at < branch; ++at) {
    const Step& step = code.steps[static_cast<std::size_t>(at)];
    const bool sees_others =
        (step.semantics == S::atomic_global || step.semantics == S::load_global) && is_coherent_beyond_sm(step);
    if (has_addresses(step.semantics) && !sees_others) return std::nullopt;
    if (sees_others) seen.merge(written(step));
    changed.merge(written(step));
    looks = looks || sees_others;
  }
  if (!looks) return std::nullopt;
  Poll out;
  const auto in = [](const RegisterSet& set, const Operand& o) {
    RegisterSet one;
    one.add(o, 1);
    return one.meets(set);
  };
  for (std::int32_t at = *begin; at < branch; ++at) {
    const Instruction& compare = *code.steps[static_cast<std::size_t>(at)].in;
    if (compare.base != "ISETP" || compare.operands < 4) continue;
    const Operand &a = compare.operand[2], &b = compare.operand[3];
    if (in(seen, a) != in(seen, b) && !in(changed, in(seen, a) ? b : a)) out.until = in(seen, a) ? &b : &a;
  }
  return out;
}

// Who asks where shared memory lies among generic addresses goes there by them: to the CTA's own, or to a peer's.
void go_by_window(std::vector<Step>& steps) {
  const auto asks = [](const Step& step) {
    return std::ranges::any_of(step.in->operand, [](const Operand& o) {
      return o.kind == Kind::special && o.index == static_cast<std::int16_t>(Special::shared_window);
    });
  };
  if (std::ranges::none_of(steps, asks)) return;
  for (Step& step : steps) {
    const std::string_view base = step.in->base;
    step.by_window = base == "LD" || base == "ST" || base == "ATOM" || base == "RED";
    if (step.by_window)
      step.semantics = base == "LD" ? S::load_shared : base == "ST" ? S::store_shared : S::atomic_shared;
  }
}

EmulatedCode prepare(const Listing& listing, const Code& code, Wanted wanted) {
  EmulatedCode out;
  out.listing = &listing;
  out.code = &code;
  const std::size_t n = code.instructions.size();
  std::vector<char> leads(n + 1, 0);
  leads[0] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const Instruction& in = code.instructions[i];
    out.steps.push_back(step_of(in));
    if (ends_block(out.steps.back().semantics)) leads[i + 1] = 1;
    for (std::size_t o = 0; o < in.operands; ++o) {
      const Operand& operand = in.operand[o];
      const bool target = operand.kind == Kind::label || (operand.kind == Kind::integer &&
                                                          (in.base == "BRA" || in.base == "BSSY" || in.base == "CALL"));
      if (const auto at = target ? code.at(static_cast<std::uint64_t>(operand.value)) : std::nullopt)
        leads[static_cast<std::size_t>(*at)] = 1;
      if (operand.kind == Kind::reg && operand.index != zero_register)
        out.registers =
            std::max(out.registers, operand.index + (o < out.steps.back().destinations ? out.steps.back().width
                                                     : operand.wide                    ? 2
                                                                                       : 1));
      if (operand.kind == Kind::memory && operand.index != zero_register)
        out.registers = std::max(out.registers, operand.index + (operand.wide ? 2 : 1));
    }
  }
  go_by_window(out.steps);
  out.frame = frame_of(code);
  for (std::size_t i = 0; i < n; ++i) {
    if (leads[i] != 0) out.blocks.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), {}});
    out.blocks.back().end = static_cast<std::int32_t>(i) + 1;
    out.block_of.push_back(static_cast<std::int32_t>(out.blocks.size()) - 1);
  }
  out.tables = jump_tables(out);
  for (std::size_t i = 0; i < n; ++i)
    if (out.steps[i].semantics == S::branch && out.steps[i].in->guard >= 0)
      if (const auto poll = poll_of(out, static_cast<std::int32_t>(i))) {
        out.polls[static_cast<std::int32_t>(i)] = *poll;
        for (auto at = static_cast<std::size_t>(*target_at(out, static_cast<std::int32_t>(i))); at < i; ++at)
          out.steps[at].polls = has_addresses(out.steps[at].semantics);
      }
  slice(out, wanted);
  RegisterSet live;
  for (const Step& step : out.steps)
    if (step.carried_out && step.changes_registers()) live.merge(written(step));
  for (int r = 0; r < zero_register; ++r) {
    const std::size_t word = static_cast<std::size_t>(r) / 64;
    if ((live.word[word] >> (r % 64) & 1) != 0) out.live.push_back(static_cast<std::int16_t>(r));
    if ((live.word[4 + word] >> (r % 64) & 1) != 0) out.live_uniform.push_back(static_cast<std::int16_t>(r));
  }
  for (std::size_t i = 0; i < n; ++i)
    if (out.steps[i].carried_out)
      out.blocks[static_cast<std::size_t>(out.block_of[i])].steps.push_back(static_cast<std::int32_t>(i));
  return out;
}

}  // namespace noteg::compiled
