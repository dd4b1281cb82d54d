// wgmma kernels as CUTLASS ships them for sm_90: a producer warp and one or two consumer warpgroups, each a stream of
// its own. ws: one consumer, one tile per CTA; coop: two consumers share a tile's rows; pingpong: two consumers take
// tiles in turns, so that one stores while the other multiplies. The last two are persistent.
#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"
#include "kernels/families/wgmma/wgmma_parts.hpp"
#include "kernels/passes/passes.hpp"

namespace noteg::kernels {
namespace {

// Instructions before the roles part: thread and warp numbers, parameters, initialisation of barriers.
constexpr int common_prologue = 48;
// Then each role's own start: the tile scheduler of persistent kernels and the ordering of ping-pong (instructions
// outside the loop in our H200 listings: ws 159 to 192, coop 695, pingpong 734).
int own_prologue(const WgmmaPlan& plan) {
  if (!plan.persistent) return 48;
  return plan.schedule == Schedule::pingpong ? 200 : 100;
}
constexpr int producer_registers = 40, consumer_registers = 232;  // setmaxnreg

void add_rings(Emitter& e, const WgmmaPlan& plan) {
  const bool in_turns = plan.schedule == Schedule::pingpong;
  const int consuming = 4 * (in_turns ? 1 : plan.consumers);
  std::vector<BarrierRing>& rings = e.program().rings;
  rings.resize(ring_count);
  rings[ring_full] = {"full", plan.stages, 1, walk_stages, false, false};
  rings[ring_empty] = {"empty", plan.stages, consuming, walk_stages, false, plan.cluster > 1};
  rings[ring_multiply_0] = {"multiply_0", 1, 4, walk_multiply, false, false};
  rings[ring_multiply_1] = {"multiply_1", 1, 4, walk_multiply, false, false};
  rings[ring_store_0] = {"store_0", 1, 4, walk_store, false, false};
  rings[ring_store_1] = {"store_1", 1, 4, walk_store, false, false};
  rings[ring_stage_0] = {"staging_0", 1, in_turns ? 4 : 4 * plan.consumers, walk_staging, true, false};
  rings[ring_stage_1] = {"staging_1", 1, 4, walk_staging, true, false};
  rings[ring_cluster] = {"cluster", 1, plan.warps(), walk_staging, true, plan.cluster > 1};
}

void emit_start(Emitter& e, const WgmmaPlan& plan, bool initialises) {
  emit_index_arithmetic(e, common_prologue);
  if (initialises) {
    e.emit(Opcode::utmacctl, ".PF", {}, {});
    e.emit(Opcode::utmacctl, ".PF", {}, {});
    for (int i = 0; i < 2 * plan.stages; ++i) e.emit(Opcode::syncs, ".EXCH.64", {}, {});
    e.emit(Opcode::fence, ".VIEW.ASYNC", {}, {});
  }
  if (plan.cluster > 1)
    emit_async(e, Opcode::syncs, ".CLUSTER", {.kind = AsyncKind::sync, .ring = ring_cluster, .rounds_ahead = 1});
  else
    e.emit(Opcode::bar_sync, "", {}, {});
}

void emit_producer(Emitter& e, const WgmmaPlan& plan) {
  emit_start(e, plan, true);
  e.emit(Opcode::usetmaxreg, ".DEALLOC.CTAPOOL", {}, {imm(producer_registers)});
  emit_index_arithmetic(e, own_prologue(plan));
  const int tiles = open_tiles(e, plan.persistent);
  const int loop = e.begin_loop(true, 1);
  emit_async(e, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
             {.kind = AsyncKind::wait, .ring = ring_empty, .by_design = true});
  emit_async(e, Opcode::syncs, ".ARRIVE.TRANS64", {.kind = AsyncKind::arrive, .ring = ring_full, .boxes = 2});
  for (int i = 0; i < 4; ++i) e.emit(Opcode::uiadd3, "", {ureg(8 + i)}, {ureg(4), imm(i)});
  emit_async(e, Opcode::utmaldg, ".3D",
             {.kind = AsyncKind::load_box, .ring = ring_full, .box = BoxOf::a, .bytes = plan.a_bytes});
  emit_async(
      e, Opcode::utmaldg, plan.cluster > 1 ? ".3D.MULTICAST" : ".3D",
      {.kind = AsyncKind::load_box, .ring = ring_full, .advances = true, .box = BoxOf::b, .bytes = plan.b_bytes});
  e.end_loop(loop, pred(0));
  close_tiles(e, tiles);
  e.emit(Opcode::exit, "", {}, {});
}

void emit_idle(Emitter& e, const WgmmaPlan& plan) {
  emit_start(e, plan, false);
  e.emit(Opcode::usetmaxreg, ".DEALLOC.CTAPOOL", {}, {imm(producer_registers)});
  e.emit(Opcode::exit, "", {}, {});
}

// One consumer of a ping-pong pair or of a shared tile; `which` counts from 0.
void emit_consumer(Emitter& e, const WgmmaPlan& plan, WgmmaConsumer consumer, int which) {
  take_place(consumer, plan, which);
  const bool in_turns = plan.schedule == Schedule::pingpong;
  emit_start(e, plan, false);
  e.emit(Opcode::usetmaxreg, ".TRY_ALLOC.CTAPOOL", {}, {imm(consumer_registers)});
  emit_index_arithmetic(e, own_prologue(plan));
  if (in_turns && which == 1) emit_async(e, Opcode::uiadd3, "", {.kind = AsyncKind::skip, .ring = ring_full});
  const int tiles = open_tiles(e, plan.persistent);
  if (in_turns) emit_turn(e, consumer.own_multiply, which);
  if (which == 0) e.program().mainloop_begin = e.position();
  emit_wgmma_mainloop(e, plan, consumer);
  if (which == 0) e.program().epilogue_begin = e.position();
  if (in_turns) emit_pass(e, consumer.other_multiply);
  emit_wgmma_tail(e, plan);
  if (in_turns) emit_turn(e, consumer.own_store, which);
  emit_wgmma_epilogue(e, plan, consumer);
  if (in_turns) {
    emit_pass(e, consumer.other_store);
    emit_async(e, Opcode::uiadd3, "", {.kind = AsyncKind::skip, .ring = ring_full});
  }
  close_tiles(e, tiles);
  e.emit(Opcode::exit, "", {}, {});
}

}  // namespace

Result<Program> build_wgmma(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  Result<WgmmaPlan> planned = plan_wgmma(config);
  if (!planned) return planned.errors();
  const WgmmaPlan& plan = *planned;

  Emitter e;
  add_rings(e, plan);
  add_role(e, "producer", 0, 1, producer_registers, [&] { emit_producer(e, plan); });
  add_role(e, "idle", 1, 3, producer_registers, [&] { emit_idle(e, plan); });
  const WgmmaConsumer consumer = make_consumer(e, plan);
  for (int i = 0; i < plan.consumers; ++i) {
    add_role(e, "consumer_" + std::to_string(i), producer_warps + 4 * i, 4, consumer_registers,
             [&] { emit_consumer(e, plan, consumer, i); });
    if (plan.schedule != Schedule::pingpong) continue;
    e.program().roles.back().first_tile = i;
    e.program().roles.back().tile_stride = 2;
  }

  Program& program = e.program();
  program.name = config.name.empty() ? "wgmma" : config.name;
  program.warps = plan.warps();
  program.threads = 32 * plan.warps();
  program.k_per_iteration = plan.tile.k;
  program.stages = plan.stages;
  program.is_persistent = plan.persistent;
  program.lead_warp = producer_warps;
  program.a_bytes_per_iteration = plan.a_bytes;
  program.b_bytes_per_iteration = plan.b_bytes;
  if (auto assigned = assign_registers(program, e.groups()); !assigned) return assigned.errors();
  program.registers = config.registers.value_or(168);
  program.shared_bytes = config.shared_bytes.value_or(0);
  assign_control_bits(program, request.latency);
  guard_fences(program);
  return std::move(program);
}

}  // namespace noteg::kernels
