#include "kernels/compiled/emulator/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace noteg::compiled {
namespace {

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
    case Special::cga_cta_id: return Lanes::of(place.rank);
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
    case Special::shared_window: return Lanes::of(0x7f);  // any that no buffer has
    case Special::clock:
    case Special::unknown: return Lanes::unknown();
  }
  return Lanes::unknown();
}

}  // namespace

// S2R, CS2R.
void special_register(const Work& w) {
  const Operand& from = w.source(0);
  const Lanes v = special(w, from.kind == Kind::special ? static_cast<Special>(from.index) : Special::unknown);
  const int registers = w.step.semantics == Semantics::zero_or_clock ? w.step.width : 1;
  for (int n = 0; n < registers; ++n) w.set(v, n);
}

// The first lane that takes part gives its value. R2UR P0, UR4, R2 says of each lane whether its own is another, so
// that a loop can go on with those.
void to_uniform(const Work& w, std::uint32_t active) {
  const Lanes v = w.value(0);
  const std::uint32_t lanes = (w.lanes & active) != 0 ? w.lanes & active : active;
  const auto lane = static_cast<std::size_t>(std::countr_zero(lanes == 0 ? 1u : lanes));
  const bool known = (v.known >> lane & 1) != 0;
  Lanes out = Lanes::of(v.value[lane]);
  if (!known) out.known = 0;
  if (w.in.operands > 0 && w.in.operand[0].kind == Kind::pred) {
    Predicate other = w.in.has("OR") ? predicate_of(w.to, w.in.operand[0]) : Predicate{0, all_lanes};
    for (std::size_t i = 0; i < 32; ++i) other.bits |= static_cast<std::uint32_t>(v.value[i] != v.value[lane]) << i;
    other.known = known ? other.known & v.known : 0;
    other.bits &= other.known;
    w.set(other, 0);
  }
  for (std::size_t i = 0; i < w.step.destinations; ++i)
    if (w.in.operand[i].kind == Kind::ureg)
      write(w.to, w.in.operand[i], out, all_lanes, w.unknown != 0 ? all_lanes : 0);
}

void elect(const Work& w, std::uint32_t active) {
  const std::uint32_t lanes = w.lanes & active;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes == 0 ? 1u : lanes));
  w.set(Lanes::of(lane));
  w.set(Predicate{1u << lane, all_lanes}, 0);
}

void vote(const Work& w, std::uint32_t active) {
  const Predicate p =
      predicate_of(w.to, w.in.operand[static_cast<std::size_t>(w.in.operands > 0 ? w.in.operands - 1 : 0)]);
  const std::uint32_t lanes = w.lanes & active;  // on the uniform datapath too
  const bool known = (p.known & lanes) == lanes;
  const std::uint32_t ballot = p.bits & lanes;
  Lanes mask = Lanes::of(ballot);
  if (!known) mask.known = 0;
  w.set(mask);
  Predicate out;
  const bool all = ballot == lanes;
  out.bits = (w.in.has("ALL") ? all : w.in.has("EQ") ? all || ballot == 0 : ballot != 0) ? all_lanes : 0;
  out.known = known ? all_lanes : 0;
  out.bits &= out.known;
  w.set(out, 0);
}

void bring_vote(const Work& w) {
  if (!w.in.has("RED")) return;
  const Predicate p = predicate_of(w.to, w.in.operand[static_cast<std::size_t>(w.in.operands - 1)]);
  Ballots::Count& count = w.around.ballots->coming;
  count.ones += static_cast<std::uint32_t>(std::popcount(w.lanes & p.known & p.bits));
  count.zeros += static_cast<std::uint32_t>(std::popcount(w.lanes & p.known & ~p.bits));
  count.unknown += static_cast<std::uint32_t>(std::popcount(w.lanes & ~p.known));
  count.at = &w.in;
}

void result_of_votes(const Work& w) {
  opaque(w);
  const Ballots::Count& count = w.around.ballots->last;
  if (!w.in.has("RESULT") || count.at == nullptr) return;
  const bool of_all = count.at->has("AND"), of_any = count.at->has("OR");
  const bool settled = (of_all && count.zeros > 0) || (of_any && count.ones > 0);
  if (count.unknown > 0 && !settled) return;
  const bool holds = of_all ? count.zeros == 0 : count.ones > 0;
  w.set(Predicate{holds ? all_lanes : 0, all_lanes}, 0);
  w.set(Lanes::of(of_all || of_any ? static_cast<std::uint32_t>(holds) : count.ones));
  // Other warps vote as well: no iteration of a loop around it says what the next one does.
  if (w.around.decisions != nullptr) {
    Decisions::Entry entry{&w.in, 1, {}, true, false};
    entry.difference[0] = w.around.ballots->number;
    w.around.decisions->entries.push_back(entry);
  }
}

void shuffle(const Work& w) {
  const Lanes a = w.value(0), by = w.value(1), clamp = w.value(2);
  const bool idx = w.in.has("IDX"), up = w.in.has("UP"), down = w.in.has("DOWN");
  Lanes out = Lanes::unknown();
  Predicate inside;
  inside.known = by.known & clamp.known;
  for (std::size_t i = 0; i < 32; ++i) {
    const auto lane = static_cast<std::uint32_t>(i);
    const std::uint32_t segment = clamp.value[i] >> 8 & 31, limit = clamp.value[i] & 31, amount = by.value[i] & 31;
    const std::uint32_t most = (lane & segment) | (limit & ~segment), least = lane & segment;
    const std::uint32_t there = idx    ? (amount & ~segment) | least
                                : up   ? lane - amount
                                : down ? lane + amount
                                       : lane ^ amount;
    const bool fits = up ? static_cast<std::int32_t>(there) >= static_cast<std::int32_t>(most) : there <= most;
    const std::uint32_t from = (fits ? there : lane) & 31;
    inside.bits |= static_cast<std::uint32_t>(fits) << i;
    out.value[i] = a.value[from];
    out.known |= (a.known >> from & inside.known >> i & 1) << i;
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

}  // namespace noteg::compiled
