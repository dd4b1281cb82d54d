#include "kernels/compiled/listing/operands.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace noteg::compiled {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool take(std::string_view& s, std::string_view prefix) {
  if (s.substr(0, prefix.size()) != prefix) return false;
  s.remove_prefix(prefix.size());
  return true;
}

// Decimal digits at the front, at most three of them.
std::optional<int> take_index(std::string_view& s) {
  std::size_t n = 0;
  int value = 0;
  while (n < s.size() && n < 3 && is_digit(s[n])) value = value * 10 + (s[n++] - '0');
  if (n == 0) return std::nullopt;
  s.remove_prefix(n);
  return value;
}

struct Register {
  Kind kind = Kind::none;
  int index = 0;
};

// R12, RZ, UR4, URZ, P0, PT, UP1, UPT, B3 at the front.
std::optional<Register> take_register(std::string_view& s) {
  std::string_view rest = s;
  const bool uniform = take(rest, "U");
  Register out;
  if (take(rest, "R")) {
    out.kind = uniform ? Kind::ureg : Kind::reg;
    if (take(rest, "Z"))
      out.index = zero_register;
    else if (const auto n = take_index(rest))
      out.index = *n;
    else
      return std::nullopt;
  } else if (take(rest, "P")) {
    out.kind = uniform ? Kind::upred : Kind::pred;
    if (take(rest, "T"))
      out.index = true_predicate;
    else if (const auto n = take_index(rest))
      out.index = *n;
    else
      return std::nullopt;
    if (out.index > true_predicate) return std::nullopt;
  } else if (!uniform && take(rest, "B")) {
    out.kind = Kind::barrier;
    const auto n = take_index(rest);
    if (!n) return std::nullopt;
    out.index = *n;
  } else {
    return std::nullopt;
  }
  if (out.index > zero_register) return std::nullopt;
  if (!rest.empty() && rest.front() != '.' && rest.front() != '+' && rest.front() != ']' && rest.front() != '|')
    return std::nullopt;
  s = rest;
  return out;
}

constexpr std::array<std::pair<std::string_view, Special>, 19> specials{{{"SR_TID.X", Special::tid_x},
                                                                         {"SR_TID.Y", Special::tid_y},
                                                                         {"SR_TID.Z", Special::tid_z},
                                                                         {"SR_CTAID.X", Special::ctaid_x},
                                                                         {"SR_CTAID.Y", Special::ctaid_y},
                                                                         {"SR_CTAID.Z", Special::ctaid_z},
                                                                         {"SR_NTID", Special::ntid_x},
                                                                         {"SR_LANEID", Special::lane_id},
                                                                         {"SR_WARPID", Special::warp_id},
                                                                         {"SR_VIRTID", Special::unknown},
                                                                         {"SR_CgaCtaId", Special::cga_cta_id},
                                                                         {"SR_LTMASK", Special::lane_mask_lt},
                                                                         {"SR_LEMASK", Special::lane_mask_le},
                                                                         {"SR_GTMASK", Special::lane_mask_gt},
                                                                         {"SR_GEMASK", Special::lane_mask_ge},
                                                                         {"SR_EQMASK", Special::lane_mask_eq},
                                                                         {"SR_CLOCKLO", Special::clock},
                                                                         {"SR_SWINHI", Special::shared_window},
                                                                         {"SRZ", Special::zero}}};

void suffixes(std::string_view s, Operand& out) {
  while (!s.empty()) {
    if (take(s, ".reuse")) {
      out.reuse = true;
    } else if (take(s, ".64")) {
      out.wide = true;
    } else if (take(s, ".X4")) {
      out.scale = 4;
    } else if (take(s, ".X8")) {
      out.scale = 8;
    } else if (take(s, ".X16")) {
      out.scale = 16;
    } else {
      const std::size_t next = s.find('.', 1);  // .U32, .H0_H0, .B1 ...: told by the text
      s = next == std::string_view::npos ? std::string_view{} : s.substr(next);
    }
  }
}

// Inside of [ ]: R2.64+UR4+0x10, UR4, 0x10, empty.
bool parse_address(std::string_view s, Operand& out) {
  out.index = zero_register;
  bool negative = false;
  while (!s.empty()) {
    std::size_t end = s.find('+');
    if (end == std::string_view::npos) end = s.size();
    std::string_view term = trimmed(s.substr(0, end));
    s.remove_prefix(std::min(s.size(), end + 1));
    negative = take(term, "-");
    std::string_view rest = term;
    if (const auto r = take_register(rest); r && !negative) {
      if (r->kind == Kind::ureg) {
        out.uniform = static_cast<std::int16_t>(r->index);
        if (rest == ".64") out.wide = true;
      } else if (r->kind == Kind::reg) {
        out.index = static_cast<std::int16_t>(r->index);
        suffixes(rest, out);
      } else {
        return false;
      }
      continue;
    }
    const auto n = parse_number(term);
    if (!n || n->is_float) return false;
    out.value += negative ? -n->value : n->value;
  }
  return true;
}

