// What an instruction reads and writes, as numbered resources: vector registers, uniform registers, predicates.
// Zero registers and constants are none.
#pragma once

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// Resource numbers: registers (also virtual ones) below 32768, then the other files.
inline constexpr int ureg_base = 1 << 15;
inline constexpr int pred_base = ureg_base + 256;
inline constexpr int upred_base = pred_base + 256;
inline constexpr int resource_count = upred_base + 256;

[[nodiscard]] constexpr bool is_vector_register(int resource) { return resource < ureg_base; }
[[nodiscard]] constexpr bool is_predicate(int resource) { return resource >= pred_base; }
[[nodiscard]] constexpr bool is_uniform(int resource) {
  return (resource >= ureg_base && resource < pred_base) || resource >= upred_base;
}

[[nodiscard]] constexpr int file_base(OperandKind kind) {
  switch (kind) {
    case OperandKind::reg: return 0;
    case OperandKind::ureg: return ureg_base;
    case OperandKind::pred: return pred_base;
    case OperandKind::upred: return upred_base;
    case OperandKind::none:
    case OperandKind::immediate:
    case OperandKind::constant:
    case OperandKind::special: break;
  }
  return -1;
}

template <class F>
void for_each_resource(const Operand& o, F&& use) {
  const int base = file_base(o.kind);
  if (base < 0 || o.index == rz) return;
  for (int i = 0; i < o.count; ++i) use(base + o.index + i);
}

// Sources in operand order, then the guard. use(resource)
template <class F>
void for_each_read(const Instruction& ins, F&& use) {
  for (const Operand& o : ins.src) for_each_resource(o, use);
  for_each_resource(ins.guard, use);
}

template <class F>
void for_each_write(const Instruction& ins, F&& use) {
  for (const Operand& o : ins.dst) for_each_resource(o, use);
}

[[nodiscard]] inline bool is_guarded(const Instruction& ins) { return ins.guard.kind != OperandKind::none; }

// Predicated off in every lane (@!PT): a placeholder that only takes its issue slot.
[[nodiscard]] inline bool is_never_executed(const Instruction& ins) {
  return ins.guard.kind == OperandKind::pred && ins.guard.index == rz && ins.guard.negated;
}

[[nodiscard]] inline bool is_variable(const Instruction& ins) { return opcode_info(ins.op).variable_latency; }

}  // namespace noteg::kernels
