#include "kernels/compiled/emulator/machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace noteg::compiled {
namespace {

using S = Semantics;

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t as_bits(float f) { return std::bit_cast<std::uint32_t>(f); }

void write(Registers& to, const Operand& operand, const Lanes& value, std::uint32_t lanes, std::uint32_t unknown,
           int offset = 0) {
  if ((operand.kind != Kind::reg && operand.kind != Kind::ureg) || operand.index == zero_register) return;
  const auto index = static_cast<std::size_t>(operand.index + offset);
  if (index >= zero_register) return;
  const bool uniform = operand.kind == Kind::ureg;
  Lanes& out = uniform ? to.u[index] : to.r[index];
  if ((uniform && unknown == 0) || lanes == all_lanes) {
    out = value;
    return;
  }
  if (uniform) lanes = lanes != 0 ? all_lanes : 0;
  for (std::size_t i = 0; i < 32; ++i)
    if ((lanes >> i & 1) != 0) out.value[i] = value.value[i];
  out.known = (out.known & ~(lanes | unknown)) | (value.known & lanes & ~unknown);
}

void write(Registers& to, const Operand& operand, Predicate value, std::uint32_t lanes, std::uint32_t unknown) {
  if ((operand.kind != Kind::pred && operand.kind != Kind::upred) || operand.index >= true_predicate) return;
  Predicate& out = (operand.kind == Kind::pred ? to.p : to.up)[static_cast<std::size_t>(operand.index)];
  if (operand.kind == Kind::upred && lanes != 0) lanes = all_lanes;
  out.bits = (out.bits & ~lanes) | (value.bits & lanes);
  out.known = (out.known & ~(lanes | unknown)) | (value.known & lanes & ~unknown);
  out.bits &= out.known;
}

// One instruction's operands, results and lanes: what every rule below works on.
struct Work {
  Registers& to;
  const Surroundings& around;
  const Step& step;
  const Instruction& in;
  std::uint32_t lanes, unknown;

