// Latency between a fixed-latency producer and its consumer, from the compiler's point of view.
#pragma once

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

// Least distance in cycles from the issue of `producer` to the issue of `consumer` for the given resource
// (see passes/resources.hpp); as_guard: the consumer uses it as predicate guard or branch condition.
[[nodiscard]] int fixed_latency(const LatencyModel& model, Opcode producer, Opcode consumer, int resource,
                                bool as_guard);

// Cycles for which an issue keeps its pipe from the next instruction of the same pipe (1: none).
[[nodiscard]] int issue_interval(const LatencyModel& model, Opcode op);

// Least stall count that compilers give to an opcode by itself (barriers, branches).
[[nodiscard]] int least_stall(const LatencyModel& model, Opcode op);

}  // namespace noteg::kernels
