#include "sim/chip/what_if.hpp"

#include <algorithm>

namespace noteg::chip {

namespace {

bool is_arithmetic(const core::DecodedInstruction& in) {
  switch (in.action) {
    case core::Action::fma:
    case core::Action::fma_heavy:
    case core::Action::alu:
    case core::Action::half:
    case core::Action::uniform: return true;
    default: return false;
  }
}

}  // namespace

arch::SmSpec sm_without_limits(arch::SmSpec sm, const Switches& switches) {
  if (!switches.one_issue) {
    sm.sub_cores *= 2;
    arch::PipesSpec& p = sm.pipes;
    for (arch::PipeSpec* pipe : {&p.fma, &p.fma_heavy, &p.alu, &p.half, &p.mufu})
      pipe->lanes = std::max(1, pipe->lanes / 2);
  }
  if (!switches.one_fma) sm.pipes.fma.lanes *= 2;
  return sm;
}

void remove_limits(core::DecodedProgram& program, const Switches& switches) {
  for (core::DecodedInstruction& in : program.code) {
    if (!switches.pipe_latency && is_arithmetic(in)) in.hold = in.yields ? 2 : 1;
  }
  for (core::MemoryCost& cost : program.memory) {
    if (!switches.memory_path) {
      cost.address_cycles = cost.front_cycles = 0;
      cost.sub_core_cycles = 1;
    }
    if (!switches.shared_latency && cost.kind == core::MemoryKind::load_shared) cost.latency = 1;
  }
}

}  // namespace noteg::chip