  [[nodiscard]] std::size_t first() const { return step.destinations; }
  [[nodiscard]] const Operand& source(std::size_t i) const {
    return in.operand[std::min<std::size_t>(first() + i, in.operand.size() - 1)];
  }
  [[nodiscard]] std::size_t sources() const { return in.operands > first() ? in.operands - first() : 0; }
  [[nodiscard]] Lanes value(std::size_t i) const { return value_of(to, around, source(i)); }
  // A floating-point source: its sign is changed, not its complement taken.
  [[nodiscard]] Lanes real(std::size_t i) const {
    Operand o = source(i);
    const bool minus = o.negated, positive = o.absolute;
    o.negated = o.absolute = o.inverted = false;
    return map(value_of(to, around, o),
               [=](std::uint32_t v) { return (positive ? v & 0x7fffffffu : v) ^ (minus ? 0x80000000u : 0u); });
  }
  [[nodiscard]] Predicate predicate(std::size_t i) const { return predicate_of(to, source(i)); }
  void set(const Lanes& v, int offset = 0) const {
    for (std::size_t i = 0; i < step.destinations; ++i) {
      if (in.operand[i].kind == Kind::reg || in.operand[i].kind == Kind::ureg)
        return write(to, in.operand[i], v, lanes, unknown, offset);
    }
  }
  // The n-th predicate among the destinations.
  void set(Predicate p, std::size_t n) const {
    for (std::size_t i = 0; i < step.destinations; ++i) {
      if ((in.operand[i].kind == Kind::pred || in.operand[i].kind == Kind::upred) && n-- == 0)
        return write(to, in.operand[i], p, lanes, unknown);
    }
  }
  // Sources that are no predicates come first; predicates behind them carry in.
  [[nodiscard]] Predicate carry(std::size_t n) const {
    for (std::size_t i = first(); i < in.operands; ++i) {
      if ((in.operand[i].kind == Kind::pred || in.operand[i].kind == Kind::upred) && n-- == 0)
        return predicate_of(to, in.operand[i]);
    }
    return {};
  }
  [[nodiscard]] Wide pair(std::size_t i, bool is_signed) const;
};

void decide(const Work& w, std::uint32_t known, const std::array<std::int64_t, 32>& difference) {
  if (w.around.decisions != nullptr)
    w.around.decisions->entries.push_back({&w.in, known & w.lanes, difference, false, false});
}

bool is_straight(S s) {
  switch (s) {
    case S::mov:
    case S::iadd:
    case S::lea:
    case S::isetp:
    case S::sel:
    case S::nothing:
    case S::opaque:
    case S::special_register:
    case S::load_constant:
    case S::zero_or_clock:
    case S::plop3:
    case S::half_constant:
    case S::to_uniform:
    case S::elect:
    case S::vote: return true;
    default: return false;
  }
}

bool is_bent(const Registers& registers, const Operand& o) {
  if (o.index == zero_register || o.index < 0) return false;
  const auto index = static_cast<std::size_t>(o.index);
  return (o.kind == Kind::reg && registers.bent[index]) || (o.kind == Kind::ureg && registers.bent_uniform[index]);
}

bool bends(const Work& w) {
  if (w.step.semantics == S::imad) return w.in.has("HI");
  if (w.step.semantics == S::shift && w.in.has("L")) return false;
  return !is_straight(w.step.semantics);
}

// Results of an operation that is no sum, and what is made of them.
void mark_bent(const Work& w) {
  bool bent = false;
  for (std::size_t i = w.first(); i < w.in.operands; ++i) {
    const Operand& o = w.in.operand[i];
    const bool is_register = (o.kind == Kind::reg || o.kind == Kind::ureg) && o.index != zero_register;
    bent = bent || is_bent(w.to, o) || (is_register && bends(w));
  }
  for (std::size_t i = 0; i < w.step.destinations; ++i) {
    const Operand& o = w.in.operand[i];
    if ((o.kind != Kind::reg && o.kind != Kind::ureg) || o.index == zero_register) continue;
    for (std::size_t n = 0; n < w.step.width && static_cast<std::size_t>(o.index) + n < zero_register; ++n)
      (o.kind == Kind::reg ? w.to.bent : w.to.bent_uniform)[static_cast<std::size_t>(o.index) + n] = bent;
  }
}

// What goes into an operation that is no sum: where it changes, so may the rule by which the result does. And what is
// compared behind one.
void note_bend(const Work& w) {
  mark_bent(w);
  const bool compared = w.step.semantics == S::isetp;
  if (w.around.decisions == nullptr || (!compared && !bends(w))) return;
  for (std::size_t i = w.first(); i < w.in.operands; ++i) {
    const Operand& o = w.in.operand[i];
    if ((o.kind != Kind::reg && o.kind != Kind::ureg) || o.index == zero_register) continue;
    if (compared && !is_bent(w.to, o)) continue;
    const Lanes v = value_of(w.to, w.around, o);
    Decisions::Entry entry{&w.in, v.known & w.lanes, {}, compared, !compared};
    for (std::size_t lane = 0; lane < 32; ++lane) entry.difference[lane] = v.value[lane];
    w.around.decisions->entries.push_back(entry);
  }
}

bool carries_out(const Work& w) {
  for (std::size_t i = 0; i < w.step.destinations; ++i) {
    const Operand& o = w.in.operand[i];
    if ((o.kind == Kind::pred || o.kind == Kind::upred) && o.index < true_predicate) return true;
  }
  return false;
}

Wide joined(const Lanes& low, const Lanes& high) {
  Wide out;
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = std::uint64_t{high.value[i]} << 32 | low.value[i];
  out.known = low.known & high.known;
  return out;
}

// A 64-bit source that stands as its first register.
Wide Work::pair(std::size_t i, bool is_signed) const {
  const Operand& o = source(i);
  if ((o.kind == Kind::reg || o.kind == Kind::ureg) && o.index != zero_register) {
    Operand low = o, high = o;
    low.negated = high.negated = false;
    high.index = static_cast<std::int16_t>(o.index + 1);
    Wide out = joined(value_of(to, around, low), value_of(to, around, high));
    if (o.negated)
      for (std::uint64_t& v : out.value) v = 0 - v;
    return out;
  }
  if (o.kind == Kind::constant) {
    Operand high = o;
    high.value += 4;
    return joined(value_of(to, around, o), value_of(to, around, high));
  }
  const Lanes low = value_of(to, around, o);
  return joined(low, map(low, [is_signed](std::uint32_t v) { return is_signed && v >> 31 != 0 ? ~0u : 0u; }));
}

void set_wide(const Work& w, const Wide& v) {
  Lanes low, high;
  for (std::size_t i = 0; i < 32; ++i) {
    low.value[i] = static_cast<std::uint32_t>(v.value[i]);
    high.value[i] = static_cast<std::uint32_t>(v.value[i] >> 32);
  }
  low.known = high.known = v.known;
  w.set(low);
  w.set(high, 1);
}

// Negation of an operand in a sum with carries is its complement and one.
struct Addend {
  Lanes value;
  std::uint32_t one = 0;
};

Addend addend(const Work& w, std::size_t i, bool extended) {
  Operand o = w.source(i);
  const bool minus = o.negated && !extended;
  const bool complement = o.negated && extended;
  o.negated = false;
  Addend out{value_of(w.to, w.around, o), minus ? 1u : 0u};
  if (minus || complement) out.value = map(out.value, [](std::uint32_t v) { return ~v; });
  return out;
}

void iadd(const Work& w) {
  const bool extended = w.in.has("X");
  std::array<Addend, 3> a{addend(w, 0, extended), addend(w, 1, extended), {}};
  const bool three = w.sources() > 2 && w.source(2).kind != Kind::pred && w.source(2).kind != Kind::upred;
  if (three) a[2] = addend(w, 2, extended);
  const Predicate c0 = extended ? w.carry(0) : Predicate{}, c1 = extended ? w.carry(1) : Predicate{};
  Lanes sum;
  Predicate out0, out1;
  sum.known = a[0].value.known & a[1].value.known & a[2].value.known & c0.known & c1.known;
  const std::uint64_t ones = a[0].one + a[1].one + a[2].one;
  std::array<std::int64_t, 32> to_carry{};
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t total = std::uint64_t{a[0].value.value[i]} + a[1].value.value[i] + a[2].value.value[i] + ones +
                                (c0.bits >> i & 1) + (c1.bits >> i & 1);
    sum.value[i] = static_cast<std::uint32_t>(total);
    out0.bits |= static_cast<std::uint32_t>(total >> 32 >= 1) << i;
    out1.bits |= static_cast<std::uint32_t>(total >> 32 >= 2) << i;
    to_carry[i] = static_cast<std::int64_t>(total) - (std::int64_t{1} << 32);
  }
  if (carries_out(w)) decide(w, sum.known, to_carry);
  out0.known = out1.known = sum.known;
  w.set(sum);
  w.set(out0, 0);
  w.set(out1, 1);
}

void imad(const Work& w) {
  const bool is_unsigned = w.in.has("U32") || w.in.has("U24");
  const Lanes a = w.value(0), b = w.value(1);
  const bool wide = w.in.has("WIDE"), high = w.in.has("HI");
  const Predicate in = w.in.has("X") ? w.carry(0) : Predicate{};
  Wide c;
  if (wide || high)
    c = w.pair(2, false);
  else {
    const Lanes low = w.value(2);
    c.known = low.known;
    for (std::size_t i = 0; i < 32; ++i) c.value[i] = low.value[i];
  }
  Wide out;
  Predicate carry;
  out.known = carry.known = a.known & b.known & c.known & in.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t product = is_unsigned || !(wide || high)
                                      ? std::uint64_t{a.value[i]} * b.value[i]
                                      : static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a.value[i])} *
                                                                   std::int64_t{static_cast<std::int32_t>(b.value[i])});
    out.value[i] = product + c.value[i] + (in.bits >> i & 1);
    carry.bits |= static_cast<std::uint32_t>(out.value[i] < product) << i;
  }
  carry.bits &= carry.known;
  if (wide) return set_wide(w, out), w.set(carry, 0);
  Lanes low;
  low.known = out.known;
  for (std::size_t i = 0; i < 32; ++i)
    low.value[i] = static_cast<std::uint32_t>(high ? out.value[i] >> 32 : out.value[i]);
  w.set(low);
}

