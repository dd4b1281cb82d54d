#include "kernels/compiled/emulator/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace noteg::compiled {
namespace {

using S = Semantics;

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
    case S::load_indexed:
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

}  // namespace

void write(Registers& to, const Operand& operand, const Lanes& value, std::uint32_t lanes, std::uint32_t unknown,
           int offset) {
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

Wide joined(const Lanes& low, const Lanes& high) {
  Wide out;
  for (std::size_t i = 0; i < 32; ++i) out.value[i] = std::uint64_t{high.value[i]} << 32 | low.value[i];
  out.known = low.known & high.known;
  return out;
}

Wide Work::pair(const Operand& o, bool is_signed) const {
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

bool carries_out(const Work& w) {
  for (std::size_t i = 0; i < w.step.destinations; ++i) {
    const Operand& o = w.in.operand[i];
    if ((o.kind == Kind::pred || o.kind == Kind::upred) && o.index < true_predicate) return true;
  }
  return false;
}

// What goes into an operation that is no sum: where it changes, so may the rule by which the result does. And what is
// compared behind one. Values that nobody knows decide nothing.
void note_bend(const Work& w) {
  mark_bent(w);
  const bool compared = w.step.semantics == S::isetp;
  if (w.around.decisions == nullptr || (!compared && !bends(w))) return;
  for (std::size_t i = w.first(); i < w.in.operands; ++i) {
    const Operand& o = w.in.operand[i];
    if ((o.kind != Kind::reg && o.kind != Kind::ureg) || o.index == zero_register) continue;
    if (compared && !is_bent(w.to, o)) continue;
    const Lanes v = value_of(w.to, w.around, o);
    if ((v.known & w.lanes) == 0) continue;
    Decisions::Entry entry{&w.in, v.known & w.lanes, {}, compared, !compared};
    for (std::size_t lane = 0; lane < 32; ++lane) entry.difference[lane] = v.value[lane];
    w.around.decisions->entries.push_back(entry);
  }
}

void opaque(const Work& w) {
  for (int n = 0; n < w.step.width; ++n) w.set(Lanes::unknown(), n);
  for (std::size_t n = 0; n < 2; ++n) w.set(Predicate{0, 0}, n);
}

}  // namespace noteg::compiled
