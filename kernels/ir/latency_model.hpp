// What a compiler knows of the machine: when it writes control bits, fixed latencies between classes of instructions
// and how long an issue occupies its pipe; when it budgets registers, what an SM holds. Filled from an SmSpec by
// whoever builds kernels for a GPU; the IR itself knows no GPU.
#pragma once

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

struct LatencyModel {
  int fma = 4;        // FMA pipe to FMA pipe
  int fma_heavy = 4;  // IMAD to FMA pipe
  int alu = 4;        // ALU to ALU
  int half = 5;
  int tensor = 24;               // mma to one on the same accumulators, or to who reads them
  int tensor_interval = 8;       // between two mma
  int cross_pipe = 5;            // any other pair of fixed-latency pipes
  int to_memory = 5;             // fixed-latency producer to a memory address or store data
  int to_decoupled = 4;          // to other variable-latency units (MUFU, LDC); NAK80
  int to_fp64 = 6;               // NAK80
  int predicate_to_branch = 13;  // predicate writer to guard or branch
  int uniform_to_vector = 6;
  int uniform_to_uniform = 4;
  int uniform_to_memory = 9;  // uniform producer to a variable-latency consumer, NAK80
  int uniform_to_branch = 10;
  int fma_interval = 1;        // cycles a warp instruction occupies the FMA pipe (2 on 16 lanes)
  int fma_heavy_interval = 2;  // of IMAD
  int alu_interval = 2;
  int memory_interval = 4;  // a sub-core computes one memory address in so many cycles
  int barrier_stall = 6;    // least stall of BAR.SYNC and of a branch, as compilers write them
  int branch_stall = 5;
  int depbar_stall = 4;                     // DEPBAR acts on the next instruction only from this stall on
  int arrive_stall = 10;                    // of WARPGROUP.ARRIVE, as ptxas writes it
  bool async_copy = true;                   // LDGSTS exists
  int most_ctas = 16, most_threads = 1536;  // of an SM
  int shared_memory = 100 * 1024, shared_memory_reserved = 1024;  // bytes of an SM, of them taken for each CTA
};

// Latency between a fixed-latency producer and its consumer, from the compiler's point of view.

// Least distance in cycles from the issue of `producer` to the issue of `consumer` for the given resource
// (see passes/resources.hpp); as_guard: the consumer uses it as predicate guard or branch condition.
[[nodiscard]] int fixed_latency(const LatencyModel& model, Opcode producer, Opcode consumer, int resource,
                                bool as_guard);

// Cycles for which an issue keeps its pipe from the next instruction of the same pipe (1: none).
[[nodiscard]] int issue_interval(const LatencyModel& model, Opcode op);

// Least stall count that compilers give to an opcode by itself (barriers, branches).
[[nodiscard]] int least_stall(const LatencyModel& model, const Instruction& ins);

}  // namespace noteg::kernels
