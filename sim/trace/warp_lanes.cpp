#include "sim/trace/views.hpp"

#include <algorithm>
#include <set>

#include "kernels/ir/listing.hpp"

namespace noteg::trace {
namespace {

using kernels::AsyncKind;
using kernels::Instruction;
using kernels::Opcode;
using kernels::Operand;
using kernels::OperandKind;
using kernels::Program;
using sm::Stall;

bool is_register(const Operand& operand) {
  const bool of_kind = operand.kind == OperandKind::reg || operand.kind == OperandKind::ureg ||
                       operand.kind == OperandKind::pred || operand.kind == OperandKind::upred;
  return of_kind && operand.index != kernels::rz;
}

bool overlap(const Operand& a, const Operand& b) {
  return is_register(a) && a.kind == b.kind && a.index < b.index + b.count && b.index < a.index + a.count;
}

const Instruction& at(const Program& program, int pc) { return program.code[static_cast<std::size_t>(pc)]; }

int first_of_role(const Program& program, int pc) {
  for (const kernels::Role& role : program.roles)
    if (role.begin <= pc && pc < role.end) return role.begin;
  return 0;
}

// Backwards from an instruction: to the head of its loop, from that loop's branch on to the instruction, then on before
// the loop.
std::vector<int> backwards(const Program& program, int pc) {
  const int first = first_of_role(program, pc);
  const kernels::Loop* loop = kernels::innermost_loop(program, pc);
  const int head = loop != nullptr ? loop->begin : first;
  std::vector<int> order;
  for (int i = pc - 1; i >= head; --i) order.push_back(i);
  if (loop != nullptr)
    for (int i = loop->branch; i >= pc; --i) order.push_back(i);
  for (int i = head - 1; i >= first; --i) order.push_back(i);
  return order;
}

// The wait that the recording's end cut off. Warps that issued nothing at all have not begun.
void add_open_wait(WarpLane& lane, std::uint16_t warp, const gpu::Recording& recording) {
  if (lane.issues.empty()) return;
  const sm::IssueRecord& last = lane.issues.back();
  const std::uint64_t since = std::max(last.cycle + 1, lane.waits.empty() ? 0 : lane.waits.back().until);
  if (since >= recording.end) return;
  lane.waits.push_back({warp, open_wait(recording.program(), last.pc), since, recording.end});
}

}  // namespace

std::vector<WarpLane> warp_lanes(const gpu::Recording& recording) {
  const auto warps = static_cast<std::size_t>(recording.run->work().resident * recording.program().warps);
  std::vector<WarpLane> lanes(warps);
  for (const sm::IssueRecord& issue : recording.log.issues)
    if (issue.warp < warps) lanes[issue.warp].issues.push_back(issue);
  for (const sm::WaitRecord& wait : recording.log.waits)
    if (wait.warp < warps) lanes[wait.warp].waits.push_back(wait);
  for (std::size_t warp = 0; warp < warps; ++warp)
    add_open_wait(lanes[warp], static_cast<std::uint16_t>(warp), recording);
  return lanes;
}

int next_of(const Program& program, int pc) {
  const Instruction& in = at(program, pc);
  if (in.op == Opcode::exit) return -1;
  if (in.op == Opcode::bra && in.loop >= 0) return program.loops[static_cast<std::size_t>(in.loop)].begin;
  return pc + 1 < static_cast<int>(program.code.size()) ? pc + 1 : -1;
}

Stall open_wait(const Program& program, int pc) {
  const int next = next_of(program, pc);
  if (next < 0) return Stall::drained;
  const Instruction& in = at(program, next);
  if (in.async >= 0) {
    const kernels::AsyncOp& op = program.async[static_cast<std::size_t>(in.async)];
    const bool waits = op.kind == AsyncKind::wait || op.kind == AsyncKind::sync;
    if (waits) return op.by_design ? Stall::by_design : Stall::async_copy;
    if (op.kind == AsyncKind::matmul_wait) return Stall::math_pipe;
  }
  if (in.op == Opcode::bar_sync) return Stall::barrier;
  if (in.op == Opcode::depbar) return Stall::async_copy;
  if (in.control.wait_mask == 0) return Stall::wait;
  const std::vector<int> needed = producers(program, next);
  const bool global = std::any_of(needed.begin(), needed.end(), [&](int i) {
    const Opcode op = at(program, i).op;
    return op == Opcode::ldg || op == Opcode::stg || op == Opcode::ldgsts || op == Opcode::red;
  });
  return global ? Stall::long_scoreboard : Stall::short_scoreboard;
}

std::vector<int> producers(const Program& program, int pc) {
  const Instruction& in = at(program, pc);
  std::set<int> found;
  std::vector<Operand> open;
  for (const Operand& source : in.src)
    if (is_register(source)) open.push_back(source);
  if (is_register(in.guard)) open.push_back(in.guard);
  unsigned counters = in.control.wait_mask;
  for (const int i : backwards(program, pc)) {
    const Instruction& before = at(program, i);
    for (const std::int8_t counter : {before.control.write_barrier, before.control.read_barrier}) {
      if (counter < 0 || (counters >> counter & 1U) == 0) continue;
      counters &= ~(1U << counter);
      found.insert(i);
    }
    const auto written = [&](const Operand& source) {
      return std::any_of(before.dst.begin(), before.dst.end(),
                         [&](const Operand& result) { return overlap(result, source); });
    };
    if (std::any_of(open.begin(), open.end(), written)) {
      found.insert(i);
      std::erase_if(open, written);
    }
    if (open.empty() && counters == 0) break;
  }
  return {found.begin(), found.end()};
}

}  // namespace noteg::trace
