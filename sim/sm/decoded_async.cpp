#include "sim/sm/decoded_async.hpp"

#include <algorithm>

#include "kernels/ir/tensor_form.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::sm {

namespace {

using kernels::Instruction;

std::vector<DecodedRing> decode_rings(const kernels::Program& program, const arch::SmSpec& sm) {
  std::vector<DecodedRing> out;
  int first = 0;
  for (const kernels::BarrierRing& ring : program.rings) {
    DecodedRing decoded;
    decoded.first = first;
    decoded.count = static_cast<std::uint32_t>(std::max(1, ring.count));
    decoded.arrivals = ring.arrivals;
    decoded.walk = static_cast<std::size_t>(ring.walk);
    // Of compiled code SYNCS itself takes that long (decode_asynchronous).
    const Cycles in_shared = program.turns.empty() ? sm.tma.barrier_latency : Cycles{1};
    const Cycles latency = !ring.is_hardware     ? in_shared
                           : ring.across_cluster ? sm.tma.cluster_barrier
                                                 : sm.memory.barrier_latency;
    decoded.latency = static_cast<std::uint64_t>(
        as_int(latency) + (ring.is_hardware ? as_int(sm.memory.barrier_interval) * (ring.arrivals - 1) : 0));
    if (ring.across_cluster && !ring.is_hardware)
      decoded.arrival_delay = static_cast<std::uint64_t>(as_int(sm.tma.cluster_latency));
    decoded.starts_complete = ring.starts_complete;
    out.push_back(decoded);
    first += ring.count;
  }
  return out;
}

// Goes through a tensor map: .1D to .5D.
bool has_dimensions(const Instruction& in) {
  const std::size_t at = in.modifiers.find('D');
  return at != std::string::npos && at > 0 && in.modifiers[at - 1] >= '1' && in.modifiers[at - 1] <= '5';
}

// A 64 x n multiplication over 32 bytes of K keeps each tensor core of GH100 for n / 2 cycles, whatever the type. It
// reads B, and A unless that lies in registers, once for the four warps; its result takes a little longer the wider it
// is. Where A is sparse its 32 bytes stand for 64 of B (LUO24: 144 cycles for n = 256 with A in shared memory, 128
// without).
DecodedAsync decode_async(const Instruction& in, const kernels::AsyncOp& op, const arch::SmSpec& sm) {
  constexpr double k_bytes = 32, rows = 64;
  DecodedAsync out;
  out.kind = op.kind;
  out.box = op.box;
  out.ring = static_cast<std::uint8_t>(std::max(0, op.ring));
  out.places_back = static_cast<std::uint32_t>(op.places_back);
  out.rounds_ahead = static_cast<std::uint32_t>(op.rounds_ahead);
  out.groups = static_cast<std::uint32_t>(op.groups);
  out.boxes = op.boxes;
  out.not_first = op.not_first;
  out.one_warp = op.one_warp;
  out.by_design = op.by_design;
  out.advances = op.advances;
  out.closes_group = op.closes_group;
  out.turns = static_cast<std::int16_t>(op.turns);
  out.bytes = op.bytes;
  out.copiers = op.copiers;
  out.issuers = static_cast<std::uint32_t>(op.issuers);
  if (op.kind == kernels::AsyncKind::store_box)
    out.latency = (has_dimensions(in) ? sm.tma.box_store_latency : sm.tma.store_latency).value;
  if (op.kind == kernels::AsyncKind::commit) out.latency = sm.tcgen05.latency.value;
  if (op.kind == kernels::AsyncKind::matmul) {
    const auto form = kernels::tensor_form_from(in.op, in.modifiers);
    out.bytes = (op.n * (form && form->sparse ? 2.0 : 1.0) + (op.a_in_registers ? 0 : rows)) * k_bytes;
    const std::optional<TensorTiming> timing = form ? tensor_timing(sm, *form) : std::nullopt;
    out.cycles = timing ? timing->interval : op.n / 2.0;
    if (form && form->in_tensor_memory) out.bytes = op.bytes;  // a matter of the pair
    if (form) {
      out.macs = kernels::macs_of(*form);
      out.tensor_kind = kernels::tensor_kind(*form);
    }
    out.latency = (op.a_in_registers ? sm.wgmma.register_latency : sm.wgmma.shared_latency).value + op.n / 32.0;
  }
  return out;
}

// Of a warp that starts there.
std::array<bool, max_walks> walks_from(const DecodedProgram& program, std::int32_t start) {
  using kernels::AsyncKind;
  std::array<bool, max_walks> out{};
  for (auto at = static_cast<std::size_t>(start); at < program.code.size(); ++at) {
    const DecodedInstruction& in = program.code[at];
    if (in.action == Action::exit && program.innermost[at] < 0) break;
    if (in.async < 0) continue;
    const DecodedAsync& op = program.async[static_cast<std::size_t>(in.async)];
    const bool has_ring =
        op.kind != AsyncKind::fence && op.kind != AsyncKind::matmul && op.kind != AsyncKind::matmul_wait;
    if (has_ring) out[program.rings[op.ring].walk] = true;
  }
  return out;
}

}  // namespace

