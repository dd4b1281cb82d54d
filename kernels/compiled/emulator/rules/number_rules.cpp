#include "kernels/compiled/emulator/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace noteg::compiled {
namespace {

using S = Semantics;

double rounded(const Work& w, double f) {
  return w.in.has("FLOOR")   ? std::floor(f)
         : w.in.has("CEIL")  ? std::ceil(f)
         : w.in.has("TRUNC") ? std::trunc(f)
                             : std::nearbyint(f);
}

// MUFU: as good as exact, for what is computed from it in turn.
Lanes of_one(const Work& w) {
  constexpr float turn = 6.2831853f;
  const std::string_view which = w.in.modifiers;
  // Upper halves of numbers of 64 bits.
  const auto of_double = [&](auto f) {
    return map(w.real(0), [f](std::uint32_t v) {
      return static_cast<std::uint32_t>(as_bits(f(as_double(std::uint64_t{v} << 32))) >> 32);
    });
  };
  if (which == ".RCP64H") return of_double([](double v) { return 1.0 / v; });
  if (which == ".RSQ64H") return of_double([](double v) { return 1.0 / std::sqrt(v); });
  const auto with = [&](auto f) { return map(w.real(0), [f](std::uint32_t v) { return as_bits(f(as_float(v))); }); };
  if (which == ".RCP") return with([](float v) { return 1.0f / v; });
  if (which == ".RSQ") return with([](float v) { return 1.0f / std::sqrt(v); });
  if (which == ".SQRT") return with([](float v) { return std::sqrt(v); });
  if (which == ".EX2") return with([](float v) { return std::exp2(v); });
  if (which == ".LG2") return with([](float v) { return std::log2(v); });
  if (which == ".SIN") return with([](float v) { return std::sin(turn * v); });
  if (which == ".COS") return with([](float v) { return std::cos(turn * v); });
  return Lanes::unknown();
}

}  // namespace

void fsetp(const Work& w) {
  const Lanes a = w.real(0), b = w.real(1);
  set_comparison(w, a.known & b.known, [&](std::size_t i) {
    return std::pair(static_cast<double>(as_float(a.value[i])), static_cast<double>(as_float(b.value[i])));
  });
}

// Whether a division needs its slow path: exponents of which the quotient, its remainder or the reciprocal of the
// divisor are no normal numbers.
void check_division(const Work& w) {
  const Lanes a = w.real(0), b = w.real(1);
  constexpr int least = -126, most = 126, precision = 24;
  const auto exponent = [](float v) { return std::isnormal(v) ? std::ilogb(v) : 2 * most; };
  Predicate p;
  p.known = a.known & b.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const int x = exponent(as_float(a.value[i])), y = exponent(as_float(b.value[i]));
    const bool slow = y < least || y >= most || x > most || x < least + precision || x - y >= most || x - y <= least;
    p.bits |= static_cast<std::uint32_t>(slow) << i;
  }
  p.bits &= p.known;
  w.set(p, 0);
}

void int_to_float(const Work& w) {
  const bool wide = w.in.has("U64") || w.in.has("S64"), is_unsigned = w.in.has("U32") || w.in.has("U64");
  const Wide v = wide ? w.pair(0, !is_unsigned) : joined(w.value(0), Lanes::of(0));
  if (w.in.has("F16") || w.in.has("BF16") || w.in.has("U8") || w.in.has("U16") || w.in.has("S8") || w.in.has("S16"))
    return opaque(w);
  const auto exact_of = [&](std::size_t i) {
    return wide          ? (is_unsigned ? static_cast<double>(v.value[i])
                                        : static_cast<double>(static_cast<std::int64_t>(v.value[i])))
           : is_unsigned ? static_cast<double>(static_cast<std::uint32_t>(v.value[i]))
                         : static_cast<double>(static_cast<std::int32_t>(v.value[i]));
  };
  if (w.in.has("F64")) {
    Wide out;
    out.known = v.known;
    for (std::size_t i = 0; i < 32; ++i) out.value[i] = as_bits(exact_of(i));
    return set_wide(w, out);
  }
  Lanes out;
  out.known = v.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const double exact = exact_of(i);
    float f = static_cast<float>(exact);
    if (w.in.has("RP") && static_cast<double>(f) < exact) f = std::nextafter(f, INFINITY);
    if (w.in.has("RM") && static_cast<double>(f) > exact) f = std::nextafter(f, -INFINITY);
    if (w.in.has("RZ") && std::abs(static_cast<double>(f)) > std::abs(exact)) f = std::nextafter(f, 0.0f);
    out.value[i] = as_bits(f);
  }
  w.set(out);
}

