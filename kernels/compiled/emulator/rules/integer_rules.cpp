#include "kernels/compiled/emulator/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace noteg::compiled {
namespace {

using S = Semantics;

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

bool compares(const Instruction& in, std::int64_t a, std::int64_t b) {
  if (in.has("LT")) return a < b;
  if (in.has("LE")) return a <= b;
  if (in.has("GT")) return a > b;
  if (in.has("GE")) return a >= b;
  if (in.has("EQ")) return a == b;
  if (in.has("NE")) return a != b;
  return in.has("T");
}

// Of a sum, how far it is from carrying out of its word.
std::int64_t from_carrying(std::uint64_t total) { return static_cast<std::int64_t>(total) - (std::int64_t{1} << 32); }

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

// UIADD3.64 d, a, b, c: of pairs of registers.
void add_pairs(const Work& w) {
  Wide sum = w.pair(0, false);
  for (std::size_t source = 1; source < w.sources(); ++source) {
    const Wide more = w.pair(source, false);
    sum.known &= more.known;
    for (std::size_t i = 0; i < 32; ++i) sum.value[i] += more.value[i];
  }
  set_wide(w, sum);
}

}  // namespace

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

Lanes selected(Predicate p, const Lanes& a, const Lanes& b) {
  Lanes out;
  out.known = (a.known & p.bits & p.known) | (b.known & ~p.bits & p.known);
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = (p.bits >> i & 1) != 0 ? a.value[i] : b.value[i];
  return out;
}

void iadd(const Work& w) {
  if (w.in.has("64")) return add_pairs(w);
  const bool extended = w.in.has("X");
  std::array<Addend, 3> a{addend(w, 0, extended), addend(w, 1, extended), {}};
  const bool three = w.sources() > 2 && w.source(2).kind != Kind::pred && w.source(2).kind != Kind::upred;
  if (three) a[2] = addend(w, 2, extended);
  const Predicate c0 = extended ? w.carry(0) : Predicate{}, c1 = extended ? w.carry(1) : Predicate{};
  const Lanes &x = a[0].value, &y = a[1].value, &z = a[2].value;
  const std::uint32_t ones = a[0].one + a[1].one + a[2].one;
  Lanes sum;
  sum.known = x.known & y.known & z.known & c0.known & c1.known;
  for (std::size_t i = 0; i < 32; ++i)
    sum.value[i] = x.value[i] + y.value[i] + z.value[i] + ones + (c0.bits >> i & 1) + (c1.bits >> i & 1);
  if (!carries_out(w)) return w.set(sum);
  const auto total = [&](std::size_t i) {
    return std::uint64_t{x.value[i]} + y.value[i] + z.value[i] + ones + (c0.bits >> i & 1) + (c1.bits >> i & 1);
  };
  Predicate out0, out1;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t carried = total(i) >> 32;
    out0.bits |= static_cast<std::uint32_t>(carried >= 1) << i;
    out1.bits |= static_cast<std::uint32_t>(carried >= 2) << i;
  }
  decide(w, sum.known, [&](std::size_t i) { return from_carrying(total(i)); });
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
  if (!wide && !high) {
    const Lanes c = w.value(2);
    Lanes out = map(a, b, c, [](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return x * y + z; });
    for (std::size_t i = 0; i < 32; ++i) out.value[i] += in.bits >> i & 1;
    out.known &= in.known;
    return w.set(out);
  }
  const Wide c = w.pair(2, false);
  Wide out;
  Predicate carry;
  out.known = carry.known = a.known & b.known & c.known & in.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t product = is_unsigned
                                      ? std::uint64_t{a.value[i]} * b.value[i]
                                      : static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a.value[i])} *
                                                                   std::int64_t{static_cast<std::int32_t>(b.value[i])});
    out.value[i] = product + c.value[i] + (in.bits >> i & 1);
    carry.bits |= static_cast<std::uint32_t>(out.value[i] < product) << i;
  }
  carry.bits &= carry.known;
  w.set(carry, 0);
  if (wide) return set_wide(w, out);
  Lanes low;
  low.known = out.known;
  for (std::size_t i = 0; i < 32; ++i) low.value[i] = static_cast<std::uint32_t>(out.value[i] >> 32);
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
  const Lanes shift = w.value(shift_at);
  const Predicate in = extended ? w.carry(0) : Predicate{};
  Lanes part;
  if (high) {
    const Lanes c = !from_sign ? w.value(2) : map(a, [](std::uint32_t v) { return v >> 31 != 0 ? ~0u : 0u; });
    part = map(a, c, shift, [](std::uint32_t low, std::uint32_t top, std::uint32_t by) {
      return static_cast<std::uint32_t>((std::uint64_t{top} << 32 | low) << (by & 31) >> 32);
    });
  } else {
    part = map(a, shift, [](std::uint32_t v, std::uint32_t by) { return v << (by & 31); });
  }
  if (minus) part = map(part, [](std::uint32_t v) { return ~v; });
  const std::uint32_t one = minus && !extended ? 1 : 0;
  Lanes out;
  out.known = part.known & b.known & in.known;
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = part.value[i] + b.value[i] + (one | (in.bits >> i & 1));
  if (!carries_out(w)) return w.set(out);
  const auto total = [&](std::size_t i) {
    return std::uint64_t{part.value[i]} + b.value[i] + (one | (in.bits >> i & 1));
  };
  Predicate carry;
  carry.known = out.known;
  for (std::size_t i = 0; i < 32; ++i) carry.bits |= static_cast<std::uint32_t>(total(i) >> 32) << i;
  decide(w, out.known, [&](std::size_t i) { return from_carrying(total(i)); });
  w.set(out);
  w.set(carry, 0);
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
  // A half that is written into a register beside what lay there is a number of 16 bits: no one reads the rest.
  constexpr std::uint32_t into_low_half = 0x7610;
  const Operand& to = w.in.operand[0];
  const bool keeps = w.sources() > 2 && w.source(2).kind == Kind::reg && w.source(2).index == to.index;
  for (std::size_t i = 0; keeps && i < 32; ++i)
    if (selector.value[i] == into_low_half) out.known |= a.known & selector.known & 1u << i;
  if (!w.in.modifiers.empty()) out.known = 0;
  w.set(out);
}

