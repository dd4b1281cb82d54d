// From the builder's instructions to a program that runs: an order that hides latency, physical registers, control
// bits, and the law that these keep. Each pass works on the whole program, in the order of this page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ir/emitter.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

// While no FFMA can follow before something else is placed, what is held back may pass: in its turn, as CUTLASS and
// cuBLAS loops read, or behind all that is free, as loops read whose loads run far ahead. Or all but barriers may pass:
// copies into a buffer then come behind all that is computed from it.
enum class HeldBack : std::uint8_t { passes_in_turn, passes_last, barriers_stay };

// releases[i]: instruction i stays behind so many FFMAs of its block (Emitter::release_after).
void schedule(Program& program, const std::vector<int>& releases, const LatencyModel& model,
              HeldBack held_back = HeldBack::passes_in_turn);

// basic blocks [begin, end) of the program: cut behind branches and before loop heads.
struct BasicBlock {
  int begin = 0, end = 0;
};
[[nodiscard]] std::vector<BasicBlock> basic_blocks(const Program& program);

// A walk over a program that goes through every loop twice, so that what one iteration leaves behind for the next is
// seen. Passes that take the worst case of everything met on this walk are right for any number of iterations.

// Instruction indices in walking order.
[[nodiscard]] std::vector<int> two_iteration_walk(const Program& program);

// Virtual to physical registers: liveness over the loops, then greedy colouring of the interference graph in
// order of definition. Wide groups are aligned; a bank wish is kept where a register of that parity is free.

// Rewrites the program's registers and sets Program::registers (with the two that the hardware adds). Fails if
// more than 253 are needed at once: the kernel would spill, which is not modelled.
[[nodiscard]] Result<int> assign_registers(Program& program, const std::vector<VirtualGroup>& groups);

// Control bits: what lets the hardware run without checking register hazards (MICRO25). Fixed-latency results are
// covered by stall counts, variable-latency ones by dependence counters and wait masks. Runs on the final order
// and on physical registers.

inline constexpr int counter_count = 6;

// The counter that LDGDEPBAR and DEPBAR use for groups of asynchronous copies; given to nothing else in a
// program that has any.
inline constexpr int copy_counter = 0;

// Write and read barriers and wait masks.
void assign_counters(Program& program);

// NOPs where a tensor result is needed sooner than stall counts can wait for. Before the others: it changes the code.
void insert_nops(Program& program, const LatencyModel& model);

// Stall counts and yield hints; needs the wait masks.
void assign_stalls(Program& program, const LatencyModel& model);

// Reuse flags of operands; needs the stall counts.
void assign_reuse(Program& program, const LatencyModel& model);

// All of them, in that order.
void assign_control_bits(Program& program, const LatencyModel& model);

// The law of control bits: a program is safe if hardware that checks nothing computes the same as hardware that
// checks everything.

// One sentence for each hazard: a fixed-latency result that stall counts do not cover, a variable-latency result
// or source whose counter is not waited for, a counter waited for before it can be seen, a stall above 11 without
// yield, a DEPBAR whose stall is too short. Empty: the program is safe for any number of loop iterations.
[[nodiscard]] std::vector<std::string> check_control_bits(const Program& program, const LatencyModel& model);

}  // namespace noteg::kernels
