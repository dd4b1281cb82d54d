// Instruction lines.
#include <fmt/format.h>

#include "kernels/assembly/mnemonics.hpp"
#include "kernels/assembly/state.hpp"
#include "kernels/assembly/text.hpp"

namespace noteg::kernels {
namespace {

using Parts = std::vector<std::string_view>;

bool is_predicate(const Operand& o) { return o.kind == OperandKind::pred || o.kind == OperandKind::upred; }
bool looks_like_predicate(std::string_view text) { return text.starts_with("P") || text.starts_with("UP"); }
bool is_register(const Operand& o) { return o.kind == OperandKind::reg || o.kind == OperandKind::ureg; }

// Predicates in front of the destination register (LOP3.LUT P0, RZ, ...) or behind it (IADD3 R4, P3, R10, ...).
// The first that is not PT is kept: one is what code meets.
std::size_t read_destinations(AssemblyState& state, Instruction& in, const Parts& parts) {
  std::size_t next = 0;
  const auto keep = [&](const Operand& predicate) {
    if (in.dst[1].kind == OperandKind::none && predicate.index != rz) in.dst[1] = predicate;
  };
  const bool predicates_only = writes_predicates_only(in.op);
  const std::size_t most_predicates = predicates_only ? 2 : parts.size();
  for (; next < std::min(parts.size(), most_predicates); ++next) {
    if (!looks_like_predicate(parts[next])) break;
    const auto operand = read_operand(parts[next], state.mistakes);
    if (!operand || !is_predicate(*operand)) break;
    keep(*operand);
  }
  if (predicates_only) {
    // A comparison that writes only PT still has a destination.
    if (in.dst[1].kind == OperandKind::none && next > 0)
      in.dst[1].kind = in.op == Opcode::uisetp ? OperandKind::upred : OperandKind::pred;
    // VOTE writes a register too.
    if (next > 0 || parts.empty()) return next;
  }
  if (next >= parts.size()) return next;
  if (is_address(parts[next])) {
    state.mistakes.add(parts[next], "a destination register");
    return next + 1;
  }
  if (const auto operand = read_operand(parts[next], state.mistakes)) in.dst[0] = *operand;
  ++next;
  if (in.op == Opcode::cs2r) {
    const auto second = next < parts.size() ? read_operand(parts[next], state.mistakes) : std::nullopt;
    if (second && is_register(*second)) {
      in.dst[1] = *second;
      return next + 1;
    }
    if (in.modifiers == ".32") {
      in.modifiers.clear();
    } else if (in.dst[0].index != rz) {
      in.dst[1] = in.dst[0];
      ++in.dst[1].index;
    }
    return next;
  }
  for (; next < parts.size(); ++next) {
    if (!looks_like_predicate(parts[next])) break;
    const auto operand = read_operand(parts[next], state.mistakes);
    if (!operand || !is_predicate(*operand)) break;
    keep(*operand);
  }
  return next;
}

void read_sources(AssemblyState& state, Instruction& in, const Parts& parts, std::size_t next) {
  Parts bases;
  std::size_t position = 0;
  for (; next < parts.size() && position < in.src.size(); ++next) {
    const std::string_view part = parts[next];
    if (is_address(part)) {
      const auto address = read_address(part, state.mistakes);
      if (!address) return;
      bases.push_back(address->base);
      in.src[position++] = address->operand;
      continue;
    }
    if (part == implied_source(in.op)) continue;
    const auto operand = read_operand(part, state.mistakes);
    if (!operand) return;
    if (operand->kind != OperandKind::none) in.src[position++] = *operand;
    // c[0x0][R4]: the register of a constant's address is an operand of its own.
    const auto index = part.find("][R");
    if (operand->kind != OperandKind::constant || index == std::string_view::npos || position >= in.src.size())
      continue;
    const std::string_view name = part.substr(index + 2);
    const auto base = read_operand(name.substr(0, name.find_first_of("+-]")), state.mistakes);
    if (base) in.src[position++] = *base;
  }
  if (bases.size() < address_operands(in.op)) {
    state.mistakes.add(parts.empty() ? state.mistakes.line() : parts.back(),
                       address_operands(in.op) == 1 ? "an address like [R8+0x10]"
                                                    : "two addresses, shared then global: [R4], [R8.64]");
    return;
  }
  if (address_operands(in.op) > 0) attach_pattern(state, in, bases);
}

void read_branch(AssemblyState& state, const Parts& parts, std::string_view mnemonic) {
  if (parts.empty()) return state.mistakes.add(mnemonic, "a branch target after BRA", "nothing");
  state.branches.push_back({state.here(), parts.back(), state.mistakes.line(), state.mistakes.line_number(),
                            state.iterations, state.iterations_are_main});
}

// DEPBAR.LE SB0, 0x1: proceed when at most one commit, or one count of SB0, is open.
void read_depbar(AssemblyState& state, Instruction& in, const Parts& parts) {
  if (parts.empty() || !parts.front().starts_with("SB") || !whole_number(parts.front().substr(2)))
    return state.mistakes.add(parts.empty() ? state.mistakes.line() : parts.front(), "DEPBAR SBn, COUNT");
  const auto count = parts.size() > 1 ? whole_number(parts[1]) : std::optional<std::int64_t>(0);
  if (!count || *count < 0 || *count > 63) return state.mistakes.add(parts[1], "a count from 0 to 63");
  for (std::size_t i : {0U, 1U}) in.src[i].kind = OperandKind::immediate;
  in.src[0].value = static_cast<std::int32_t>(*whole_number(parts.front().substr(2)));
  in.src[1].value = static_cast<std::int32_t>(*count);
  in.depbar_count = static_cast<std::int16_t>(*count);
}

// Registers per operand, where the operand itself did not say.
void set_counts(Instruction& in) {
  const auto set = [&](Operand& o, Place place, std::size_t position) {
    if (o.count == 0) o.count = static_cast<std::uint8_t>(o.index == rz ? 1 : registers_of(in, place, position));
  };
  for (std::size_t i = 0; i < in.dst.size(); ++i) set(in.dst[i], Place::destination, i);
  for (std::size_t i = 0; i < in.src.size(); ++i) set(in.src[i], Place::source, i);
}

}  // namespace

void read_instruction(AssemblyState& state, std::string_view text) {
  Instruction in;
  if (text.front() == '[') {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return state.mistakes.add(text, "] after the control bits");
    const auto control = read_control(text.substr(1, close - 1), state.mistakes);
    if (!control) return;
    in.control = *control;
    text = trimmed(text.substr(close + 1));
  }
  if (text.starts_with("@")) {
    const std::string_view guard = take_word(text).substr(1);
    const auto operand = read_operand(guard, state.mistakes);
    if (!operand) return;
    if (!is_predicate(*operand)) return state.mistakes.add(guard, "a predicate as guard, like @P0 or @!P0");
    in.guard = *operand;
  }
  const std::string_view mnemonic = take_word(text);
  const auto known = read_mnemonic(mnemonic);
  if (!known) return state.mistakes.add(mnemonic, "a known opcode");
  in.op = known->op;
  in.modifiers = known->modifiers;
  const Parts parts = split_operands(text);
  switch (in.op) {
    case Opcode::bra: read_branch(state, parts, mnemonic); break;
    case Opcode::depbar: read_depbar(state, in, parts); break;
    case Opcode::bssy:
    case Opcode::bsync:
    case Opcode::warpsync:
    case Opcode::nop:
    case Opcode::exit: break;  // operands of these move nothing
    default: read_sources(state, in, parts, has_no_destination(in.op) ? 0 : read_destinations(state, in, parts));
  }
  set_counts(in);
  state.program.code.push_back(std::move(in));
}

}  // namespace noteg::kernels
