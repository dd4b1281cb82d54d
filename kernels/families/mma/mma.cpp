#include "kernels/families/builders.hpp"
#include "kernels/families/mma/mma_parts.hpp"

namespace noteg::kernels {

Result<Program> build_mma(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  auto planned = plan_mma(config, request.latency.async_copy);
  if (!planned) return planned.errors();
  const MmaPlan& plan = *planned;

  Emitter e;
  MmaState state = make_mma_state(e, plan);
  emit_mma_prologue(e, plan, state);
  e.program().mainloop_begin = e.position();
  emit_mma_mainloop(e, plan, state);
  e.program().epilogue_begin = e.position();
  emit_mma_epilogue(e, plan, config, state);

  Program& program = e.program();
  describe_pipeline(program, plan, config, "mma");
  program.a_bytes_per_trip = static_cast<double>(plan.a.rows) * plan.a.row_bytes;
  program.b_bytes_per_trip = static_cast<double>(plan.b.rows) * plan.b.row_bytes;
  return finish(e, request);
}

}  // namespace noteg::kernels