void isetp(const Work& w) {
  const Lanes a = w.value(0), b = w.value(1);
  const bool is_unsigned = w.in.has("U32"), extended = w.in.has("EX");
  const Predicate with = w.sources() > 2 ? w.predicate(2) : Predicate{all_lanes, all_lanes};
  const Predicate low = extended && w.sources() > 3 ? w.predicate(3) : Predicate{};
  Predicate p;
  const auto number = [is_unsigned](std::uint32_t v) {
    return is_unsigned ? std::int64_t{v} : std::int64_t{static_cast<std::int32_t>(v)};
  };
  const auto difference = [&](std::size_t i) { return number(a.value[i]) - number(b.value[i]); };
  // By the sign of the difference.
  const bool below = compares(w.in, 0, 1), same = compares(w.in, 0, 0), above = compares(w.in, 1, 0);
  p.known = a.known & b.known & (extended ? low.known : all_lanes);
  for (std::size_t i = 0; i < 32; ++i) {
    const std::int64_t by = difference(i);
    const bool equal = extended ? (low.bits >> i & 1) != 0 : same;
    p.bits |= static_cast<std::uint32_t>(by < 0 ? below : by > 0 ? above : equal) << i;
  }
  decide(w, p.known, difference);
  p.bits &= p.known;
  const Predicate inverse{~p.bits & p.known, p.known};
  w.set(combined(w.in, p, with), 0);
  w.set(combined(w.in, inverse, with), 1);
}

void minmax(const Work& w, bool adds) {
  const Lanes sum = adds ? map(w.value(0), w.value(1), std::plus<>{}) : w.value(0);
  w.set(smaller_or_larger(w.in, sum, w.value(adds ? 2 : 1), w.predicate(adds ? 3 : 2)));
}

// POPC, FLO, BREV, BMSK, SGXT, IABS.
void bits(const Work& w) {
  const bool is_unsigned = w.in.has("U32");
  switch (w.step.semantics) {
    case S::popc:
      return w.set(map(w.value(0), [](std::uint32_t v) { return static_cast<std::uint32_t>(std::popcount(v)); }));
    case S::find_leading_one: {
      const bool as_shift = w.in.has("SH");
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
    case S::sign_extend:
      return w.set(map(w.value(0), w.value(1), [is_unsigned](std::uint32_t v, std::uint32_t kept) {
        if (kept == 0) return 0u;
        if (kept >= 32) return v;
        const std::uint32_t keep = 32 - kept;
        return is_unsigned ? v << keep >> keep
                           : static_cast<std::uint32_t>(static_cast<std::int32_t>(v << keep) >> keep);
      }));
    default: return w.set(map(w.value(0), [](std::uint32_t v) { return v >> 31 != 0 ? 0 - v : v; }));
  }
}

}  // namespace noteg::compiled
