#include "kernels/print.hpp"

#include <fmt/format.h>

#include <iterator>

namespace noteg::kernels {
namespace {

constexpr int instruction_bytes = 16;

std::string control_text(const Control& c) {
  std::string wait;
  for (int i = 0; i < 6; ++i) wait += (c.wait_mask >> i & 1) != 0 ? static_cast<char>('0' + i) : '-';
  const auto counter = [](int n) { return n < 0 ? '-' : static_cast<char>('0' + n); };
  return fmt::format("[B{}:R{}:W{}:{}:S{:02}]", wait, counter(c.read_barrier), counter(c.write_barrier),
                     c.yield ? 'Y' : '-', int{c.stall});
}

std::string numbered(std::string_view file, const Operand& o, std::string_view zero) {
  return o.index == rz ? std::string(zero) : fmt::format("{}{}", file, o.index);
}

std::string signed_hex(std::int32_t value) {
  return value < 0 ? fmt::format("-0x{:x}", -static_cast<std::int64_t>(value)) : fmt::format("0x{:x}", value);
}

std::string operand_text(const Operand& o) {
  const std::string reuse = o.reuse ? ".reuse" : "";
  switch (o.kind) {
    case OperandKind::none: return "";
    case OperandKind::reg: return (o.negated ? "-" : "") + numbered("R", o, "RZ") + reuse;
    case OperandKind::ureg: return (o.negated ? "-" : "") + numbered("UR", o, "URZ");
    case OperandKind::pred: return (o.negated ? "!" : "") + numbered("P", o, "PT");
    case OperandKind::upred: return (o.negated ? "!" : "") + numbered("UP", o, "UPT");
    case OperandKind::immediate: return signed_hex(o.value);
    case OperandKind::constant: return fmt::format("c[0x{:x}][0x{:x}]", int{o.index}, o.value);
    case OperandKind::special: return "SRZ";
  }
  return "";
}

std::string address_text(const Operand& o) {
  std::string text = "[" + operand_text(o) + (o.count == 2 ? ".64" : "");
  if (o.value > 0) text += "+" + signed_hex(o.value);
  if (o.value < 0) text += signed_hex(o.value);
  return text + "]";
}

// How many leading sources are addresses.
std::size_t address_operands(Opcode op) {
  switch (op) {
    case Opcode::lds:
    case Opcode::ldsm:
    case Opcode::sts:
    case Opcode::ldg:
    case Opcode::stg:
    case Opcode::red: return 1;
    case Opcode::ldgsts: return 2;
    default: return 0;
  }
}

void append(std::string& list, const std::string& item) {
  if (item.empty()) return;
  list += (list.empty() ? "" : ", ") + item;
}

// Operands that our IR leaves out because they carry nothing for timing.
void append_implied(std::string& list, const Instruction& ins) {
  switch (ins.op) {
    case Opcode::cs2r: append(list, "SRZ"); break;
    case Opcode::s2r: append(list, "SR_TID.X"); break;
    case Opcode::s2ur: append(list, "SR_CTAID.X"); break;
    default: break;
  }
}

std::string operands_text(const Program& program, const Instruction& ins) {
  std::string list;
  const bool is_pair = ins.op == Opcode::cs2r;  // the second destination is the pair's other half
  append(list, operand_text(ins.dst[0]));
  if (!is_pair) append(list, operand_text(ins.dst[1]));
  if (ins.op == Opcode::isetp || ins.op == Opcode::uisetp) append(list, ins.op == Opcode::isetp ? "PT" : "UPT");
  append_implied(list, ins);
  for (std::size_t i = 0; i < ins.src.size(); ++i) {
    const bool is_address = i < address_operands(ins.op) && ins.src[i].kind != OperandKind::none;
    append(list, is_address ? address_text(ins.src[i]) : operand_text(ins.src[i]));
  }
  if (ins.loop >= 0)
    append(list, fmt::format("0x{:x}", program.loops[static_cast<std::size_t>(ins.loop)].begin * instruction_bytes));
  else if (ins.op == Opcode::bra)
    append(list, "`(not_taken)");
  if (ins.op == Opcode::depbar) list = fmt::format("SB0, 0x{:x}", int{ins.depbar_count});
  return list;
}

void append_marks(std::string& text, const Program& program, int at) {
  auto out = std::back_inserter(text);
  if (at == 0 && program.mainloop_begin > 0) fmt::format_to(out, "# prologue\n");
  if (at == program.mainloop_begin) fmt::format_to(out, "# main loop, {} of K a trip\n", program.k_per_trip);
  if (at == program.epilogue_begin) fmt::format_to(out, "# epilogue\n");
  for (const Loop& loop : program.loops) {
    if (loop.begin == at && !loop.is_main) fmt::format_to(out, "# loop, {} trips\n", loop.trips);
  }
}

}  // namespace

std::string to_text(const Program& program, int at) {
  const Instruction& ins = program.code[static_cast<std::size_t>(at)];
  std::string text = control_text(ins.control) + " ";
  if (ins.guard.kind != OperandKind::none) text += "@" + operand_text(ins.guard) + " ";
  text += std::string(opcode_info(ins.op).mnemonic) + ins.modifiers;
  const std::string operands = operands_text(program, ins);
  return operands.empty() ? text : text + " " + operands;
}

std::string to_text(const Program& program) {
  std::string text;
  for (int at = 0; at < static_cast<int>(program.code.size()); ++at) {
    append_marks(text, program, at);
    fmt::format_to(std::back_inserter(text), "{} ; /*{:04x}*/\n", to_text(program, at), at * instruction_bytes);
  }
  return text;
}

}  // namespace noteg::kernels
