// One instruction's operands, results and lanes: what the rules of the emulator work on (integer_rules, number_rules,
// lane_rules, memory_rules), and what they note where a loop may be skipped.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/compiled/emulator/machine.hpp"

namespace noteg::compiled {

inline float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t as_bits(float f) { return std::bit_cast<std::uint32_t>(f); }
inline double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint64_t as_bits(double f) { return std::bit_cast<std::uint64_t>(f); }

void write(Registers& to, const Operand& operand, const Lanes& value, std::uint32_t lanes, std::uint32_t unknown,
           int offset = 0);
void write(Registers& to, const Operand& operand, Predicate value, std::uint32_t lanes, std::uint32_t unknown);

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
    if (o.kind == Kind::integer && !o.is_float)
      o.value = static_cast<std::int64_t>(as_bits(static_cast<float>(o.number())));
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
  // A source of 64 bits that stands as its first register.
  [[nodiscard]] Wide pair(const Operand& o, bool is_signed) const;
  [[nodiscard]] Wide pair(std::size_t i, bool is_signed) const { return pair(source(i), is_signed); }
};

[[nodiscard]] Wide joined(const Lanes& low, const Lanes& high);
void set_wide(const Work& w, const Wide& v);

// Differences that decide, by lane: of compared values, and of sums from carrying.
template <class F>
void decide(const Work& w, std::uint32_t known, F difference) {
  if (w.around.decisions == nullptr || (known & w.lanes) == 0) return;
  Decisions::Entry entry{&w.in, known & w.lanes, {}, false, false};
  for (std::size_t i = 0; i < 32; ++i) entry.difference[i] = difference(i);
  w.around.decisions->entries.push_back(entry);
}
[[nodiscard]] bool carries_out(const Work& w);
// What goes into an operation that is no sum.
void note_bend(const Work& w);

void opaque(const Work& w);

// integer_rules.cpp
void iadd(const Work& w);
void imad(const Work& w);
void lea(const Work& w);
void lop3(const Work& w);
void plop3(const Work& w);
void shift(const Work& w);
void prmt(const Work& w);
void isetp(const Work& w);
void minmax(const Work& w, bool adds);
void bits(const Work& w);
[[nodiscard]] Lanes selected(Predicate p, const Lanes& a, const Lanes& b);
[[nodiscard]] Predicate combined(const Instruction& in, Predicate p, Predicate with);

// What a comparison writes: of the numbers of each lane, `of`, a pair of doubles.
template <class F>
void set_comparison(const Work& w, std::uint32_t known, F of) {
  const Predicate with = w.sources() > 2 ? w.predicate(2) : Predicate{all_lanes, all_lanes};
  const bool unordered = w.in.modifiers.find("U.") != std::string_view::npos;
  Predicate p;
  p.known = known;
  for (std::size_t i = 0; i < 32; ++i) {
    const auto [x, y] = of(i);
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

// number_rules.cpp
void fsetp(const Work& w);
void check_division(const Work& w);
void int_to_float(const Work& w);
void float_to_int(const Work& w);
void arithmetic(const Work& w);
void half_constant(const Work& w);

// double_rules.cpp
[[nodiscard]] Wide double_source(const Work& w, std::size_t i);
void double_arithmetic(const Work& w);
void double_compare(const Work& w);
void convert_number(const Work& w);

// lane_rules.cpp
void special_register(const Work& w);
void vote(const Work& w, std::uint32_t active);
void bring_vote(const Work& w);
void result_of_votes(const Work& w);
void shuffle(const Work& w);
void match(const Work& w);
void reduce(const Work& w);
void predicates_from_register(const Work& w);
void register_from_predicates(const Work& w);
void to_uniform(const Work& w, std::uint32_t active);
void elect(const Work& w, std::uint32_t active);

// memory_rules.cpp
void load_shared(const Work& w);
void store_shared(const Work& w);
void local(const Work& w, bool loads);
void load_global(const Work& w);
void load_constant(const Work& w);
void atomic_shared(const Work& w);
void atomic_global(const Work& w);

}  // namespace noteg::compiled
