// tcgen05 kernels as CUTLASS 4 ships them for sm_100: one warp copies, one thread of another multiplies, a third asks
// for the next tile, four warps bring sums from tensor memory to C while the next tile is multiplied.
#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"
#include "kernels/families/tcgen05/tcgen05_plan.hpp"
#include "kernels/families/wgmma/wgmma_parts.hpp"
#include "kernels/passes/passes.hpp"

namespace noteg::kernels {
namespace {

constexpr int common_prologue = 64;  // numbers, parameters, barriers, allocation of tensor memory
constexpr int own_prologue = 60;     // the first tile's coordinates
constexpr int registers_of_roles = 128;

enum Ring : int { full, empty, sums_full, sums_empty, staging, cluster_ring, rings };
enum Walk : int { walk_of_stages, walk_of_sums, walk_of_staging };

void add_rings(Emitter& e, const Tcgen05Plan& plan) {
  std::vector<BarrierRing>& all = e.program().rings;
  all.resize(rings);
  all[full] = {"full", plan.stages, 1, walk_of_stages, false, false};
  all[empty] = {"empty", plan.stages, 1, walk_of_stages, false, plan.cluster > 1};
  all[sums_full] = {"sums_full", plan.sets, 1, walk_of_sums, false, false};
  all[sums_empty] = {"sums_empty", plan.sets, storing_warps, walk_of_sums, false, plan.frame.pair};
  all[staging] = {"staging", 1, storing_warps, walk_of_staging, true, false};
  all[cluster_ring] = {"cluster", 1, tcgen05_warps, walk_of_staging, true, plan.cluster > 1};
}

void emit_start(Emitter& e, const Tcgen05Plan& plan, bool initialises) {
  emit_index_arithmetic(e, common_prologue);
  if (initialises) {
    e.emit(Opcode::utmacctl, ".PF", {}, {});
    e.emit(Opcode::utmacctl, ".PF", {}, {});
    for (int i = 0; i < 2 * plan.stages + 2 * plan.sets; ++i) e.emit(Opcode::syncs, ".EXCH.64", {}, {});
    e.emit(Opcode::fence, ".VIEW.ASYNC", {}, {});
  }
  if (plan.cluster > 1)
    emit_async(e, Opcode::syncs, ".CLUSTER", {.kind = AsyncKind::sync, .ring = cluster_ring, .rounds_ahead = 1});
  else
    e.emit(Opcode::bar_sync, "", {}, {});
  emit_index_arithmetic(e, own_prologue);
}

void emit_copies(Emitter& e, const Tcgen05Plan& plan) {
  emit_start(e, plan, true);
  const int tiles = open_tiles(e, plan.persistent);
  const int loop = e.begin_loop(true, 1);
  emit_async(e, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
             {.kind = AsyncKind::wait, .ring = empty, .by_design = true});
  emit_async(e, Opcode::syncs, ".ARRIVE.TRANS64", {.kind = AsyncKind::arrive, .ring = full, .boxes = 2});
  for (int i = 0; i < 4; ++i) e.emit(Opcode::uiadd3, "", {ureg(8 + i)}, {ureg(4), imm(i)});
  const char* how = plan.cluster > 1 && !plan.frame.pair ? ".3D.MULTICAST" : plan.frame.pair ? ".3D.2CTA" : ".3D";
  emit_async(e, Opcode::utmaldg, how,
             {.kind = AsyncKind::load_box, .ring = full, .box = BoxOf::a, .bytes = plan.a_bytes});
  emit_async(e, Opcode::utmaldg, how,
             {.kind = AsyncKind::load_box, .ring = full, .advances = true, .box = BoxOf::b, .bytes = plan.b_bytes});
  e.end_loop(loop, pred(0));
  close_tiles(e, tiles);
  e.emit(Opcode::exit, "", {}, {});
}

void emit_idle(Emitter& e, const Tcgen05Plan& plan) {
  emit_start(e, plan, false);
  e.emit(Opcode::exit, "", {}, {});
}

// The thread waits for tiles and for a free set of sums, never for its own products: their end is told to barriers.
void emit_products(Emitter& e, const Tcgen05Plan& plan) {
  emit_start(e, plan, false);
  const int tiles = open_tiles(e, plan.persistent);
  emit_async(e, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
             {.kind = AsyncKind::wait, .ring = sums_empty, .by_design = true});
  e.program().mainloop_begin = e.position();
  const int loop = e.begin_loop(true, 1);
  emit_async(e, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT", {.kind = AsyncKind::wait, .ring = full, .rounds_ahead = 1});
  const std::string modifiers = modifiers_of(plan.form) + (plan.frame.pair ? ".2CTA" : "");
  for (int step = 0; step < plan.k_steps; ++step) {
    for (int i = 0; i < 2; ++i) e.emit(Opcode::uiadd3, "", {ureg(12 + 2 * i)}, {ureg(10), imm(step)});
    Instruction& ins =
        emit_async(e, opcode_of(plan.form), modifiers,
                   {.kind = AsyncKind::matmul, .bytes = plan.shared_read, .n = plan.frame.columns, .issuers = 1});
    ins.src[0] = ureg(12, 2);
    ins.src[1] = ureg(14, 2);
  }
  emit_async(e, Opcode::utcbar, plan.cluster > 1 ? ".MULTICAST" : "",
             {.kind = AsyncKind::commit, .ring = empty, .advances = true});
  e.end_loop(loop, pred(0));
  e.program().epilogue_begin = e.position();
  emit_async(e, Opcode::utcbar, "", {.kind = AsyncKind::commit, .ring = sums_full, .advances = true});
  close_tiles(e, tiles);
  e.emit(Opcode::exit, "", {}, {});
}

// Where the scales of a tile lie: CUTLASS's Sm90RowBroadcast and Sm90ColBroadcast bring those of its columns to shared
// memory before its first piece, and each thread that of its row to a register.
struct ScaleVectors {
  int global = 0, store = 0, load = 0;  // patterns
  Value columns, row;
};

ScaleVectors add_scale_vectors(Emitter& e) {
  ScaleVectors s;
  s.global = e.add_pattern(contiguous(Space::global, Matrix::none, false, 4, 128));
  s.store = e.add_pattern(contiguous(Space::shared, Matrix::none, true, 4, 128));
  AccessPattern all_lanes_alike = contiguous(Space::shared, Matrix::none, false, 16, 16);
  all_lanes_alike.offset = {};
  s.load = e.add_pattern(all_lanes_alike);
  s.columns = e.fresh(columns_of_piece);
  s.row = e.fresh();
  return s;
}

void emit_scales_of_tile(Emitter& e, const ScaleVectors& s) {
  e.memory(Opcode::ldg, ".E", {reg(s.columns.part(0))}, {reg(zero_value)}, 4, s.global);
  e.memory(Opcode::ldg, ".E", {reg(s.row)}, {reg(zero_value)}, 4, s.global);
  e.memory(Opcode::sts, "", {}, {reg(zero_value), reg(s.columns.part(0))}, 4, s.store);
  emit_async(e, Opcode::bar_sync, ".DEFER_BLOCKING",
             {.kind = AsyncKind::sync, .ring = staging, .rounds_ahead = 1, .advances = true});
}

// 32 columns at a time: out of tensor memory, scaled, packed, staged in shared memory, stored by one bulk copy. Two
// staging buffers: the piece after the next waits until the first has been read.
void emit_piece(Emitter& e, const Tcgen05Plan& plan, Value address, int pattern, const ScaleVectors* scales) {
  constexpr int columns = columns_of_piece, per_store = 4;  // registers
  for (int i = 0; scales && i < columns; i += 4)
    e.memory(Opcode::lds, ".128", {reg(scales->columns.range(i, 4))}, {reg(zero_value)}, 16, scales->load);
  const Value sums = e.fresh(columns);
  Instruction& load = e.emit(Opcode::ldtm, ".x32", {reg(sums)}, {ureg(6)});
  load.access_bytes = 128;
  // All are scaled, then all packed, then all stored: none waits for the one before it.
  const int registers = per_store * plan.stores_per_piece, per_register = std::max(1, columns / registers);
  for (int i = 0; i < columns; ++i) {
    if (scales) e.emit(Opcode::fmul, "", {reg(sums.part(i))}, {reg(sums.part(i)), reg(scales->columns.part(i))});
    e.emit(Opcode::fmul, "", {reg(sums.part(i))}, {reg(sums.part(i)), scales ? reg(scales->row) : constant(0x2a0)});
  }
  const Value packed = e.fresh(registers);
  for (int i = 0; i < registers; ++i) {
    const int first = i * per_register % columns, last = (first + per_register - 1) % columns;
    e.emit(Opcode::f2fp, "", {reg(packed.part(i))}, {reg(sums.part(last)), reg(sums.part(first))});
  }
  emit_index_arithmetic(e, piece_arithmetic);
  for (int store = 0; store < plan.stores_per_piece; ++store)
    e.memory(Opcode::sts, ".128", {}, {reg(address), reg(packed.range(per_store * store, per_store))}, 16, pattern);
  e.emit(Opcode::membar, ".ALL.CTA", {}, {});
  e.emit(Opcode::fence, ".VIEW.ASYNC", {}, {});
  const AsyncOp sync{.kind = AsyncKind::sync, .ring = staging, .rounds_ahead = 1, .advances = true};
  emit_async(e, Opcode::bar_sync, ".DEFER_BLOCKING", sync);
  emit_async(e, Opcode::utmastg, ".3D",
             {.kind = AsyncKind::store_box, .one_warp = true, .box = BoxOf::c, .bytes = plan.piece_bytes});
  e.emit(Opcode::utmacmdflush, "", {}, {});
  e.emit(Opcode::depbar, ".LE", {}, {}).depbar_count = 1;
  emit_async(e, Opcode::bar_sync, ".DEFER_BLOCKING", sync);
}

void emit_epilogue(Emitter& e, const Tcgen05Plan& plan) {
  emit_start(e, plan, false);
  const int pattern = e.add_pattern(contiguous(Space::shared, Matrix::c, true, 16, 512));
  const Value address = e.fresh();
  e.emit(Opcode::iadd3, "", {reg(address)}, {reg(zero_value), imm(0x400), reg(zero_value)});
  const std::optional<ScaleVectors> scales = plan.scale_vectors ? std::optional(add_scale_vectors(e)) : std::nullopt;
  const int tiles = open_tiles(e, plan.persistent);
  if (scales) emit_scales_of_tile(e, *scales);
  emit_async(e, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
             {.kind = AsyncKind::wait, .ring = sums_full, .rounds_ahead = 1, .by_design = true});
  for (int piece = 0; piece < plan.pieces; ++piece) emit_piece(e, plan, address, pattern, scales ? &*scales : nullptr);
  emit_async(e, Opcode::syncs, ".ARRIVE.TRANS64.A1T0",
             {.kind = AsyncKind::arrive, .ring = sums_empty, .advances = true});
  close_tiles(e, tiles);
  e.emit(Opcode::exit, "", {}, {});
}

}  // namespace

Result<Program> build_tcgen05(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  Result<Tcgen05Plan> planned = plan_tcgen05(config);
  if (!planned) return planned.errors();
  const Tcgen05Plan& plan = *planned;

  Emitter e;
  add_rings(e, plan);
  add_role(e, "copies", copying_warp, 1, registers_of_roles, [&] { emit_copies(e, plan); });
  add_role(e, "scheduler", scheduling_warp, 2, registers_of_roles, [&] { emit_idle(e, plan); });
  add_role(e, "products", multiplying_warp, 1, registers_of_roles, [&] { emit_products(e, plan); });
  add_role(e, "epilogue", storing_warp, storing_warps, registers_of_roles, [&] { emit_epilogue(e, plan); });

  Program& program = e.program();
  program.name = config.name.empty() ? "tcgen05" : config.name;
  program.warps = tcgen05_warps;
  program.threads = 32 * tcgen05_warps;
  program.k_per_iteration = plan.tile.k;
  program.stages = plan.stages;
  program.is_persistent = plan.persistent;
  program.lead_warp = multiplying_warp;
  program.a_bytes_per_iteration = plan.a_bytes;
  program.b_bytes_per_iteration = plan.b_bytes;
  if (auto assigned = assign_registers(program, e.groups()); !assigned) return assigned.errors();
  program.registers = config.registers.value_or(registers_of_roles);
  program.shared_bytes = config.shared_bytes.value_or(0);
  assign_control_bits(program, request.latency);
  guard_fences(program);
  return std::move(program);
}

}  // namespace noteg::kernels