// LEA d, a, b, s: (a << s) + b. LEA.HI d, a, b, c, s: the high word of {c, a} << s, and b.
void lea(const Work& w) {
  const bool high = w.in.has("HI"), from_sign = w.in.has("SX32"), extended = w.in.has("X");
  const std::size_t shift_at = high && !from_sign ? 3 : 2;
  Operand ao = w.source(0);
  const bool minus = ao.negated || ao.inverted;
  ao.negated = ao.inverted = false;
  const Lanes a = value_of(w.to, w.around, ao), b = w.value(1);
  const Lanes c = high && !from_sign ? w.value(2) : map(a, [](std::uint32_t v) { return v >> 31 != 0 ? ~0u : 0u; });
  const Lanes shift = w.value(shift_at);
  const Predicate in = extended ? w.carry(0) : Predicate{};
  Lanes out;
  Predicate carry;
  std::array<std::int64_t, 32> to_carry{};
  out.known = carry.known = a.known & b.known & (high ? c.known : all_lanes) & in.known & shift.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t s = shift.value[i] & 31;
    const std::uint64_t whole = (std::uint64_t{c.value[i]} << 32 | a.value[i]) << s;
    std::uint32_t part = static_cast<std::uint32_t>(high ? whole >> 32 : whole);
    std::uint64_t one = in.bits >> i & 1;
    if (minus) {
      part = ~part;
      if (!extended) one = 1;
    }
    const std::uint64_t total = std::uint64_t{part} + b.value[i] + one;
    out.value[i] = static_cast<std::uint32_t>(total);
    carry.bits |= static_cast<std::uint32_t>(total >> 32) << i;
    to_carry[i] = static_cast<std::int64_t>(total) - (std::int64_t{1} << 32);
  }
  if (carries_out(w)) decide(w, out.known, to_carry);
  w.set(out);
  w.set(carry, 0);
}

std::uint32_t by_table(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t out = 0;
  if ((table & 0x01) != 0) out |= ~a & ~b & ~c;
  if ((table & 0x02) != 0) out |= ~a & ~b & c;
  if ((table & 0x04) != 0) out |= ~a & b & ~c;
  if ((table & 0x08) != 0) out |= ~a & b & c;
  if ((table & 0x10) != 0) out |= a & ~b & ~c;
  if ((table & 0x20) != 0) out |= a & ~b & c;
  if ((table & 0x40) != 0) out |= a & b & ~c;
  if ((table & 0x80) != 0) out |= a & b & c;
  return out;
}

void lop3(const Work& w) {
  const Lanes a = w.value(0), b = w.value(1), c = w.value(2);
  const auto table = static_cast<std::uint32_t>(w.source(3).value);
  const Lanes out =
      map(a, b, c, [table](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return by_table(x, y, z, table); });
  w.set(out);
  Predicate p;
  p.known = out.known;
  for (std::size_t i = 0; i < 32; ++i) p.bits |= static_cast<std::uint32_t>(out.value[i] != 0) << i;
  const Predicate in = w.sources() > 4 ? w.predicate(4) : Predicate{};
  p.known &= in.known;
  p.bits = w.in.has("PAND") ? p.bits & in.bits : p.bits | in.bits;
  w.set(p, 0);
}

void plop3(const Work& w) {
  const Predicate a = w.predicate(0), b = w.predicate(1), c = w.predicate(2);
  const auto tables = std::array{w.source(3).value, w.sources() > 4 ? w.source(4).value : 0};
  for (std::size_t n = 0; n < 2; ++n) {
    Predicate out;
    const auto table = static_cast<std::uint32_t>(tables[n]);
    out.bits = by_table(a.bits, b.bits, c.bits, table);
    // A bit is known where the unknown ones change nothing.
    for (const std::uint32_t x : {0u, all_lanes})
      for (const std::uint32_t y : {0u, all_lanes})
        for (const std::uint32_t z : {0u, all_lanes}) {
          const std::uint32_t other = by_table((a.bits & a.known) | (x & ~a.known), (b.bits & b.known) | (y & ~b.known),
                                               (c.bits & c.known) | (z & ~c.known), table);
          out.known &= ~(other ^ out.bits);
        }
    w.set(out, n);
  }
}

void shift(const Work& w) {
  const Lanes a = w.value(0), s = w.value(1), c = w.value(2);
  const bool left = w.in.has("L"), high = w.in.has("HI"), wrap = w.in.has("W");
  const bool is_signed = w.in.has("S32") || w.in.has("S64");
  const bool by_64 = w.in.has("U64") || w.in.has("S64");
  Lanes out;
  out.known = a.known & s.known & c.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t limit = by_64 ? 63 : 31;
    const std::uint32_t n = s.value[i];
    const std::uint64_t whole = std::uint64_t{c.value[i]} << 32 | a.value[i];
    std::uint64_t result = 0;
    const bool beyond = !wrap && n > limit;
    const std::uint32_t by = wrap ? n & limit : std::min(n, limit);
    if (left) {
      if (high)
        result = by_64 ? (beyond ? 0 : whole << by >> 32) : (beyond ? a.value[i] : whole << by >> 32);
      else
        result = beyond ? 0 : whole << by;
    } else if (high && !by_64) {
      const auto v = static_cast<std::int32_t>(c.value[i]);
      result = is_signed ? static_cast<std::uint32_t>(v >> by) : beyond ? 0 : c.value[i] >> by;
    } else {
      const std::uint64_t shifted = is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) >> by)
                                    : beyond && by_64 ? 0
                                                      : whole >> by;
      result = high ? shifted >> 32 : shifted;
    }
    out.value[i] = static_cast<std::uint32_t>(result);
  }
  w.set(out);
}