void float_to_int(const Work& w) {
  const bool is_double = w.in.has("F64"), wide = w.step.width > 1, is_unsigned = w.in.has("U32") || w.in.has("U64");
  const Lanes a = w.real(0);
  const Wide pair = is_double ? double_source(w, 0) : Wide{};
  Wide out;
  out.known = is_double ? pair.known : w.in.has("F16") ? 0 : a.known;
  for (std::size_t i = 0; i < 32; ++i) {
    double f = is_double ? as_double(pair.value[i]) : static_cast<double>(as_float(a.value[i]));
    if (std::isnan(f)) f = 0;
    f = rounded(w, f);
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

// Sums, products and reciprocals of known numbers: integer division goes through them.
void arithmetic(const Work& w) {
  switch (w.step.semantics) {
    case S::mufu: return w.set(of_one(w));
    case S::number_minmax: {
      const Predicate least = w.sources() > 2 ? w.predicate(2) : Predicate{all_lanes, all_lanes};
      const auto of = [](bool takes_less) {
        return [takes_less](std::uint32_t a, std::uint32_t b) {
          return as_bits(takes_less ? std::fmin(as_float(a), as_float(b)) : std::fmax(as_float(a), as_float(b)));
        };
      };
      return w.set(selected(least, map(w.real(0), w.real(1), of(true)), map(w.real(0), w.real(1), of(false))));
    }
    case S::number_select: return w.set(selected(w.predicate(2), w.real(0), w.real(1)));
    case S::number_round: {
      if (w.in.has("F16")) return opaque(w);
      if (w.in.has("F64"))
        return set_wide(w,
                        map(double_source(w, 0), [&](std::uint64_t v) { return as_bits(rounded(w, as_double(v))); }));
      return w.set(map(w.real(0), [&](std::uint32_t v) {
        return as_bits(static_cast<float>(rounded(w, static_cast<double>(as_float(v)))));
      }));
    }
    case S::fadd:
      return w.set(map(w.real(0), w.real(1),
                       [](std::uint32_t a, std::uint32_t b) { return as_bits(as_float(a) + as_float(b)); }));
    case S::fmul:
      return w.set(map(w.real(0), w.real(1),
                       [](std::uint32_t a, std::uint32_t b) { return as_bits(as_float(a) * as_float(b)); }));
    default:
      return w.set(map(w.real(0), w.real(1), w.real(2), [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        return as_bits(std::fma(as_float(a), as_float(b), as_float(c)));
      }));
  }
}

// HFMA2.MMA R2, -RZ, RZ, 0, 5.96e-8 and the like: the compiler's way to put a constant into a register.
void half_constant(const Work& w) {
  const bool zeros = w.in.base == "HFMA2" && w.sources() >= 4 && w.source(0).index == zero_register &&
                     w.source(1).index == zero_register && w.source(0).kind == Kind::reg &&
                     w.source(1).kind == Kind::reg && w.source(2).kind == Kind::integer &&
                     w.source(3).kind == Kind::integer;
  if (!zeros) return opaque(w);
  const auto half_of = [](const Operand& o) -> std::uint32_t {
    const double f = o.number();
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

}  // namespace noteg::compiled
