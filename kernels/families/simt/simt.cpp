#include "kernels/families/builders.hpp"
#include "kernels/families/simt/simt_parts.hpp"

namespace noteg::kernels {

Result<Program> build_simt(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  auto planned = plan_simt(config, request.latency.async_copy);
  if (!planned) return planned.errors();
  const SimtPlan& plan = *planned;

  Emitter e;
  SimtState state = make_state(e, plan);
  emit_simt_prologue(e, plan, state);
  e.program().mainloop_begin = e.position();
  emit_simt_mainloop(e, plan, state);
  e.program().epilogue_begin = e.position();
  emit_simt_epilogue(e, plan, config, state);

  Program& program = e.program();
  describe_pipeline(program, plan, config, "simt");
  program.a_bytes_per_trip = 4.0 * plan.tile.m * plan.tile.k;
  program.b_bytes_per_trip = 4.0 * plan.tile.n * plan.tile.k;
  return finish(e, request);
}

}  // namespace noteg::kernels
