#include "kernels/assembly/text.hpp"

#include <array>
#include <bit>

#include "sim/support/text.hpp"

namespace noteg::kernels {

namespace {

constexpr std::array<std::string_view, 22> special_names = {
    "SRZ",          "SR_TID.X",    "SR_TID.Y",    "SR_TID.Z",    "SR_CTAID.X",  "SR_CTAID.Y", "SR_CTAID.Z", "SR_NTID.X",
    "SR_LANEID",    "SR_WARPID",   "SR_CgaCtaId", "SR_CLOCKLO",  "SR_CLOCKHI",  "SR_SMEMSZ",  "SR_LTMASK",  "SR_EQMASK",
    "SR_VIRTUALID", "SR_REGALLOC", "SR_NCTAID.X", "SR_NCTAID.Y", "SR_NCTAID.Z", "PR"};

constexpr std::string_view operand_kinds = "a register, predicate, constant, special register or number";

bool numbered(std::string_view head, std::string_view file, std::string_view zero, OperandKind kind, int count,
              Operand& out) {
  if (head == zero) {
    out.kind = kind;
    out.index = rz;
    return true;
  }
  if (!head.starts_with(file)) return false;
  const auto index = whole_number(head.substr(file.size()));
  if (!index || *index < 0 || *index >= count) return false;
  out.kind = kind;
  out.index = static_cast<std::int16_t>(*index);
  return true;
}

bool register_or_predicate(std::string_view head, Operand& out) {
  return numbered(head, "UR", "URZ", OperandKind::ureg, 63, out) ||
         numbered(head, "UP", "UPT", OperandKind::upred, 7, out) ||
         numbered(head, "R", "RZ", OperandKind::reg, 255, out) || numbered(head, "P", "PT", OperandKind::pred, 7, out);
}

// c[bank][offset]; what is indexed by a register (cx[UR4][0x10]) keeps bank and offset 0.
Operand constant_operand(std::string_view text) {
  Operand out;
  out.kind = OperandKind::constant;
  out.count = 0;
  out.index = 0;
  const auto first = text.find('['), middle = text.find("][");
  if (first == std::string_view::npos || middle == std::string_view::npos) return out;
  out.index = static_cast<std::int16_t>(whole_number(text.substr(first + 1, middle - first - 1)).value_or(0));
  const auto last = text.find(']', middle + 2);
  out.value = static_cast<std::int32_t>(whole_number(text.substr(middle + 2, last - middle - 2)).value_or(0));
  return out;
}

std::optional<std::int32_t> immediate(std::string_view text) {
  if (const auto number = whole_number(text))
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(*number & 0xffffffff));
  if (text.ends_with("INF") || text.ends_with("QNAN")) return 0x7f800000;
  if (const auto number = parse_number(text.starts_with("+") ? text.substr(1) : text))
    return std::bit_cast<std::int32_t>(static_cast<float>(*number));
  return std::nullopt;
}

// Splits "R8.64+0x10" at the first sign behind the base.
std::string_view base_of(std::string_view inside) { return inside.substr(0, inside.find_first_of(".+-:")); }

}  // namespace

std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '[' || text[i] == '{')) ++depth;
    if (i < text.size() && (text[i] == ']' || text[i] == '}')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string_view part = trimmed(text.substr(begin, i - begin));
    if (!part.empty()) out.push_back(part);
    begin = i + 1;
  }
  return out;
}

std::optional<Operand> read_operand(std::string_view text, Mistakes& mistakes) {
  Operand out;
  const std::string_view whole = text;
  if (text.starts_with("c[") || text.starts_with("cx[") || text.starts_with("-c[")) return constant_operand(text);
  if (text.starts_with("{")) return out;  // scheduling hints of some listings: {3,2}
  bool is_negative = false;
  while (!text.empty() && std::string_view("-|!~").find(text.front()) != std::string_view::npos) {
    is_negative = is_negative || text.front() == '-' || text.front() == '!';
    text.remove_prefix(1);
  }
  if (register_or_predicate(text.substr(0, text.find_first_of(".|:")), out)) {
    out.negated = is_negative;
    if (out.kind == OperandKind::reg || out.kind == OperandKind::ureg) out.count = 0;
    out.reuse = text.find(".reuse") != std::string_view::npos;
    if (const auto colon = text.find(':'); colon != std::string_view::npos) {
      const auto count = whole_number(text.substr(colon + 1, text.find('.', colon) - colon - 1));
      if (!count || *count < 1 || *count > 255) {
        mistakes.add(text.substr(colon + 1), "1 to 255 registers");
        return std::nullopt;
      }
      out.count = static_cast<std::uint8_t>(*count);
    }
    return out;
  }
  if (const auto special = special_register(text)) {
    out.kind = OperandKind::special;
    out.index = *special;
    return out;
  }
  const auto value = immediate(whole);
  if (!value) {
    mistakes.add(whole, std::string(operand_kinds));
    return std::nullopt;
  }
  out.kind = OperandKind::immediate;
  out.value = *value;
  return out;
}

