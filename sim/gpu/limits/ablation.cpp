#include "sim/gpu/limits/ablation.hpp"

namespace noteg::gpu {

namespace {

bool is_arithmetic(const sm::DecodedInstruction& in) {
  switch (in.action) {
    case sm::Action::fma:
    case sm::Action::fma_heavy:
    case sm::Action::alu:
    case sm::Action::half:
    case sm::Action::uniform: return true;
    default: return false;
  }
}

// Whether the load/store path takes any number of accesses of global memory, or else of the others.
bool without_path(const Switches& switches, bool global) {
  switch (switches.memory_path) {
    case MemoryPath::modelled: return false;
    case MemoryPath::l1_infinite: return global;
    case MemoryPath::shared_infinite: return !global;
    case MemoryPath::infinite: return true;
  }
  return false;
}

}  // namespace

arch::SmSpec sm_without_limits(arch::SmSpec sm, const Switches& switches) {
  constexpr double any = 1e9;  // bytes per cycle
  if (!switches.one_fma) sm.pipes.fma.lanes *= 2;
  if (without_path(switches, false)) sm.memory.data_width.value = any;
  if (without_path(switches, true)) sm.register_file.load_write_back.value = any;
  return sm;
}

void remove_limits(sm::DecodedProgram& program, const Switches& switches) {
  for (sm::DecodedInstruction& in : program.code) {
    if (!switches.pipe_latency && is_arithmetic(in)) in.hold = in.yields ? 2 : 1;
  }
  if (!switches.one_tensor) {
    for (sm::TensorCost& cost : program.tensor) cost.interval /= 2;
    for (sm::DecodedAsync& op : program.async) op.cycles /= 2;
  }
  for (sm::MemoryCost& cost : program.memory) {
    if (without_path(switches, sm::is_global(cost.kind))) {
      cost.address_cycles = cost.front_cycles = cost.l1_bank_cycles = cost.miss_cycles = cost.port_cycles = 0;
      cost.sub_core_cycles = cost.warp_cycles = 1;
    }
    if (!switches.shared_latency && cost.kind == sm::MemoryKind::load_shared) cost.latency = 1;
  }
}

}  // namespace noteg::gpu
