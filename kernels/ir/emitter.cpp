#include "kernels/ir/emitter.hpp"

#include <algorithm>

namespace noteg::kernels {
namespace {

Operand make(OperandKind kind, int index, int count) {
  Operand o;
  o.kind = kind;
  o.index = static_cast<std::int16_t>(index);
  o.count = static_cast<std::uint8_t>(count);
  return o;
}

}  // namespace

Operand reg(Value v) { return make(OperandKind::reg, v.first, v.count); }
Operand ureg(int index, int count) { return make(OperandKind::ureg, index, count); }
Operand upred(int index) { return make(OperandKind::upred, index, 1); }

Operand pred(int index, bool negated) {
  Operand o = make(OperandKind::pred, index, 1);
  o.negated = negated;
  return o;
}

Operand imm(std::int32_t value) {
  Operand o = make(OperandKind::immediate, rz, 1);
  o.value = value;
  return o;
}

Operand constant(std::int32_t offset, int count) {
  Operand o = make(OperandKind::constant, 0, count);
  o.value = offset;
  return o;
}

Operand never() { return pred(rz, true); }

Value Emitter::fresh(int count, Bank bank) {
  groups_.push_back({next_, count, bank});
  const Value v{next_, count};
  next_ += count;
  return v;
}

Instruction& Emitter::emit(Opcode op, std::string_view modifiers, std::initializer_list<Operand> dst,
                           std::initializer_list<Operand> src) {
  Instruction ins;
  ins.op = op;
  ins.modifiers = modifiers;
  std::copy_n(dst.begin(), std::min(dst.size(), ins.dst.size()), ins.dst.begin());
  std::copy_n(src.begin(), std::min(src.size(), ins.src.size()), ins.src.begin());
  program_.code.push_back(std::move(ins));
  releases_.push_back(release_);
  return program_.code.back();
}

Instruction& Emitter::memory(Opcode op, std::string_view modifiers, const Operand& dst,
                             std::initializer_list<Operand> src, int bytes, int pattern) {
  Instruction& ins = emit(op, modifiers, {dst}, src);
  ins.access_bytes = static_cast<std::uint8_t>(bytes);
  ins.pattern = static_cast<std::int16_t>(pattern);
  return ins;
}

int Emitter::add_pattern(const AccessPattern& pattern) {
  program_.patterns.push_back(pattern);
  return static_cast<int>(program_.patterns.size()) - 1;
}

int Emitter::begin_loop(bool is_main, std::int64_t iterations) {
  Loop loop;
  loop.begin = position();
  loop.branch = loop.begin;
  loop.iterations = iterations;
  loop.is_main = is_main;
  program_.loops.push_back(loop);
  return static_cast<int>(program_.loops.size()) - 1;
}

int Emitter::begin_guarded_loop(const Operand& guard) {
  Instruction& branch = emit(Opcode::bra, "", {}, {});
  branch.guard = guard;
  branch.loop = static_cast<std::int16_t>(program_.loops.size());
  return begin_loop(true, 1);
}

void Emitter::end_loop(int loop, const Operand& guard) {
  Instruction& branch = emit(Opcode::bra, "", {}, {});
  branch.guard = guard;
  branch.loop = static_cast<std::int16_t>(loop);
  program_.loops[static_cast<std::size_t>(loop)].branch = position() - 1;
}

}  // namespace noteg::kernels
