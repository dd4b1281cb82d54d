#include <utility>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/passes.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

constexpr int look_ahead = 4;  // listings rarely keep an operand over more instructions than this

bool reads_at_issue(const Instruction& ins) {
  const Unit unit = opcode_info(ins.op).unit;
  return unit == Unit::fma || unit == Unit::fma_heavy || unit == Unit::alu || unit == Unit::half;
}

bool is_cacheable(const Operand& o) { return o.kind == OperandKind::reg && o.index != rz && o.count == 1; }

bool writes(const Instruction& ins, int resource) {
  bool found = false;
  for_each_write(ins, [&](int r) { found = found || r == resource; });
  return found;
}

// The next reader of the same (bank, operand position) finds the value: it asks for the same register, and
// nothing wrote it in between. A pause longer than the pipe's own interval lets another warp in, whose reads
// would take the entry, so compilers give no flag across one.
bool is_reused(const Program& program, std::size_t at, std::size_t slot, const LatencyModel& model) {
  const std::int16_t index = program.code[at].src[slot].index;
  for (std::size_t next = at; next < at + look_ahead && next + 1 < program.code.size(); ++next) {
    const Instruction& current = program.code[next];
    if (current.control.stall > issue_interval(model, current.op) || writes(current, index)) return false;
    if (opcode_info(current.op).unit == Unit::branch) return false;
    const Instruction& reader = program.code[next + 1];
    if (reader.control.wait_mask != 0) return false;
    const Operand& o = reader.src[slot];
    if (reads_at_issue(reader) && is_cacheable(o) && (o.index - index) % 2 == 0) return o.index == index;
  }
  return false;
}

// A stray addition or mask between FFMAs would push the row's operand out of position 0. Its sources may change
// places; position 2, where FFMA has the accumulator, holds nothing worth keeping.
void make_room(Program& program) {
  for (std::size_t at = 1; at < program.code.size(); ++at) {
    Instruction& ins = program.code[at];
    const bool is_free_to_swap = ins.op == Opcode::iadd3 || ins.op == Opcode::lop3;
    if (is_free_to_swap && is_cacheable(ins.src[0]) && ins.src[2].index == rz &&
        program.code[at - 1].op == Opcode::ffma) {
      std::swap(ins.src[0], ins.src[2]);
    }
  }
}

}  // namespace

void assign_reuse(Program& program, const LatencyModel& model) {
  make_room(program);
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    Instruction& ins = program.code[at];
    for (std::size_t slot = 0; slot < ins.src.size(); ++slot) {
      ins.src[slot].reuse = reads_at_issue(ins) && is_cacheable(ins.src[slot]) && is_reused(program, at, slot, model);
    }
  }
}

}  // namespace noteg::kernels