void decode_asynchronous(DecodedProgram& out, const kernels::Program& program, const arch::SmSpec& sm) {
  out.rings = decode_rings(program, sm);
  out.turns = program.turns;
  for (const DecodedRing& ring : out.rings) out.barriers += static_cast<int>(ring.count);
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const int index = program.code[at].async;
    if (index < 0) continue;
    DecodedAsync op = decode_async(program.code[at], program.async[static_cast<std::size_t>(index)], sm);
    for (std::size_t i = 0; i < program.loops.size(); ++i) {
      const kernels::Loop& loop = program.loops[i];
      const auto place = static_cast<std::int32_t>(at);
      if (loop.is_main && place >= loop.begin && place <= loop.branch) op.loop = static_cast<std::int16_t>(i);
    }
    out.code[at].async = static_cast<std::int16_t>(out.async.size());
    if (op.kind == kernels::AsyncKind::wait && op.turns >= 0)
      out.code[at].latency = static_cast<std::uint8_t>(std::min(255, as_int(sm.tma.barrier_latency)));
    out.async.push_back(op);
  }
  for (const std::int32_t start : out.start) out.walks.push_back(walks_from(out, start));
  if (!program.is_persistent) return;
  out.tiles.resize(static_cast<std::size_t>(out.warps));
  for (const kernels::Role& role : program.roles) {
    TileShare share{role.first_tile, std::max(1, role.tile_stride), -1, role.end - 1};
    for (const kernels::Loop& loop : program.loops) {
      if (loop.is_tiles && loop.begin >= role.begin && loop.branch < role.end) share.loop = loop.begin;
    }
    std::fill_n(out.tiles.begin() + role.first_warp, role.warps, share);
  }
}

void decode_other_main_loops(DecodedProgram& out, const kernels::Program& program) {
  const auto multiplies = [&](std::int32_t at) {
    const int async = out.code[static_cast<std::size_t>(at)].async;
    return async >= 0 && out.async[static_cast<std::size_t>(async)].kind == kernels::AsyncKind::matmul;
  };
  for (const kernels::Role& role : program.roles) {
    std::int32_t first = role.begin, last = role.end - 1;
    while (first < role.end && !multiplies(first)) ++first;
    if (first == role.end || role.first_warp == program.lead_warp) continue;
    while (!multiplies(last)) --last;
    for (const DecodedLoop& loop : out.loops) {
      if (loop.is_tiles || loop.begin > last || loop.branch < last) continue;
      first = std::min(first, loop.begin);
      last = std::max(last, loop.branch);
    }
    out.multiplying.push_back(role.first_warp);
    for (std::int32_t at = role.begin; at < role.end; ++at)
      out.code[static_cast<std::size_t>(at)].region = static_cast<std::uint8_t>((at >= first) + (at > last));
  }
}

}  // namespace noteg::sm
