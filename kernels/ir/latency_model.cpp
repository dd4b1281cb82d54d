#include "kernels/ir/latency_model.hpp"

#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

bool is_fma_unit(Unit u) { return u == Unit::fma || u == Unit::fma_heavy; }

bool is_same_pipe(Unit a, Unit b) { return a == b || (is_fma_unit(a) && is_fma_unit(b)); }

int vector_latency(const LatencyModel& model, Unit producer, Unit consumer) {
  if (producer == Unit::tensor) return model.tensor;
  if (consumer == Unit::memory) return model.to_memory;
  if (consumer == Unit::fp64) return model.to_fp64;
  if (!is_same_pipe(producer, consumer)) return model.cross_pipe;
  if (producer == Unit::fma_heavy) return model.fma_heavy;
  if (is_fma_unit(producer)) return model.fma;
  return producer == Unit::half ? model.half : model.alu;
}

}  // namespace

int fixed_latency(const LatencyModel& model, Opcode producer, Opcode consumer, int resource, bool as_guard) {
  if (producer == Opcode::hgmma) return 1;  // its sums are waited for by groups
  const Unit from = opcode_info(producer).unit;
  const Unit to = opcode_info(consumer).unit;
  if (is_uniform(resource)) {
    if (to == Unit::uniform) return model.uniform_to_uniform;
    if (to == Unit::branch) return model.uniform_to_branch;
    return opcode_info(consumer).variable_latency ? model.uniform_to_memory : model.uniform_to_vector;
  }
  if (is_predicate(resource)) return as_guard || to == Unit::branch ? model.predicate_to_branch : model.alu;
  if (opcode_info(consumer).is_decoupled && from != Unit::tensor) return model.to_decoupled;
  return vector_latency(model, from, to);
}

int issue_interval(const LatencyModel& model, Opcode op) {
  switch (opcode_info(op).pipe) {
    case Pipe::fma: return opcode_info(op).unit == Unit::fma ? model.fma_interval : model.fma_heavy_interval;
    case Pipe::alu: return model.alu_interval;
    case Pipe::memory: return model.memory_interval;
    case Pipe::uniform: return 1;
    case Pipe::tensor: return model.tensor_interval;
    case Pipe::other: break;
  }
  return 1;
}

int least_stall(const LatencyModel& model, const Instruction& ins) {
  switch (opcode_info(ins.op).least_stall) {
    case LeastStall::none: return 1;
    case LeastStall::barrier: return model.barrier_stall;
    case LeastStall::branch: return model.branch_stall;
    case LeastStall::depbar: return model.depbar_stall;
    case LeastStall::warpgroup: return ins.modifiers == ".ARRIVE" ? model.arrive_stall : 1;
  }
  return 1;
}

}  // namespace noteg::kernels