void prmt(const Work& w) {
  const Lanes a = w.value(0), selector = w.value(1), b = w.value(2);
  Lanes out = map(a, selector, b, [](std::uint32_t x, std::uint32_t s, std::uint32_t y) {
    const std::uint64_t whole = std::uint64_t{y} << 32 | x;
    std::uint32_t v = 0;
    for (int n = 0; n < 4; ++n) {
      const std::uint32_t pick = s >> (4 * n) & 0xf;
      std::uint32_t byte = static_cast<std::uint32_t>(whole >> (8 * (pick & 7))) & 0xff;
      if ((pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      v |= byte << (8 * n);
    }
    return v;
  });
  if (!w.in.modifiers.empty()) out.known = 0;
  w.set(out);
}

bool compares(const Instruction& in, std::int64_t a, std::int64_t b) {
  if (in.has("LT")) return a < b;
  if (in.has("LE")) return a <= b;
  if (in.has("GT")) return a > b;
  if (in.has("GE")) return a >= b;
  if (in.has("EQ")) return a == b;
  if (in.has("NE")) return a != b;
  return in.has("T");
}

Predicate combined(const Instruction& in, Predicate p, Predicate with) {
  Predicate out;
  if (in.has("OR")) {
    out.bits = p.bits | with.bits;
    out.known = (p.known & with.known) | (p.known & p.bits) | (with.known & with.bits);
  } else if (in.has("XOR")) {
    out.bits = p.bits ^ with.bits;
    out.known = p.known & with.known;
  } else {
    out.bits = p.bits & with.bits;
    out.known = (p.known & with.known) | (p.known & ~p.bits) | (with.known & ~with.bits);
  }
  out.bits &= out.known;
  return out;
}

void isetp(const Work& w) {
  const Lanes a = w.value(0), b = w.value(1);
  const bool is_unsigned = w.in.has("U32"), extended = w.in.has("EX");
  const Predicate with = w.sources() > 2 ? w.predicate(2) : Predicate{all_lanes, all_lanes};
  const Predicate low = extended && w.sources() > 3 ? w.predicate(3) : Predicate{};
  Predicate p;
  std::array<std::int64_t, 32> difference{};
  p.known = a.known & b.known & (extended ? low.known : all_lanes);
  for (std::size_t i = 0; i < 32; ++i) {
    const std::int64_t x = is_unsigned ? std::int64_t{a.value[i]} : std::int64_t{static_cast<std::int32_t>(a.value[i])};
    const std::int64_t y = is_unsigned ? std::int64_t{b.value[i]} : std::int64_t{static_cast<std::int32_t>(b.value[i])};
    difference[i] = x - y;
    bool holds = compares(w.in, x, y);
    if (extended) holds = x == y ? (low.bits >> i & 1) != 0 : compares(w.in, x, y) || (w.in.has("NE") && x != y);
    p.bits |= static_cast<std::uint32_t>(holds) << i;
  }
  decide(w, p.known, difference);
  p.bits &= p.known;
  const Predicate inverse{~p.bits & p.known, p.known};
  w.set(combined(w.in, p, with), 0);
  w.set(combined(w.in, inverse, with), 1);
}

void fsetp(const Work& w) {
  const Lanes a = w.real(0), b = w.real(1);
  const Predicate with = w.sources() > 2 ? w.predicate(2) : Predicate{all_lanes, all_lanes};
  const bool unordered = w.in.modifiers.find("U.") != std::string_view::npos;
  Predicate p;
  p.known = a.known & b.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const float x = as_float(a.value[i]), y = as_float(b.value[i]);
    bool holds = unordered && (std::isnan(x) || std::isnan(y));
    if (w.in.has("LT") || w.in.has("LTU"))
      holds = holds || x < y;
    else if (w.in.has("LE") || w.in.has("LEU"))
      holds = holds || x <= y;
    else if (w.in.has("GT") || w.in.has("GTU"))
      holds = holds || x > y;
    else if (w.in.has("GE") || w.in.has("GEU"))
      holds = holds || x >= y;
    else if (w.in.has("EQ") || w.in.has("EQU"))
      holds = holds || x == y;
    else if (w.in.has("NE") || w.in.has("NEU"))
      holds = holds || x != y;
    else
      p.known = 0;
    p.bits |= static_cast<std::uint32_t>(holds) << i;
  }
  p.bits &= p.known;
  w.set(combined(w.in, p, with), 0);
  w.set(combined(w.in, {~p.bits & p.known, p.known}, with), 1);
}

Lanes selected(Predicate p, const Lanes& a, const Lanes& b) {
  Lanes out;
  out.known = (a.known & p.bits & p.known) | (b.known & ~p.bits & p.known);
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = (p.bits >> i & 1) != 0 ? a.value[i] : b.value[i];
  return out;
}

Lanes smaller_or_larger(const Instruction& in, const Lanes& a, const Lanes& b, Predicate smaller) {
  const bool is_unsigned = in.has("U32");
  const auto lower = [is_unsigned](std::uint32_t x, std::uint32_t y) {
    return is_unsigned ? x < y : static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
  };
  const Lanes least = map(a, b, [&](std::uint32_t x, std::uint32_t y) { return lower(x, y) ? x : y; });
  const Lanes most = map(a, b, [&](std::uint32_t x, std::uint32_t y) { return lower(x, y) ? y : x; });
  Lanes out = selected(smaller, least, most);
  if (in.has("RELU")) out = map(out, [](std::uint32_t v) { return static_cast<std::int32_t>(v) < 0 ? 0u : v; });
  return out;
}

void int_to_float(const Work& w) {
  const bool wide = w.in.has("U64") || w.in.has("S64"), is_unsigned = w.in.has("U32") || w.in.has("U64");
  const Wide v = wide ? w.pair(0, !is_unsigned) : joined(w.value(0), Lanes::of(0));
  if (w.in.has("F64") || w.in.has("F16") || w.in.has("BF16") || w.in.has("U8") || w.in.has("U16") || w.in.has("S8") ||
      w.in.has("S16")) {
    w.set(Lanes::unknown());
    return w.set(Lanes::unknown(), w.step.width > 1 ? 1 : 0);
  }
  Lanes out;
  out.known = v.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const double exact = wide          ? (is_unsigned ? static_cast<double>(v.value[i])
                                                      : static_cast<double>(static_cast<std::int64_t>(v.value[i])))
                         : is_unsigned ? static_cast<double>(static_cast<std::uint32_t>(v.value[i]))
                                       : static_cast<double>(static_cast<std::int32_t>(v.value[i]));
    float f = static_cast<float>(exact);
    if (w.in.has("RP") && static_cast<double>(f) < exact) f = std::nextafter(f, INFINITY);
    if (w.in.has("RM") && static_cast<double>(f) > exact) f = std::nextafter(f, -INFINITY);
    if (w.in.has("RZ") && std::abs(static_cast<double>(f)) > std::abs(exact)) f = std::nextafter(f, 0.0f);
    out.value[i] = as_bits(f);
  }
  w.set(out);
}

void float_to_int(const Work& w) {
  const Lanes a = w.real(0);
  const bool wide = w.step.width > 1, is_unsigned = w.in.has("U32") || w.in.has("U64");
  Wide out;
  out.known = w.in.has("F64") || w.in.has("F16") ? 0 : a.known;
  for (std::size_t i = 0; i < 32; ++i) {
    double f = static_cast<double>(as_float(a.value[i]));
    if (std::isnan(f)) f = 0;
    f = w.in.has("FLOOR")   ? std::floor(f)
        : w.in.has("CEIL")  ? std::ceil(f)
        : w.in.has("TRUNC") ? std::trunc(f)
                            : std::nearbyint(f);
    const double low = is_unsigned ? 0 : wide ? -9.2233720368547758e18 : -2147483648.0;
    const double high = wide          ? (is_unsigned ? 1.8446744073709550e19 : 9.2233720368547748e18)
                        : is_unsigned ? 4294967295.0
                                      : 2147483647.0;
    f = std::clamp(f, low, high);
    out.value[i] =
        is_unsigned ? static_cast<std::uint64_t>(f) : static_cast<std::uint64_t>(static_cast<std::int64_t>(f));
  }
  if (wide) return set_wide(w, out);
  Lanes low;
  low.known = out.known;
  for (std::size_t i = 0; i < 32; ++i) low.value[i] = static_cast<std::uint32_t>(out.value[i]);
  w.set(low);
}

