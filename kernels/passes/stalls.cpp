#include <algorithm>
#include <array>
#include <vector>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/passes.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

constexpr int never_issued = -1000;

// Issue times of one warp that never waits for anything but its stall counts: the soonest that hardware could
// run it, hence what the stall counts must be safe for.
class IssueClock {
 public:
  IssueClock(Program& program, const LatencyModel& model)
      : program_(program), model_(model), writer_(resource_count, -1), written_at_(resource_count, never_issued) {
    pipe_free_.fill(never_issued);
  }

  void step(int at, int previous) {
    Instruction& ins = program_.code[static_cast<std::size_t>(at)];
    ins.control.stall = static_cast<std::uint8_t>(std::max<int>(ins.control.stall, least_stall(model_, ins)));
    if (previous >= 0) {
      Control& before = program_.code[static_cast<std::size_t>(previous)].control;
      // A NOP is there because stalls of 15 cycles do not do: the one before it holds for all of them.
      if (ins.op == Opcode::nop) before.stall = greatest_stall;
      const int natural = now_ + before.stall;
      const int due = std::max({natural, ready(ins), visible(before, ins)});
      before.stall = static_cast<std::uint8_t>(std::min(greatest_stall, before.stall + due - natural));
      now_ += before.stall;
    }
    record(at, ins);
  }

 private:
  // Sources of fixed-latency producers, and the pipe.
  int ready(const Instruction& ins) const {
    int due = pipe_free_[static_cast<std::size_t>(opcode_info(ins.op).pipe)];
    auto wait_for = [&](int r, bool as_guard) {
      const auto i = static_cast<std::size_t>(r);
      if (writer_[i] < 0) return;
      const Opcode producer = program_.code[static_cast<std::size_t>(writer_[i])].op;
      due = std::max(due, written_at_[i] + fixed_latency(model_, producer, ins.op, r, as_guard));
    };
    for (const Operand& o : ins.src) for_each_resource(o, [&](int r) { wait_for(r, false); });
    for_each_resource(ins.guard, [&](int r) { wait_for(r, true); });
    if (is_guarded(ins)) for_each_write(ins, [&](int r) { wait_for(r, false); });
    return due;
  }

  // A counter can be waited for from the second cycle after its producer's issue on.
  int visible(const Control& before, const Instruction& ins) const {
    auto is_waited = [&](int counter) { return counter >= 0 && (ins.control.wait_mask >> counter & 1) != 0; };
    return is_waited(before.write_barrier) || is_waited(before.read_barrier) ? now_ + 2 : now_;
  }

  void record(int at, const Instruction& ins) {
    pipe_free_[static_cast<std::size_t>(opcode_info(ins.op).pipe)] = now_ + issue_interval(model_, ins.op);
    for_each_write(ins, [&](int r) {
      writer_[static_cast<std::size_t>(r)] = is_variable(ins) ? -1 : at;
      written_at_[static_cast<std::size_t>(r)] = now_;
    });
  }

  Program& program_;
  const LatencyModel& model_;
  std::vector<int> writer_, written_at_;
  std::array<int, pipe_count> pipe_free_{};
  int now_ = 0;
};

// Of the wait for a tensor core's result, every instruction up to the first that needs it holds an even part, so that
// warps which share the core keep their turns (H200M: two warps with two chains each saturate it; with the whole wait
// in front of the reader they would miss it by an eighth).
void spread_tensor_waits(Program& program, const LatencyModel& model, const std::vector<int>& trace) {
  std::vector<int> writer(resource_count, -1);  // place in the trace
  const auto needs = [&](int r, int place) {
    int& from = writer[static_cast<std::size_t>(r)];
    if (from < 0) return;
    Control& control = program.code[static_cast<std::size_t>(trace[static_cast<std::size_t>(from)])].control;
    const int part = std::min(greatest_stall, model.tensor / (place - from));
    control.stall = static_cast<std::uint8_t>(std::max<int>(control.stall, part));
    from = -1;
  };
  for (int place = 0; place < static_cast<int>(trace.size()); ++place) {
    const Instruction& ins = program.code[static_cast<std::size_t>(trace[static_cast<std::size_t>(place)])];
    for_each_read(ins, [&](int r) { needs(r, place); });
    const bool by_tensor = opcode_info(ins.op).pipe == Pipe::tensor && !is_variable(ins);
    for_each_write(ins, [&](int r) { writer[static_cast<std::size_t>(r)] = by_tensor ? place : -1; });
  }
}

// Compilers give the hint with the long stalls of arithmetic; above 11 the hardware needs it.
bool wants_yield(const Instruction& ins) {
  const Unit unit = opcode_info(ins.op).unit;
  return ins.control.stall >= 12 || (ins.control.stall >= 3 && unit != Unit::memory && unit != Unit::branch &&
                                     unit != Unit::barrier && unit != Unit::tensor);
}

}  // namespace

void assign_stalls(Program& program, const LatencyModel& model) {
  const std::vector<int> trace = two_iteration_walk(program);
  spread_tensor_waits(program, model, trace);
  IssueClock clock(program, model);
  int previous = -1;
  for (const int at : trace) {
    clock.step(at, previous);
    previous = at;
  }
  for (Instruction& ins : program.code) ins.control.yield = wants_yield(ins);
}

void assign_control_bits(Program& program, const LatencyModel& model) {
  insert_nops(program, model);
  assign_counters(program);
  assign_stalls(program, model);
  assign_reuse(program, model);
}

}  // namespace noteg::kernels