// c[0x0][0x28], c[0x0][R4+0x10], cx[UR4][0x10].
bool parse_constant(std::string_view s, Operand& out) {
  const bool indirect = take(s, "cx[");
  if (!indirect && !take(s, "c[")) return false;
  const std::size_t end = s.find(']');
  if (end == std::string_view::npos || end + 1 >= s.size() || s[end + 1] != '[') return false;
  const std::string_view bank = s.substr(0, end);
  std::string_view offset = s.substr(end + 2);
  const std::size_t close = offset.find(']');
  if (close == std::string_view::npos) return false;
  Operand address;
  if (!parse_address(offset.substr(0, close), address)) return false;
  out.kind = Kind::constant;
  out.value = address.value;
  out.uniform = address.uniform;
  out.descriptor = address.index == zero_register ? std::int16_t{-1} : address.index;
  if (indirect) {
    out.index = -1;
  } else {
    const auto n = parse_number(bank);
    if (!n || n->value < 0 || n->value > 31) return false;
    out.index = static_cast<std::int16_t>(n->value);
  }
  return true;
}

bool parse_memory(std::string_view s, Operand& out) {
  std::string_view inside = s;
  if (take(inside, "desc[") || take(inside, "gdesc[")) {
    const bool group = s.front() == 'g';
    const std::size_t end = inside.find(']');
    if (end == std::string_view::npos) return false;
    std::string_view name = inside.substr(0, end);
    const auto r = take_register(name);
    if (!r || r->kind != Kind::ureg) return false;
    out.descriptor = static_cast<std::int16_t>(r->index);
    inside.remove_prefix(end + 1);
    if (group || inside.empty() || inside.front() != '[') {
      out.kind = Kind::other;
      return true;
    }
  }
  if (!take(inside, "[")) return false;
  const std::size_t end = inside.find(']');
  if (end == std::string_view::npos) return false;
  out.kind = Kind::memory;
  return parse_address(inside.substr(0, end), out);
}

Operand parse_operand(std::string_view s) {
  Operand out;
  out.text = s;
  out.kind = Kind::other;
  std::string_view rest = s;
  if (take(rest, "!")) out.negated = true;
  if (take(rest, "~")) out.inverted = true;
  if (!rest.empty() && rest.front() == '-' && rest.size() > 1 && !is_digit(rest[1])) {
    rest.remove_prefix(1);
    out.negated = true;
    if (take(rest, "~")) out.inverted = true;
  }
  if (take(rest, "|")) out.absolute = true;
  std::string_view tail = rest;
  if (const auto r = take_register(tail)) {
    out.kind = r->kind;
    out.index = static_cast<std::int16_t>(r->index);
    if (!tail.empty() && tail.front() == '|') tail.remove_prefix(1);
    suffixes(tail, out);
    return out;
  }
  if (rest.substr(0, 2) == "c[" || rest.substr(0, 3) == "cx[") {
    if (!parse_constant(rest, out)) out.kind = Kind::other;
    return out;
  }
  if (!rest.empty() && (rest.front() == '[' || rest.substr(0, 5) == "desc[" || rest.substr(0, 6) == "gdesc[")) {
    if (!parse_memory(rest, out)) out.kind = Kind::other;
    return out;
  }
  for (const auto& [name, special] : specials) {
    if (rest == name) {
      out.kind = Kind::special;
      out.index = static_cast<std::int16_t>(special);
      return out;
    }
  }
  if (rest.substr(0, 3) == "SR_") {
    out.kind = Kind::special;
    out.index = static_cast<std::int16_t>(Special::unknown);
    return out;
  }
  if (rest.starts_with("LBB") || (!rest.empty() && rest.front() == '.')) {  // Triton's labels
    out.kind = Kind::label;
    return out;
  }
  if (!rest.empty() && (rest.front() == '`' || rest.front() == '(' || rest.front() == '$')) {
    out.kind = Kind::label;
    return out;
  }
  if (const auto n = parse_number(s)) {
    out.kind = Kind::integer;
    out.negated = out.inverted = out.absolute = false;
    out.value = n->value;
    out.is_float = n->is_float;
  }
  return out;
}