void vote(const Work& w) {
  const Predicate p =
      predicate_of(w.to, w.in.operand[static_cast<std::size_t>(w.in.operands > 0 ? w.in.operands - 1 : 0)]);
  const bool known = (p.known & w.lanes) == w.lanes;
  const std::uint32_t ballot = p.bits & w.lanes;
  Lanes mask = Lanes::of(ballot);
  if (!known) mask.known = 0;
  w.set(mask);
  Predicate out;
  const bool all = ballot == w.lanes;
  out.bits = (w.in.has("ALL") ? all : w.in.has("EQ") ? all || ballot == 0 : ballot != 0) ? all_lanes : 0;
  out.known = known ? all_lanes : 0;
  out.bits &= out.known;
  w.set(out, 0);
}

void shuffle(const Work& w) {
  const Lanes a = w.value(0), by = w.value(1), clamp = w.value(2);
  Lanes out = Lanes::unknown();
  Predicate inside;
  inside.known = by.known & clamp.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const auto lane = static_cast<std::uint32_t>(i);
    const std::uint32_t segment = clamp.value[i] >> 8 & 31, limit = clamp.value[i] & 31;
    const std::uint32_t most = (lane & segment) | (limit & ~segment), least = lane & segment;
    std::uint32_t from = lane;
    bool fits = true;
    if (w.in.has("IDX"))
      from = (by.value[i] & 31 & ~segment) | least, fits = from <= most;
    else if (w.in.has("UP"))
      from = lane - (by.value[i] & 31), fits = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(most);
    else if (w.in.has("DOWN"))
      from = lane + (by.value[i] & 31), fits = from <= most;
    else
      from = lane ^ (by.value[i] & 31), fits = from <= most;
    if (!fits) from = lane;
    inside.bits |= static_cast<std::uint32_t>(fits) << i;
    out.value[i] = a.value[from & 31];
    if ((a.known >> (from & 31) & 1) != 0 && (inside.known >> i & 1) != 0) out.known |= 1u << i;
  }
  inside.bits &= inside.known;
  w.set(out);
  w.set(inside, 0);
}

void match(const Work& w) {
  const Lanes a = w.value(0);
  Lanes out;
  out.known = (a.known & w.lanes) == w.lanes ? all_lanes : 0;
  bool all = true;
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint32_t same = 0;
    for (std::size_t j = 0; j < 32; ++j)
      if ((w.lanes >> j & 1) != 0 && a.value[j] == a.value[i]) same |= 1u << j;
    out.value[i] = same;
    all = all && ((w.lanes >> i & 1) == 0 || same == w.lanes);
  }
  if (w.in.has("ALL") && !all) out.value.fill(0);
  w.set(out);
  Predicate p{all ? all_lanes : 0, out.known};
  p.bits &= p.known;
  w.set(p, 0);
}

void reduce(const Work& w) {
  const Lanes a = w.value(0);
  std::uint32_t total = 0;
  bool is_first = true;
  const bool is_signed = w.in.has("S32");
  for (std::size_t i = 0; i < 32; ++i) {
    if ((w.lanes >> i & 1) == 0) continue;
    const std::uint32_t v = a.value[i];
    const auto lower = [&](std::uint32_t x, std::uint32_t y) {
      return is_signed ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
    };
    if (is_first)
      total = v;
    else if (w.in.has("SUM"))
      total += v;
    else if (w.in.has("MIN"))
      total = lower(v, total) ? v : total;
    else if (w.in.has("MAX"))
      total = lower(total, v) ? v : total;
    else if (w.in.has("XOR"))
      total ^= v;
    else if (w.in.has("OR"))
      total |= v;
    else
      total &= v;
    is_first = false;
  }
  Lanes out = Lanes::of(total);
  if ((a.known & w.lanes) != w.lanes) out.known = 0;
  w.set(out);
}

void predicates_from_register(const Work& w) {
  // R2P PR, R0, mask; UR2UP UPR, UR0, mask.
  const Lanes a = value_of(w.to, w.around, w.in.operand[1]), mask = value_of(w.to, w.around, w.in.operand[2]);
  const int first = w.in.has("B1") || w.in.operand[1].text.find(".B1") != std::string_view::npos ? 8
                    : w.in.operand[1].text.find(".B2") != std::string_view::npos                 ? 16
                    : w.in.operand[1].text.find(".B3") != std::string_view::npos                 ? 24
                                                                                                 : 0;
  for (int n = 0; n < 7; ++n) {
    if ((mask.value[0] >> n & 1) == 0) continue;
    Predicate p;
    p.known = a.known & mask.known;
    for (std::size_t i = 0; i < 32; ++i) p.bits |= (a.value[i] >> (n + first) & 1) << i;
    p.bits &= p.known;
    Operand to;
    to.kind = w.in.base == "R2P" ? Kind::pred : Kind::upred;
    to.index = static_cast<std::int16_t>(n);
    write(w.to, to, p, w.lanes, w.unknown);
  }
}

void register_from_predicates(const Work& w) {
  // P2R R4, PR, R3, 0x7f: bits of R3 outside the mask stay.
  const Lanes base = w.sources() > 1 ? w.value(1) : Lanes::of(0), mask = w.sources() > 2 ? w.value(2) : Lanes::of(0x7f);
  Lanes out = map(base, mask, [](std::uint32_t b, std::uint32_t m) { return b & ~m; });
  const auto& from = w.in.base == "P2R" ? w.to.p : w.to.up;
  for (std::size_t n = 0; n < 7; ++n) {
    if ((mask.value[0] >> n & 1) == 0) continue;
    out.known &= from[n].known;
    for (std::size_t i = 0; i < 32; ++i) out.value[i] |= (from[n].bits >> i & 1) << n;
  }
  w.set(out);
}

