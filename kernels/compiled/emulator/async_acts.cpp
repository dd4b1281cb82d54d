#include "kernels/compiled/emulator/async_acts.hpp"

#include <algorithm>
#include <bit>

namespace noteg::compiled {
namespace {

using S = Semantics;

constexpr std::uint32_t count_bias = 0x100000;  // SYNCS.EXCH.64: (2^20 - arrivals) * 2 in the low word

struct Reader {
  const Registers& registers;
  const Surroundings& around;
  std::size_t lane;

  [[nodiscard]] std::optional<std::uint32_t> uniform(int index) const {
    if (index < 0 || index >= zero_register) return index == zero_register ? std::optional(0u) : std::nullopt;
    const Lanes& v = registers.u[static_cast<std::size_t>(index)];
    return (v.known >> lane & 1) != 0 ? std::optional(v.value[lane]) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint32_t> value(const Operand& operand) const {
    const Lanes v = value_of(registers, around, operand);
    return (v.known >> lane & 1) != 0 ? std::optional(v.value[lane]) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> pair(int index) const {
    const auto low = uniform(index), high = uniform(index + 1);
    return low && high ? std::optional(std::uint64_t{*high} << 32 | *low) : std::nullopt;
  }
};

// The last register or immediate: what is exchanged, how much is expected, which parity.
const Operand* last_value(const Instruction& in) {
  for (std::size_t i = in.operands; i-- > 0;) {
    const Kind kind = in.operand[i].kind;
    if (kind == Kind::memory) return nullptr;
    if (kind == Kind::reg || kind == Kind::ureg || kind == Kind::integer) return &in.operand[i];
  }
  return nullptr;
}

void mbarrier(const Reader& read, AsyncAct& out) {
  const Instruction& in = *out.step->in;
  const Operand* where = memory_operand(in, 0);
  if (where == nullptr) return;
  const Wide address = address_of(read.registers, *where, false);
  if ((address.known >> read.lane & 1) != 0) out.barrier = static_cast<std::int32_t>(address.value[read.lane]);
  const Operand* operand = last_value(in);
  const std::optional<std::uint32_t> value = operand != nullptr ? read.value(*operand) : std::nullopt;
  const std::uint32_t said = value.value_or(0);
  if (in.has("EXCH")) {
    out.kind = ActKind::init;
    if (value && said / 2 < count_bias) out.value = count_bias - said / 2;
  } else if (in.has("PHASECHK")) {
    out.kind = ActKind::wait;
    if (value) out.value = said >> 31;
  } else if (in.base == "ARRIVES") {
    // Behind the copies of its warp so far. TRANSCNT: the phase waits for them beside its arrivals.
    out.kind = ActKind::arrive_copied;
    out.arrivals = in.has("TRANSCNT") ? 0 : std::popcount(out.lanes);
  } else if (in.has("ARRIVE")) {
    out.kind = ActKind::arrive;
    // A: arrivals, T: bytes that are to come; 0, 1, or R for what the register holds. Nothing said: A1TR.
    const bool arrives = !in.has("A0TR") && !in.has("A0T1") && !in.has("A0TX");
    const std::uint32_t each = in.has("ART0") ? value.value_or(1) : 1;
    out.arrivals = arrives ? std::popcount(out.lanes) * static_cast<int>(std::min(each, 1u << 16)) : 0;
    out.of_peer = in.has("RED") && arrives;
    out.expects = !in.has("A1T0") && !in.has("ART0") && operand != nullptr && operand->index != zero_register;
    if (out.expects && value) out.value = said;
  }
}

int dimensions_of(const Instruction& in) {
  return in.has("5D") ? 5 : in.has("4D") ? 4 : in.has("3D") ? 3 : in.has("2D") ? 2 : 1;
}

// A box at coordinates: the innermost comes first.
void box(const Reader& read, AsyncAct& out, int coordinates_at, std::optional<std::uint64_t> descriptor) {
  const int dimensions = dimensions_of(*out.step->in);
  std::array<std::int64_t, 5> at{};
  for (int i = 0; i < dimensions; ++i) {
    const auto v = read.uniform(coordinates_at + i);
    if (!v) return;
    at[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(*v);
  }
  if (!descriptor) return;
  BulkCopy& copy = out.copy;
  copy.is_known = true;
  if (const LaunchMemory::Map* map = read.around.memory->map_at(*descriptor)) {
    const TensorMap& m = map->map;
    copy.bytes = m.box_rows * m.box_columns * m.element_bytes;
    copy.pitch = static_cast<std::uint64_t>(m.row_pitch());
    copy.rows = std::clamp<std::int64_t>(m.rows - at[1], 0, m.box_rows);
    copy.row_bytes = std::clamp<std::int64_t>(m.columns - at[0], 0, m.box_columns) * m.element_bytes;
    copy.address = map->base + static_cast<std::uint64_t>(at[1] * m.row_pitch() + at[0] * m.element_bytes);
    for (std::size_t i = 0; i < 3; ++i) {
      if (m.outer[i] == 0) continue;
      copy.bytes *= m.box_outer[i];
      copy.planes[i] = at[2 + i] < 0 ? 0 : std::clamp<std::int64_t>(m.outer[i] - at[2 + i], 0, m.box_outer[i]);
      copy.plane_pitch[i] = static_cast<std::uint64_t>(m.outer_pitch[i]);
      copy.address += static_cast<std::uint64_t>(at[2 + i] * m.outer_pitch[i]);
    }
    return;
  }
  const std::uint64_t which = (*descriptor >> 4 ^ *descriptor >> 16) & 0xff;
  copy.address = std::uint64_t{1} << 60 | which << 50;
  for (std::size_t i = 0; i < 5; ++i)
    copy.address += static_cast<std::uint64_t>(at[i] * 2) << (std::array{0, 14, 28, 36, 44}[i]);
  copy.pitch = 1 << 15;
}

void bulk(const Reader& read, AsyncAct& out) {
  const Instruction& in = *out.step->in;
  const Operand *first = memory_operand(in, 0), *second = memory_operand(in, 1);
  if (first == nullptr || second == nullptr) return;
  const bool is_rows = in.base == "UBLKCP" || in.base == "UBLKRED";
  const bool loads =
      out.step->semantics == S::bulk_load && !in.has("G.S") && !(is_rows && in.modifiers.starts_with(".G"));
  out.kind = loads ? ActKind::load : ActKind::store;
  if (loads)
    if (const auto v = read.uniform(first->uniform + 1)) out.barrier = static_cast<std::int32_t>(*v & 0xffffff);
  if (is_rows) {
    const auto address = read.pair(loads ? second->uniform : first->uniform);
    const Operand* size = last_value(in);
    const auto units = size != nullptr ? read.value(*size) : std::nullopt;
    if (!address || !units) return;
    out.copy.is_known = true;
    out.copy.address = *address;
    out.copy.bytes = out.copy.row_bytes = std::int64_t{*units & 0xffff} * 16;
    return;
  }
  box(read, out, loads ? first->uniform + 2 : first->uniform + 1, read.pair(second->uniform));
  if (!in.has("MULTICAST")) return;
  const Operand* mask = last_value(in);
  if (mask == nullptr) return;
  const auto v = read.value(*mask);
  out.copy.peers = v ? std::max(1, std::popcount(*v >> 16)) : static_cast<int>(read.around.launch->cluster_ctas());
}

void named(const Reader& read, AsyncAct& out) {
  const Instruction& in = *out.step->in;
  if (in.operands == 0) return;
  const auto id = read.value(in.operand[0]);
  const auto threads = in.operands > 1 ? read.value(in.operand[1]) : std::nullopt;
  if (!id) return;
  out.kind = in.has("ARV") ? ActKind::named_arrive : ActKind::named_sync;
  out.arrivals = 1;
  out.value = threads ? static_cast<std::int64_t>(*threads & 0xfff) : read.around.launch->threads();
  // A barrier whose phases different numbers of threads complete is as many barriers.
  constexpr std::int32_t ids = 16, warp = 32;
  out.barrier =
      named_barriers + static_cast<std::int32_t>(*id % ids) + ids * static_cast<std::int32_t>(out.value / warp);
}

}  // namespace

bool is_bulk_load(const Instruction& in) {
  return in.base == "UTMALDG" || (in.base == "UBLKCP" && !in.modifiers.starts_with(".G"));
}

bool is_bulk_sum(const Instruction& in) { return in.base == "UTMAREDG" || in.base == "UBLKRED"; }

bool is_named_barrier(const Instruction& in) {
  return in.base == "BAR" && (in.has("ARV") || (in.operands > 1 && !in.has("RED")));
}

AsyncAct act_of(const Registers& registers, const Surroundings& around, const Step& step, std::int32_t at,
                std::uint32_t active) {
  AsyncAct out;
  out.at = at;
  out.step = &step;
  const Guard guard = guard_of(registers, *step.in, active);
  out.lanes = guard.holds | guard.unknown;
  if (out.lanes == 0) return out;
  const Reader read{registers, around, static_cast<std::size_t>(std::countr_zero(out.lanes))};
  switch (step.semantics) {
    case S::mbarrier: mbarrier(read, out); break;
    case S::bulk_load:
    case S::bulk_store: bulk(read, out); break;
    case S::barrier: named(read, out); break;
    case S::fence: out.kind = ActKind::fence; break;
    case S::cluster_arrive:
    case S::cluster_wait:
      out.kind = step.semantics == S::cluster_arrive ? ActKind::arrive : ActKind::wait;
      out.barrier = cluster_barrier;
      out.arrivals = step.semantics == S::cluster_arrive ? 1 : 0;
      break;
    default: break;
  }
  return out;
}

}  // namespace noteg::compiled
