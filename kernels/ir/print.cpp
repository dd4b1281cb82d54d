#include "kernels/ir/listing.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "kernels/access/wavefronts.hpp"
#include "kernels/assembly/mnemonics.hpp"
#include "kernels/assembly/text.hpp"
#include "sim/support/text.hpp"

namespace noteg::kernels {
namespace {

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
    case OperandKind::special: return std::string(special_name(o.index));
  }
  return "";
}

std::string address_text(const Operand& o) {
  std::string text = "[" + operand_text(o) + (o.count == 2 ? ".64" : "");
  if (o.value > 0) text += "+" + signed_hex(o.value);
  if (o.value < 0) text += signed_hex(o.value);
  return text + "]";
}

void append(std::string& list, const std::string& item) {
  if (item.empty()) return;
  list += (list.empty() ? "" : ", ") + item;
}

// A register that stands for several, where the mnemonic does not say so: R8:2.
std::string operand_with_count(const Instruction& ins, const Operand& o, Place place, std::size_t position) {
  const std::string text = operand_text(o);
  const bool is_register = o.kind == OperandKind::reg || o.kind == OperandKind::ureg;
  if (!is_register || o.index == rz || o.count == registers_of(ins, place, position)) return text;
  const auto end = text.find('.');  // in front of .reuse
  return text.substr(0, end) + fmt::format(":{}", int{o.count}) + (end == std::string::npos ? "" : text.substr(end));
}

std::string destinations_text(const Instruction& ins) {
  std::string list;
  append(list, operand_with_count(ins, ins.dst[0], Place::destination, 0));
  // The second destination of CS2R is the pair's other half, nearly always the next register.
  const bool is_next = ins.op == Opcode::cs2r && ins.dst[1].index == ins.dst[0].index + 1;
  if (!is_next) append(list, operand_text(ins.dst[1]));
  if (writes_predicates_only(ins.op)) append(list, ins.op == Opcode::uisetp ? "UPT" : "PT");
  return list;
}

std::string operands_text(const Program& program, int at) {
  const Instruction& ins = program.code[static_cast<std::size_t>(at)];
  if (ins.op == Opcode::depbar) return fmt::format("SB{}, 0x{:x}", ins.src[0].value, int{ins.depbar_count});
  std::string list = destinations_text(ins);
  if (ins.src[0].kind == OperandKind::none) append(list, std::string(implied_source(ins.op)));
  for (std::size_t i = 0; i < ins.src.size(); ++i) {
    const bool is_address = i < address_operands(ins.op) && ins.src[i].kind != OperandKind::none;
    append(list, is_address ? address_text(ins.src[i]) : operand_with_count(ins, ins.src[i], Place::source, i));
  }
  if (ins.loop >= 0) {
    const Loop& loop = program.loops[static_cast<std::size_t>(ins.loop)];
    const bool guards = is_guard(ins, static_cast<std::int32_t>(at), program.loops);
    append(list, fmt::format("0x{:x}", (guards ? loop.branch + 1 : loop.begin) * instruction_bytes));
  } else if (ins.op == Opcode::bra)
    append(list, ins.taken ? fmt::format("0x{:x}", (at + 1) * instruction_bytes) : "`(not_taken)");
  return list;
}

}  // namespace

std::string to_text(const Program& program, int at) {
  const Instruction& ins = program.code[static_cast<std::size_t>(at)];
  std::string text = control_text(ins.control) + " ";
  if (ins.guard.kind != OperandKind::none) text += "@" + operand_text(ins.guard) + " ";
  text += std::string(opcode_info(ins.op).mnemonic) + ins.modifiers;
  if (ins.op == Opcode::cs2r && ins.dst[1].kind == OperandKind::none) text += ".32";
  const std::string operands = operands_text(program, at);
  return operands.empty() ? text : text + " " + operands;
}

// Directives around the instructions of a Program.

namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}

  std::string text() {
    header();
    for (int at = 0; at < static_cast<int>(p_.code.size()); ++at) {
      marks(at);
      accesses(p_.code[static_cast<std::size_t>(at)]);
      iterations(p_.code[static_cast<std::size_t>(at)], at);
      line("{} ; /*{:04x}*/", to_text(p_, at), at * instruction_bytes);
    }
    return std::move(text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
    text_ += '\n';
  }

  void header() {
    if (!p_.name.empty()) line(".kernel {}", p_.name);
    line(".warps {}", p_.warps);
    if (p_.threads != p_.warps * 32) line(".threads {}", p_.threads);
    if (p_.registers > 0) line(".registers {}", p_.registers);
    if (p_.shared_bytes > 0) line(".shared {}", p_.shared_bytes);
    if (p_.k_per_iteration > 0) line(".k {}", p_.k_per_iteration);
    if (p_.stages != 1) line(".stages {}", p_.stages);
    if (p_.prologue_tiles > 0 || p_.peeled_tiles > 0)
      line(".tiles prologue={} peeled={}", p_.prologue_tiles, p_.peeled_tiles);
    if (p_.a_bytes_per_iteration > 0 || p_.b_bytes_per_iteration > 0)
      line(".traffic a={} b={}", format_number(p_.a_bytes_per_iteration), format_number(p_.b_bytes_per_iteration));
  }

  void marks(int at) {
    for (const Role& role : p_.roles) {
      if (role.begin != at) continue;
      line(".role {} warps={}-{}{}", role.name, role.first_warp, role.first_warp + role.warps - 1,
           role.registers > 0 ? fmt::format(" registers={}", role.registers) : "");
    }
    if (at == p_.mainloop_begin) line(".mainloop");
    if (at == p_.epilogue_begin) line(".epilogue");
    for (const Loop& loop : p_.loops) {
      if (loop.begin == at && !loop.is_main)
        line("# {} iterations up to {:04x}", loop.iterations, loop.branch * instruction_bytes);
    }
  }

  // .access lines where a base register does not yet stand for the pattern that the instruction has.
  void accesses(const Instruction& in) {
    if (in.pattern < 0 || address_operands(in.op) == 0) return;
    const AccessPattern& pattern = p_.patterns[static_cast<std::size_t>(in.pattern)];
    if (in.op == Opcode::ldgsts) {
      access(in.src[0], Space::shared, pattern, pattern.shared_offset, "");
      access(in.src[1], Space::global, pattern, pattern.offset, matrix(pattern.matrix));
    } else {
      access(in.src[0], space_of(in.op), pattern, pattern.offset, matrix(pattern.matrix));
    }
  }

  void access(const Operand& base, Space space, const AccessPattern& pattern,
              const std::array<std::uint32_t, 32>& offset, std::string_view matrix) {
    const std::string name =
        (base.kind == OperandKind::ureg ? "UR" : "R") + (base.index == rz ? "Z" : std::to_string(base.index));
    std::string meaning = fmt::format("{} {} {}{}", space == Space::shared ? "shared" : "global",
                                      int{pattern.bytes_per_lane}, lane_form(offset), matrix);
    if (pattern.active_mask != 0xffffffffu) meaning += fmt::format(" mask=0x{:x}", pattern.active_mask);
    std::string& known = access_[name];
    if (known == meaning) return;
    line(".access {} {}", name, meaning);
    known = std::move(meaning);
  }

  static std::string_view matrix(Matrix m) {
    switch (m) {
      case Matrix::none: return "";
      case Matrix::a: return " matrix=a";
      case Matrix::b: return " matrix=b";
      case Matrix::c: return " matrix=c";
    }
    return "";
  }

  void iterations(const Instruction& in, std::int32_t at) {
    if (in.loop < 0 || is_guard(in, at, p_.loops)) return;
    const Loop& loop = p_.loops[static_cast<std::size_t>(in.loop)];
    if (loop.is_main)
      line(".iterations main");
    else
      line(".iterations {}", loop.iterations);
  }

  const Program& p_;
  std::string text_;
  std::map<std::string, std::string> access_;
};

}  // namespace

std::string to_text(const Program& program) { return Printer(program).text(); }

}  // namespace noteg::kernels