Lanes special(const Work& w, Special which) {
  const CtaPlace& place = *w.around.place;
  Lanes out;
  const auto thread = [&](std::size_t lane) {
    return static_cast<std::uint32_t>(w.around.warp) * 32 + static_cast<std::uint32_t>(lane);
  };
  const std::uint32_t bx = std::max(place.block[0], 1u), by = std::max(place.block[1], 1u);
  switch (which) {
    case Special::tid_x:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = thread(i) % bx;
      return out;
    case Special::tid_y:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = thread(i) / bx % by;
      return out;
    case Special::tid_z:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = thread(i) / bx / by;
      return out;
    case Special::ctaid_x: return Lanes::of(place.id[0]);
    case Special::ctaid_y: return Lanes::of(place.id[1]);
    case Special::ctaid_z: return Lanes::of(place.id[2]);
    case Special::ntid_x: return Lanes::of(place.block[0] | place.block[1] << 16);
    case Special::lane_id:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = static_cast<std::uint32_t>(i);
      return out;
    case Special::warp_id: return Lanes::of(static_cast<std::uint32_t>(w.around.warp));
    case Special::cga_cta_id: return Lanes::of(0);
    case Special::lane_mask_lt:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = (1u << i) - 1;
      return out;
    case Special::lane_mask_le:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = (2u << i) - 1;
      return out;
    case Special::lane_mask_gt:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = ~((2u << i) - 1);
      return out;
    case Special::lane_mask_ge:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = ~((1u << i) - 1);
      return out;
    case Special::lane_mask_eq:
      for (std::size_t i = 0; i < 32; ++i) out.value[i] = 1u << i;
      return out;
    case Special::zero: return Lanes::of(0);
    case Special::clock:
    case Special::unknown: return Lanes::unknown();
  }
  return Lanes::unknown();
}

void load_shared(const Work& w) {
  const int words = std::max(1, w.step.bytes / 4);
  const Operand* from = nullptr;
  for (std::size_t i = 0; i < w.in.operands; ++i)
    if (w.in.operand[i].kind == Kind::memory) from = &w.in.operand[i];
  for (int n = 0; n < words; ++n) {
    Lanes out = Lanes::unknown();
    if (from != nullptr && w.around.shared != nullptr && w.step.bytes >= 4) {
      const Wide address = address_of(w.to, *from, false);
      for (std::size_t i = 0; i < 32; ++i) {
        if ((address.known >> i & 1) == 0) continue;
        const auto at =
            w.around.shared->find(static_cast<std::uint32_t>(address.value[i]) + 4 * static_cast<std::uint32_t>(n));
        if (at == w.around.shared->end()) continue;
        out.value[i] = at->second;
        out.known |= 1u << i;
      }
    }
    w.set(out, n);
  }
}

void store_shared(const Work& w) {
  if (w.around.shared == nullptr || w.in.operands < 2 || w.in.operand[0].kind != Kind::memory || w.step.bytes < 4)
    return;
  const Wide address = address_of(w.to, w.in.operand[0], false);
  for (int n = 0; n < w.step.bytes / 4; ++n) {
    Operand data = w.in.operand[1];
    if (data.index != zero_register) data.index = static_cast<std::int16_t>(data.index + n);
    const Lanes v = value_of(w.to, w.around, data);
    for (std::size_t i = 0; i < 32; ++i) {
      if ((w.lanes >> i & 1) == 0 || (address.known >> i & 1) == 0) continue;
      const std::uint32_t at = static_cast<std::uint32_t>(address.value[i]) + 4 * static_cast<std::uint32_t>(n);
      if ((v.known >> i & 1) != 0)
        (*w.around.shared)[at] = v.value[i];
      else
        w.around.shared->erase(at);
    }
  }
}

// Spills: one offset for all lanes.
void local(const Work& w, bool loads) {
  const Operand* where = nullptr;
  const Operand* data = nullptr;
  for (std::size_t i = 0; i < w.in.operands; ++i)
    (w.in.operand[i].kind == Kind::memory ? where : data) = &w.in.operand[i];
  for (int n = 0; n < std::max(1, w.step.bytes / 4); ++n) {
    const Wide address = where != nullptr ? address_of(w.to, *where, false) : Wide{};
    const bool same = address.known == all_lanes &&
                      std::ranges::all_of(address.value, [&](std::uint64_t v) { return v == address.value[0]; });
    const std::uint32_t at = static_cast<std::uint32_t>(address.value[0]) + 4 * static_cast<std::uint32_t>(n);
    if (loads) {
      const auto known = w.to.local.find(at);
      w.set(same && w.step.bytes >= 4 && known != w.to.local.end() ? known->second : Lanes::unknown(), n);
    } else if (!same) {
      w.to.local.clear();
    } else if (data != nullptr) {
      Operand each = *data;
      if (each.index != zero_register) each.index = static_cast<std::int16_t>(each.index + n);
      Lanes v = value_of(w.to, w.around, each);
      if (w.step.bytes < 4) v.known = 0;
      if (w.lanes != all_lanes) v.known &= w.lanes;
      w.to.local[at] = v;
    }
  }
}

void load_global(const Work& w) {
  const Operand* from = nullptr;
  for (std::size_t i = 0; i < w.in.operands; ++i)
    if (w.in.operand[i].kind == Kind::memory) from = &w.in.operand[i];
  const auto assumed = w.around.launch->assumptions.find(w.in.address);
  const int words = std::max(1, w.step.bytes / 4);
  const Wide address = from != nullptr ? address_of(w.to, *from, true) : Wide{{}, 0};
  for (int n = 0; n < words; ++n) {
    Lanes out = Lanes::unknown();
    if (assumed != w.around.launch->assumptions.end() && assumed->second.value) {
      out = Lanes::of(static_cast<std::uint32_t>(*assumed->second.value >> (32 * std::min(n, 1))));
    } else {
      for (std::size_t i = 0; i < 32; ++i) {
        if ((address.known & w.lanes) >> i % 32 == 0 || ((address.known & w.lanes) >> i & 1) == 0) continue;
        const auto v = w.around.memory->load(address.value[i], w.step.bytes, n);
        if (!v) continue;
        out.value[i] = *v;
        out.known |= 1u << i;
      }
    }
    w.set(out, n);
  }
}

