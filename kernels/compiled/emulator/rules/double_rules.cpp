// Numbers of 64 bits: a pair of registers, the low half first.
#include <cmath>

#include "kernels/compiled/emulator/work.hpp"

namespace noteg::compiled {
// A source of 64 bits, with its sign as written.
Wide double_source(const Work& w, std::size_t i) {
  const Operand& o = w.source(i);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  Wide out;
  if (o.kind == Kind::integer) {
    out.value.fill(as_bits(o.number()));
  } else {
    Operand plain = o;
    plain.negated = plain.absolute = false;
    out = w.pair(plain, false);
  }
  for (std::uint64_t& v : out.value) v = (o.absolute ? v & ~sign : v) ^ (o.negated ? sign : 0);
  return out;
}

void double_arithmetic(const Work& w) {
  using Bits = std::uint64_t;
  const Wide a = double_source(w, 0), b = double_source(w, 1);
  if (w.in.base == "DADD")
    return set_wide(w, map(a, b, [](Bits x, Bits y) { return as_bits(as_double(x) + as_double(y)); }));
  if (w.in.base == "DMUL")
    return set_wide(w, map(a, b, [](Bits x, Bits y) { return as_bits(as_double(x) * as_double(y)); }));
  set_wide(w, map(a, b, double_source(w, 2),
                  [](Bits x, Bits y, Bits z) { return as_bits(std::fma(as_double(x), as_double(y), as_double(z))); }));
}

void double_compare(const Work& w) {
  const Wide a = double_source(w, 0), b = double_source(w, 1);
  set_comparison(w, a.known & b.known,
                 [&](std::size_t i) { return std::pair(as_double(a.value[i]), as_double(b.value[i])); });
}

// F2F between numbers of 32 and of 64 bits.
void convert_number(const Work& w) {
  if (w.in.has("F16") || w.in.has("BF16") || !w.in.has("F64")) return opaque(w);
  if (w.step.width > 1) {
    const Lanes from = w.real(0);
    Wide out;
    out.known = from.known;
    for (std::size_t i = 0; i < 32; ++i) out.value[i] = as_bits(static_cast<double>(as_float(from.value[i])));
    return set_wide(w, out);
  }
  const Wide from = double_source(w, 0);
  Lanes out;
  out.known = from.known;
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = as_bits(static_cast<float>(as_double(from.value[i])));
  w.set(out);
}

}  // namespace noteg::compiled