bool is_address(std::string_view text) { return text.starts_with("[") || text.starts_with("desc["); }

std::optional<Address> read_address(std::string_view text, Mistakes& mistakes) {
  const auto open = text.rfind('[');
  const auto close = text.find(']', open);
  if (close == std::string_view::npos) {
    mistakes.add(text, "an address that ends with ]");
    return std::nullopt;
  }
  const std::string_view inside = trimmed(text.substr(open + 1, close - open - 1));
  Address out;
  out.base = base_of(inside);
  if (!register_or_predicate(out.base, out.operand) ||
      (out.operand.kind != OperandKind::reg && out.operand.kind != OperandKind::ureg)) {
    mistakes.add(inside, "an address like [R8+0x10] or [R8.64]");
    return std::nullopt;
  }
  std::string_view rest = inside.substr(out.base.size());
  if (rest.starts_with(".64")) {
    out.operand.count = 2;
    rest.remove_prefix(3);
  }
  out.operand.reuse = rest.starts_with(".reuse");
  while (!rest.empty()) {
    auto next = rest.find_first_of("+-", 1);
    const std::string_view term = rest.substr(rest.starts_with("+") ? 1 : 0, next - (rest.starts_with("+") ? 1 : 0));
    // A uniform register or a scaled offset in the address costs nothing that is modelled.
    if (const auto offset = whole_number(term)) out.operand.value = static_cast<std::int32_t>(*offset);
    rest = next == std::string_view::npos ? std::string_view{} : rest.substr(next);
  }
  return out;
}

std::optional<std::int16_t> special_register(std::string_view name) {
  for (std::size_t i = 0; i < special_names.size(); ++i) {
    if (special_names[i] == name) return static_cast<std::int16_t>(i);
  }
  return std::nullopt;
}

std::string_view special_name(int index) {
  const auto at = static_cast<std::size_t>(index);
  return at < special_names.size() ? special_names[at] : special_names[0];
}

namespace {

constexpr std::string_view form = "B------:R-:W-:-:S01";

// '-' is none; a digit beyond the last counter is a mistake.
bool read_counter(std::string_view text, std::int8_t& out, Mistakes& mistakes) {
  if (text == "-") return true;
  if (text.front() < '0' || text.front() > '5') {
    mistakes.add(text, "a dependence counter 0 to 5, or -");
    return false;
  }
  out = static_cast<std::int8_t>(text.front() - '0');
  return true;
}

}  // namespace

std::optional<Control> read_control(std::string_view text, Mistakes& mistakes) {
  const auto fixed = [&](std::size_t at) { return text[at] == form[at]; };
  if (text.size() != form.size() || !fixed(0) || !fixed(7) || !fixed(8) || !fixed(10) || !fixed(11) || !fixed(13) ||
      !fixed(15) || !fixed(16)) {
    mistakes.add(text, "control bits like B0-----:R-:W0:-:S02");
    return std::nullopt;
  }
  Control out;
  for (std::size_t i = 0; i < 6; ++i) {
    const char c = text[1 + i];
    if (c == static_cast<char>('0' + i)) {
      out.wait_mask = static_cast<std::uint8_t>(out.wait_mask | 1u << i);
    } else if (c != '-') {
      mistakes.add(text.substr(1 + i, 1), std::string(1, static_cast<char>('0' + i)) + " or - in the wait mask");
      return std::nullopt;
    }
  }
  if (!read_counter(text.substr(9, 1), out.read_barrier, mistakes)) return std::nullopt;
  if (!read_counter(text.substr(12, 1), out.write_barrier, mistakes)) return std::nullopt;
  if (text[14] != 'Y' && text[14] != '-') {
    mistakes.add(text.substr(14, 1), "Y or - for the yield hint");
    return std::nullopt;
  }
  out.yield = text[14] == 'Y';
  const auto stall = whole_number(text.substr(17));
  if (!stall || *stall < 0 || *stall > 15) {
    mistakes.add(text.substr(16), "a stall count S00 to S15");
    return std::nullopt;
  }
  out.stall = static_cast<std::uint8_t>(*stall);
  return out;
}

}  // namespace noteg::kernels