void load_constant(const Work& w) {
  const Operand& from = w.source(0);
  for (int n = 0; n < w.step.width; ++n) {
    Operand each = from;
    each.value += 4 * n;
    Lanes v = each.kind == Kind::constant ? value_of(w.to, w.around, each) : Lanes::unknown();
    if (w.in.has("U8") || w.in.has("S8") || w.in.has("U16") || w.in.has("S16")) {
      const bool byte = w.in.has("U8") || w.in.has("S8"), is_signed = w.in.has("S8") || w.in.has("S16");
      v = map(v, [byte, is_signed](std::uint32_t x) {
        const int keep = byte ? 24 : 16;
        return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(x << keep) >> keep) : x << keep >> keep;
      });
    }
    w.set(v, n);
  }
}

void opaque(const Work& w) {
  for (int n = 0; n < w.step.width; ++n) w.set(Lanes::unknown(), n);
  for (std::size_t n = 0; n < 2; ++n) w.set(Predicate{0, 0}, n);
}

// HFMA2.MMA R2, -RZ, RZ, 0, 5.96e-8 and the like: the compiler's way to put a constant into a register.
void half_constant(const Work& w) {
  const bool zeros = w.in.base == "HFMA2" && w.sources() >= 4 && w.source(0).index == zero_register &&
                     w.source(1).index == zero_register && w.source(0).kind == Kind::reg &&
                     w.source(1).kind == Kind::reg && w.source(2).kind == Kind::integer &&
                     w.source(3).kind == Kind::integer;
  if (!zeros) return opaque(w);
  const auto half_of = [](const Operand& o) -> std::uint32_t {
    const double f =
        o.is_float ? static_cast<double>(as_float(static_cast<std::uint32_t>(o.value))) : static_cast<double>(o.value);
    const std::uint32_t sign = std::signbit(f) ? 0x8000 : 0;
    const double magnitude = std::abs(f);
    if (std::isnan(f)) return 0x7fff;
    if (magnitude == 0) return sign;
    if (magnitude >= 65520) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
    if (exponent < -13) return sign | static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 24)));
    const auto mantissa =
        static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));  // 1024 to 2048
    return sign | ((static_cast<std::uint32_t>(exponent + 14) << 10) + (mantissa - 1024));
  };
  // Printed from the words, floats lose nothing: 16 bits in seven digits. The high half comes first.
  w.set(Lanes::of(half_of(w.source(2)) << 16 | half_of(w.source(3))));
}

}  // namespace

Registers::Registers() {
  for (Lanes& each : r) each = Lanes::unknown();
  for (Lanes& each : u) each = Lanes::unknown();
  r[zero_register] = u[zero_register] = Lanes::of(0);
  for (Predicate& each : p) each = {0, 0};
  for (Predicate& each : up) each = {0, 0};
  p[true_predicate] = up[true_predicate] = {all_lanes, all_lanes};
}

Predicate predicate_of(const Registers& registers, const Operand& operand) {
  if (operand.kind != Kind::pred && operand.kind != Kind::upred) return {0, 0};
  Predicate out =
      (operand.kind == Kind::pred ? registers.p : registers.up)[static_cast<std::size_t>(operand.index & 7)];
  if (operand.negated) out.bits = ~out.bits & out.known;
  return out;
}

Guard guard_of(const Registers& registers, const Instruction& in, std::uint32_t active) {
  if (in.guard < 0) return {active, 0};
  const Predicate& p = (in.guard_uniform ? registers.up : registers.p)[static_cast<std::size_t>(in.guard & 7)];
  const std::uint32_t bits = in.guard_negated ? ~p.bits : p.bits;
  return {active & p.known & bits, active & ~p.known};
}

Lanes value_of(const Registers& registers, const Surroundings& around, const Operand& operand) {
  Lanes out;
  switch (operand.kind) {
    case Kind::reg: out = registers.r[static_cast<std::size_t>(operand.index)]; break;
    case Kind::ureg: out = registers.u[static_cast<std::size_t>(operand.index)]; break;
    case Kind::integer: return Lanes::of(static_cast<std::uint32_t>(operand.value));
    case Kind::constant: {
      if (operand.index != 0 || operand.descriptor >= 0 || operand.uniform >= 0) {
        // An indexed constant: known where one index holds for all lanes.
        if (operand.index != 0) return Lanes::unknown();
        const Lanes& base = operand.descriptor >= 0 ? registers.r[static_cast<std::size_t>(operand.descriptor)]
                                                    : registers.u[static_cast<std::size_t>(operand.uniform)];
        out.known = 0;
        for (std::size_t i = 0; i < 32; ++i) {
          if ((base.known >> i & 1) == 0) continue;
          const auto v = around.memory->constant(operand.value + static_cast<std::int32_t>(base.value[i]));
          if (v) out.value[i] = *v, out.known |= 1u << i;
        }
        break;
      }
      const auto v = around.memory->constant(operand.value);
      if (!v) return Lanes::unknown();
      out = Lanes::of(*v);
      break;
    }
    case Kind::label: return Lanes::of(static_cast<std::uint32_t>(operand.value));
    case Kind::none:
    case Kind::pred:
    case Kind::upred:
    case Kind::barrier:
    case Kind::special:
    case Kind::memory:
    case Kind::other: return Lanes::unknown();
  }
  if (operand.inverted) out = map(out, [](std::uint32_t v) { return ~v; });
  if (operand.negated) out = map(out, [](std::uint32_t v) { return 0 - v; });
  return out;
}

Wide address_of(const Registers& registers, const Operand& operand, bool is_global) {
  Wide out;
  const auto offset = static_cast<std::uint64_t>(operand.value);
  if (operand.index == zero_register) {
    out.value.fill(0);
  } else {
    const Lanes& low = registers.r[static_cast<std::size_t>(operand.index)];
    if (operand.wide && operand.index + 1 < zero_register) {
      out = joined(low, registers.r[static_cast<std::size_t>(operand.index + 1)]);
    } else {
      out = joined(low, Lanes::of(0));
      for (std::uint64_t& v : out.value) v *= operand.scale;
    }
  }
  if (operand.uniform >= 0 && operand.uniform != zero_register) {
    const Lanes& low = registers.u[static_cast<std::size_t>(operand.uniform)];
    const Lanes zero = Lanes::of(0);
    const Lanes& high = is_global ? registers.u[static_cast<std::size_t>(operand.uniform + 1)] : zero;
    const Wide base = joined(low, high);
    for (std::size_t i = 0; i < 32; ++i) out.value[i] += base.value[i];
    out.known &= base.known;
  }
  for (std::uint64_t& v : out.value) {
    v += offset;
    if (!is_global) v &= 0xffffff;  // the window of the CTA's own shared memory
  }
  return out;
}