bool take_guard(std::string_view& text, Instruction& out) {
  if (text.empty() || text.front() != '@') return true;
  const std::size_t end = text.find_first_of(" \t");
  if (end == std::string_view::npos) return false;
  std::string_view guard = text.substr(1, end - 1);
  text = trimmed(text.substr(end));
  if (take(guard, "!")) out.guard_negated = true;
  const auto r = take_register(guard);
  if (!r || (r->kind != Kind::pred && r->kind != Kind::upred)) return false;
  out.guard = static_cast<std::int8_t>(r->index);
  out.guard_uniform = r->kind == Kind::upred;
  return true;
}

}  // namespace

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<Number> parse_number(std::string_view text) {
  std::string_view s = text;
  bool negative = false;
  if (take(s, "-"))
    negative = true;
  else
    static_cast<void>(take(s, "+"));
  if (s.empty()) return std::nullopt;
  if (take(s, "0x")) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, 16);
    if (error != std::errc{} || end != s.data() + s.size()) return std::nullopt;
    return Number{static_cast<std::int64_t>(negative ? 0 - value : value), false};
  }
  const auto bits = [&](float f) {
    return Number{static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(negative ? -f : f)), true};
  };
  if (s.substr(0, 3) == "INF") return bits(std::numeric_limits<float>::infinity());
  if (s == "QNAN" || s == "SNAN" || s == "NAN") return bits(std::numeric_limits<float>::quiet_NaN());
  if (!is_digit(s.front()) && s.front() != '.') return std::nullopt;
  if (s.find_first_not_of("0123456789") == std::string_view::npos) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (error != std::errc{}) return std::nullopt;
    return Number{negative ? -value : value, false};
  }
  double value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (end != s.data() + s.size() || error == std::errc::invalid_argument) return std::nullopt;
  return bits(static_cast<float>(value));
}

bool parse_instruction(std::string_view text, Instruction& out) {
  text = trimmed(text);
  while (!text.empty() && (text.back() == ';' || is_space(text.back()))) text.remove_suffix(1);
  out.text = text;
  if (!take_guard(text, out)) return false;
  std::size_t end = text.find_first_of(" \t");
  if (end == std::string_view::npos) end = text.size();
  const std::string_view mnemonic = text.substr(0, end);
  if (mnemonic.empty() || mnemonic.front() < 'A' || mnemonic.front() > 'Z') return false;
  const std::size_t dot = mnemonic.find('.');
  out.base = mnemonic.substr(0, dot);
  out.modifiers = dot == std::string_view::npos ? std::string_view{} : mnemonic.substr(dot);
  for (std::string_view left = out.modifiers; !left.empty();) {
    left.remove_prefix(1);
    const std::size_t stop = std::min(left.find('.'), left.size()),
                      next = std::min(left.find('.', stop + 1), left.size());
    for (const std::string_view modifier : {left.substr(0, stop), left.substr(0, next)}) {  // G, and G.S
      const std::size_t place = place_of_modifier(modifier);
      if (place < known_modifiers.size()) out.known.set(place);
    }
    left.remove_prefix(stop);
  }
  std::string_view rest = trimmed(text.substr(end));
  while (!rest.empty()) {
    int depth = 0;
    std::size_t at = 0;
    for (; at < rest.size(); ++at) {
      if (rest[at] == '[' || rest[at] == '{' || rest[at] == '(') ++depth;
      if (rest[at] == ']' || rest[at] == '}' || rest[at] == ')') --depth;
      if (rest[at] == ',' && depth <= 0) break;
    }
    std::string_view piece = trimmed(rest.substr(0, at));
    // BRX R6 -0x1f0, CALL.REL R6 `(kernel): a register, and what is added to it.
    if (const std::size_t gap = piece.find(' '); gap != piece.npos && (piece[0] == 'R' || piece[0] == 'U')) {
      if (out.operands == out.operand.size()) return false;
      out.operand[out.operands++] = parse_operand(piece.substr(0, gap));
      piece = trimmed(piece.substr(gap));
    }
    if (out.operands == out.operand.size()) return false;
    out.operand[out.operands++] = parse_operand(piece);
    rest = trimmed(rest.substr(std::min(rest.size(), at + 1)));
  }
  // Extended addresses are 64 bits wide, also where [R2] stands without .64 (ATOMG.E.CAS).
  if (out.modifiers == ".E" || out.modifiers.starts_with(".E."))
    for (Operand& each : out.operand)
      if (each.kind == Kind::memory && each.uniform < 0) each.wide = true;
  return true;
}

bool ends_its_path(const Instruction& in) {
  constexpr std::string_view leaving[] = {"BRA", "BRX", "BRXU", "EXIT", "JMP", "JMX", "JMXU", "KILL", "RET"};
  if (std::ranges::find(leaving, in.base) == std::end(leaving)) return false;
  if (in.modifiers.find(".DIV") != in.modifiers.npos || in.modifiers.find(".CONV") != in.modifiers.npos)
    return false;  // BRA.DIV: where threads have parted
  const auto is_true = [](int index, bool negated) { return index == true_predicate && !negated; };
  if (in.guard >= 0 && !is_true(in.guard, in.guard_negated)) return false;
  return std::ranges::all_of(in.operand, [&](const Operand& each) {
    const bool is_condition = each.kind == Kind::pred || each.kind == Kind::upred;
    return !is_condition || is_true(each.index, each.negated);
  });
}

}  // namespace noteg::compiled
