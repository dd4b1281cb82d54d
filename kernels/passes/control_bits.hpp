// Control bits: what lets the hardware run without checking register hazards (MICRO25). Fixed-latency results are
// covered by stall counts, variable-latency ones by dependence counters and wait masks. Runs on the final order
// and on physical registers.
#pragma once

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

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

}  // namespace noteg::kernels
