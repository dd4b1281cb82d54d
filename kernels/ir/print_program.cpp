// Directives around the instructions of a Program.
#include <fmt/format.h>

#include <iterator>
#include <map>

#include "kernels/access/lane_form.hpp"
#include "kernels/assembly/mnemonics.hpp"
#include "kernels/ir/print.hpp"
#include "sim/support/number_text.hpp"

namespace noteg::kernels {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}

  std::string text() {
    header();
    for (int at = 0; at < static_cast<int>(p_.code.size()); ++at) {
      marks(at);
      accesses(p_.code[static_cast<std::size_t>(at)]);
      trips(p_.code[static_cast<std::size_t>(at)]);
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
    if (p_.k_per_trip > 0) line(".k {}", p_.k_per_trip);
    if (p_.stages != 1) line(".stages {}", p_.stages);
    if (p_.prologue_tiles > 0 || p_.peeled_tiles > 0)
      line(".tiles prologue={} peeled={}", p_.prologue_tiles, p_.peeled_tiles);
    if (p_.a_bytes_per_trip > 0 || p_.b_bytes_per_trip > 0)
      line(".traffic a={} b={}", format_number(p_.a_bytes_per_trip), format_number(p_.b_bytes_per_trip));
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
        line("# {} trips up to {:04x}", loop.trips, loop.branch * instruction_bytes);
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

  void trips(const Instruction& in) {
    if (in.loop < 0) return;
    const Loop& loop = p_.loops[static_cast<std::size_t>(in.loop)];
    if (loop.is_main)
      line(".trips main");
    else
      line(".trips {}", loop.trips);
  }

  const Program& p_;
  std::string text_;
  std::map<std::string, std::string> access_;
};

}  // namespace

std::string to_text(const Program& program) { return Printer(program).text(); }

}  // namespace noteg::kernels
