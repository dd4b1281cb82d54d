#include "kernels/compiled/emulator/machine.hpp"

#include <algorithm>

#include "kernels/compiled/emulator/work.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

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

namespace {

std::optional<std::uint32_t> entry(const std::map<std::int64_t, std::uint32_t>& tables, std::int64_t at) {
  const auto known = tables.find(at);
  return known != tables.end() ? std::optional(known->second) : std::nullopt;
}

}  // namespace

Lanes value_of(const Registers& registers, const Surroundings& around, const Operand& operand) {
  const bool is_reg = operand.kind == Kind::reg;
  if (!operand.inverted && !operand.negated && (is_reg || operand.kind == Kind::ureg))  // nearly all
    return (is_reg ? registers.r : registers.u)[static_cast<std::size_t>(operand.index)];
  Lanes out;
  switch (operand.kind) {
    case Kind::reg: out = registers.r[static_cast<std::size_t>(operand.index)]; break;
    case Kind::ureg: out = registers.u[static_cast<std::size_t>(operand.index)]; break;
    case Kind::integer: return Lanes::of(static_cast<std::uint32_t>(operand.value));
    case Kind::constant: {
      if (operand.index != 0 || operand.descriptor >= 0 || operand.uniform >= 0) {
        // An indexed constant: known where one index holds for all lanes.
        if (operand.index != 0 && (around.tables == nullptr || around.tables->empty())) return Lanes::unknown();
        const Lanes base = operand.descriptor >= 0 ? registers.r[static_cast<std::size_t>(operand.descriptor)]
                           : operand.uniform >= 0  ? registers.u[static_cast<std::size_t>(operand.uniform)]
                                                   : Lanes::of(0);
        out.known = 0;
        for (std::size_t i = 0; i < 32; ++i) {
          if ((base.known >> i & 1) == 0) continue;
          const std::int64_t at = operand.value + static_cast<std::int32_t>(base.value[i]);
          const auto v = operand.index == 0 ? around.memory->constant(at) : entry(*around.tables, at);
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

namespace {

// An address as the code makes it; of shared memory, the CTA of the cluster stands in its upper byte.
Wide whole_address_of(const Registers& registers, const Operand& operand, bool is_global) {
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
  for (std::uint64_t& v : out.value) v += offset;
  return out;
}

constexpr int rank_begins = 24;

}  // namespace

Wide address_of(const Registers& registers, const Operand& operand, bool is_global) {
  Wide out = whole_address_of(registers, operand, is_global);
  if (is_global) return out;
  for (std::uint64_t& v : out.value) v &= (1u << rank_begins) - 1;
  return out;
}

std::uint32_t lanes_of_peers(const Registers& registers, const Operand& operand, std::uint32_t own_rank) {
  const Wide address = whole_address_of(registers, operand, false);
  std::uint32_t lanes = 0;
  for (std::size_t i = 0; i < 32; ++i)
    if ((address.value[i] >> rank_begins & 0xff) != own_rank) lanes |= 1u << i;
  return lanes;
}

namespace {

// A floating-point result of which no lane can be known, since a source has none that is.
bool is_number_of_nothing(const Work& w) {
  const S s = w.step.semantics;
  if (s != S::fadd && s != S::fmul && s != S::ffma && s != S::mufu && s != S::number_minmax &&
      s != S::double_arithmetic)
    return false;
  for (std::size_t i = w.first(); i < w.in.operands; ++i) {
    const Operand& o = w.in.operand[i];
    if (o.kind == Kind::reg && o.index != zero_register &&
        (w.to.r[static_cast<std::size_t>(o.index)].known & w.lanes) == 0)
      return true;
  }
  return false;
}

}  // namespace

void carry_out(Registers& registers, const Surroundings& around, const Step& step, std::uint32_t active) {
  const Guard guard = guard_of(registers, *step.in, step.uniform ? all_lanes : active);
  if (guard.holds == 0 && guard.unknown == 0) return;
  const Work w{registers, around, step, *step.in, guard.holds | guard.unknown, guard.unknown};
  if (is_number_of_nothing(w)) return opaque(w);
  note_bend(w);
  switch (step.semantics) {
    case S::opaque:
    case S::load_matrix: return opaque(w);
    case S::atomic_shared: return atomic_shared(w);
    case S::atomic_global: return atomic_global(w);
    case S::mov: return step.width > 1 ? set_wide(w, w.pair(0, false)) : w.set(w.value(0));
    case S::iadd: return iadd(w);
    case S::imad: return imad(w);
    case S::lea: return lea(w);
    case S::lop3: return lop3(w);
    case S::plop3: return plop3(w);
    case S::shift: return shift(w);
    case S::prmt: return prmt(w);
    case S::isetp: return isetp(w);
    case S::fsetp: return fsetp(w);
    case S::check_division: return check_division(w);
    case S::sel: return w.set(selected(w.predicate(2), w.value(0), w.value(1)));
    case S::minmax: return minmax(w, false);
    case S::add_minmax: return minmax(w, true);
    case S::iabs:
    case S::popc:
    case S::find_leading_one:
    case S::reverse_bits:
    case S::bit_mask:
    case S::sign_extend: return bits(w);
    case S::int_to_float: return int_to_float(w);
    case S::float_to_int: return float_to_int(w);
    case S::number_minmax:
    case S::number_select:
    case S::number_round:
    case S::mufu:
    case S::fadd:
    case S::fmul:
    case S::ffma: return arithmetic(w);
    case S::half_constant: return half_constant(w);
    case S::double_arithmetic: return double_arithmetic(w);
    case S::double_compare: return double_compare(w);
    case S::convert_number: return convert_number(w);
    case S::special_register:
    case S::zero_or_clock: return special_register(w);
    case S::load_constant:
    case S::load_indexed: return load_constant(w);
    case S::vote: return vote(w, active);
    case S::barrier: return bring_vote(w);
    case S::barrier_result: return result_of_votes(w);
    case S::shuffle: return shuffle(w);
    case S::match: return match(w);
    case S::reduce: return reduce(w);
    case S::predicates_from_register: return predicates_from_register(w);
    case S::register_from_predicates: return register_from_predicates(w);
    case S::to_uniform: return to_uniform(w, active);
    case S::elect: return elect(w, active);
    case S::load_shared: return load_shared(w);
    case S::store_shared: return store_shared(w);
    case S::load_global: return load_global(w);
    case S::load_local: return local(w, true);
    case S::store_local: return local(w, false);
    case S::mbarrier:
    case S::try_alloc: {
      opaque(w);
      return w.set(Predicate{all_lanes, all_lanes}, 0);
    }
    case S::nothing:
    case S::fence:
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
    case S::bulk_load:
    case S::bulk_store:
    case S::cluster_arrive:
    case S::cluster_wait:
    case S::warp_sync: return;
  }
}

namespace {

// How a comparison of numbers that are not known turns out where they are what numbers mostly are: not equal, and of a
// magnitude between 2^-100 and 2^16 (beyond, libdevice goes longer ways: a sine from 105,615 on). Nothing where that
// does not tell.
std::optional<bool> by_ordinary_numbers(const Instruction& asks) {
  constexpr double least = 0x1p-100, most = 0x1p16;
  const Operand &a = asks.operand[2], &b = asks.operand[3];
  const bool of_itself = a.kind == b.kind && a.index == b.index;  // whether it is a number
  if (of_itself) return std::nullopt;
  if (asks.has("NE") || asks.has("NEU")) return true;
  if (asks.has("EQ") || asks.has("EQU")) return false;
  const bool more = asks.has("GT") || asks.has("GTU") || asks.has("GE") || asks.has("GEU");
  const bool less = asks.has("LT") || asks.has("LTU") || asks.has("LE") || asks.has("LEU");
  if (b.kind != Kind::integer || more == less) return std::nullopt;
  const double limit = b.number();
  if (std::abs(limit) >= most) return more == (limit < 0);
  if (a.absolute && !a.negated && limit > 0 && limit <= least) return more;
  return std::nullopt;
}

}  // namespace

std::optional<bool> by_ordinary_numbers(const EmulatedCode& code, std::int32_t at) {
  const Instruction& in = *code.steps[static_cast<std::size_t>(at)].in;
  const std::int32_t begin = code.blocks[static_cast<std::size_t>(code.block_of[static_cast<std::size_t>(at)])].begin;
  for (std::int32_t i = at - 1; i >= begin && !in.guard_uniform; --i) {
    const Step& step = code.steps[static_cast<std::size_t>(i)];
    const Instruction& asks = *step.in;
    const auto to = std::find_if(asks.operand.begin(), asks.operand.begin() + step.destinations,
                                 [&](const Operand& o) { return o.kind == Kind::pred && o.index == in.guard; });
    if (to == asks.operand.begin() + step.destinations) continue;
    if ((asks.base != "FSETP" && asks.base != "DSETP") || to != asks.operand.begin() || asks.operands < 5)
      return std::nullopt;
    const Operand& with = asks.operand[4];
    if (with.kind != Kind::pred || with.index != true_predicate || with.negated) return std::nullopt;
    const std::optional<bool> holds = by_ordinary_numbers(asks);
    return holds ? std::optional(*holds != in.guard_negated) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace noteg::compiled