void carry_out(Registers& registers, const Surroundings& around, const Step& step, std::uint32_t active) {
  const Guard guard = guard_of(registers, *step.in, step.uniform ? all_lanes : active);
  if (guard.holds == 0 && guard.unknown == 0) return;
  const Work w{registers, around, step, *step.in, guard.holds | guard.unknown, guard.unknown};
  note_bend(w);
  switch (step.semantics) {
    case S::nothing: return;
    case S::opaque: return opaque(w);
    case S::mov: {
      if (step.width > 1) return set_wide(w, w.pair(0, false));
      return w.set(w.value(0));
    }
    case S::iadd: return iadd(w);
    case S::imad: return imad(w);
    case S::lea: return lea(w);
    case S::lop3: return lop3(w);
    case S::plop3: return plop3(w);
    case S::shift: return shift(w);
    case S::prmt: return prmt(w);
    case S::isetp: return isetp(w);
    case S::fsetp: return fsetp(w);
    case S::sel: return w.set(selected(w.predicate(2), w.value(0), w.value(1)));
    case S::minmax: return w.set(smaller_or_larger(*step.in, w.value(0), w.value(1), w.predicate(2)));
    case S::add_minmax: {
      const Lanes sum = map(w.value(0), w.value(1), std::plus<>{});
      return w.set(smaller_or_larger(*step.in, sum, w.value(2), w.predicate(3)));
    }
    case S::iabs: return w.set(map(w.value(0), [](std::uint32_t v) { return v >> 31 != 0 ? 0 - v : v; }));
    case S::int_to_float: return int_to_float(w);
    case S::float_to_int: return float_to_int(w);
    case S::mufu: {
      Lanes out = map(w.real(0), [](std::uint32_t v) { return as_bits(1.0f / as_float(v)); });
      if (step.in->modifiers != ".RCP") out.known = 0;
      return w.set(out);
    }
    case S::fadd:
      return w.set(map(w.real(0), w.real(1),
                       [](std::uint32_t a, std::uint32_t b) { return as_bits(as_float(a) + as_float(b)); }));
    case S::fmul:
      return w.set(map(w.real(0), w.real(1),
                       [](std::uint32_t a, std::uint32_t b) { return as_bits(as_float(a) * as_float(b)); }));
    case S::ffma:
      return w.set(map(w.real(0), w.real(1), w.real(2), [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        return as_bits(std::fma(as_float(a), as_float(b), as_float(c)));
      }));
    case S::half_constant: return half_constant(w);
    case S::special_register:
      return w.set(
          special(w, static_cast<Special>(w.source(0).kind == Kind::special ? w.source(0).index
                                                                            : static_cast<int>(Special::unknown))));
    case S::zero_or_clock: {
      const Lanes v =
          special(w, static_cast<Special>(w.source(0).kind == Kind::special ? w.source(0).index
                                                                            : static_cast<int>(Special::unknown)));
      for (int n = 0; n < step.width; ++n) w.set(v, n);
      return;
    }
    case S::load_constant: return load_constant(w);
    case S::popc:
      return w.set(map(w.value(0), [](std::uint32_t v) { return static_cast<std::uint32_t>(std::popcount(v)); }));
    case S::find_leading_one: {
      const bool is_unsigned = step.in->has("U32"), as_shift = step.in->has("SH");
      return w.set(map(w.value(0), [=](std::uint32_t v) {
        if (!is_unsigned && v >> 31 != 0) v = ~v;
        if (v == 0) return all_lanes;
        const auto zeros = static_cast<std::uint32_t>(std::countl_zero(v));
        return as_shift ? zeros : 31 - zeros;
      }));
    }
    case S::reverse_bits:
      return w.set(map(w.value(0), [](std::uint32_t v) {
        std::uint32_t out = 0;
        for (int i = 0; i < 32; ++i) out |= (v >> i & 1) << (31 - i);
        return out;
      }));
    case S::bit_mask:
      return w.set(map(w.value(0), w.value(1), [](std::uint32_t at, std::uint32_t length) {
        const std::uint64_t mask = length >= 32 ? 0xffffffffULL : (std::uint64_t{1} << length) - 1;
        return at >= 32 ? 0u : static_cast<std::uint32_t>(mask << at);
      }));
    case S::sign_extend: {
      const bool is_unsigned = step.in->has("U32");
      return w.set(map(w.value(0), w.value(1), [is_unsigned](std::uint32_t v, std::uint32_t bits) {
        if (bits == 0) return 0u;
        if (bits >= 32) return v;
        const std::uint32_t keep = 32 - bits;
        return is_unsigned ? v << keep >> keep
                           : static_cast<std::uint32_t>(static_cast<std::int32_t>(v << keep) >> keep);
      }));
    }
    case S::vote: return vote(w);
    case S::shuffle: return shuffle(w);
    case S::match: return match(w);
    case S::reduce: return reduce(w);
    case S::predicates_from_register: return predicates_from_register(w);
    case S::register_from_predicates: return register_from_predicates(w);
    case S::to_uniform: {
      const Lanes v = w.value(0);
      const auto lane = static_cast<std::size_t>(std::countr_zero(active == 0 ? 1u : active));
      Lanes out = Lanes::of(v.value[lane]);
      if ((v.known >> lane & 1) == 0) out.known = 0;
      return w.set(out);
    }
    case S::elect: {
      const std::uint32_t lane = static_cast<std::uint32_t>(std::countr_zero(active == 0 ? 1u : active));
      w.set(Lanes::of(lane));
      return w.set(Predicate{1u << lane, all_lanes}, 0);
    }
    case S::load_shared: return load_shared(w);
    case S::store_shared: return store_shared(w);
    case S::load_global: return load_global(w);
    case S::load_local: return local(w, true);
    case S::store_local: return local(w, false);
    case S::atomic_shared:
    case S::atomic_global:
    case S::load_matrix: return opaque(w);
    case S::try_wait: {
      opaque(w);
      return w.set(Predicate{all_lanes, all_lanes}, 0);
    }
    case S::store_global:
    case S::copy_to_shared:
    case S::store_matrix:
    case S::branch:
    case S::branch_indexed:
    case S::exit:
    case S::push_convergence:
    case S::converge:
    case S::leave_convergence:
    case S::move_convergence:
    case S::call:
    case S::ret:
    case S::barrier:
    case S::warp_sync: return;
  }
}

}  // namespace noteg::compiled
