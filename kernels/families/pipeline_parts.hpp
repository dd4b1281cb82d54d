// What SIMT and mma kernels have in common, since the same copy iterators and the same epilogue surround both main
// loops: registers of the copy pipeline, set-up, guarded copies, the way to C; internal to kernels/builders.
#pragma once

#include <string>
#include <vector>

#include "kernels/families/common.hpp"

namespace noteg::kernels {

// Thread and CTA indices, predicate masks, iterator set-up: what CUTLASS kernels execute before the first copy,
// from instruction totals of FFMA kernels measured on an H200 less the parts that are written out.
inline constexpr int library_index_instructions = 330;

// Registers and address patterns of the copy pipeline; they live through the kernel.
struct PipelineState {
  Value a_pointer, b_pointer;  // 64-bit global pointers
  Value a_mask, b_mask;        // one bit per copy: inside the matrix
  Value write_offset;          // shared-memory addresses
  Value read_a, read_b;
  Value iterations_left;
  std::vector<Value> pointers, bits;  // of copies under way: address and mask bit
  std::vector<Value> staged;          // LDG + STS kernels: data on its way through registers
  int read_a_pattern = -1, read_b_pattern = -1;
  int copy_a_pattern = -1, copy_b_pattern = -1;
  int store_a_pattern = -1, store_b_pattern = -1;
  int idle_pattern = -1;  // predicated off
};

// The pointers, masks, offsets and the counter of a fresh pipeline.
void make_pipeline_registers(Emitter& e, PipelineState& state);
[[nodiscard]] int add_idle_pattern(Emitter& e);

// Of a memory instruction that moves `bytes` per lane: ".128", ".64" or nothing.
[[nodiscard]] std::string width_suffix(int bytes);

// Thread and CTA indices, pointers, masks, stage counters: everything before the first copy.
void emit_pipeline_setup(Emitter& e, const PipelineState& state, int index_instructions = library_index_instructions);

// to = from + pitch, 64 bits wide. `upper`: IADD3 or IMAD, as compilers choose for the upper half.
void emit_pointer_step(Emitter& e, Value to, Value from, int predicate, Opcode upper);

// Predicate `guard` = bit `index` of the mask.
void emit_copy_guard(Emitter& e, Value bit, Value mask, int index, int guard);

// Waits until all but the `stages` - 2 youngest groups of asynchronous copies have arrived.
void emit_copy_wait(Emitter& e, int stages);
void emit_barrier(Emitter& e);

// Where the rows of C lie, in shared and in global memory.
struct RowAddresses {
  Value pointer, write, read, row, column;
};
[[nodiscard]] RowAddresses fresh_row_addresses(Emitter& e);
// Ends with the barrier behind which the main loop's tiles may be overwritten.
void emit_row_addresses(Emitter& e, const RowAddresses& at);

// Serial split-K: CTAs of one tile take turns through a semaphore in global memory.
[[nodiscard]] bool takes_turns(const KernelConfig& config);
void emit_semaphore_wait(Emitter& e, Value pointer);
void emit_semaphore_release(Emitter& e, Value pointer);

// The program's own facts, from a plan of either family.
template <typename Plan>
void describe_pipeline(Program& program, const Plan& plan, const KernelConfig& config, const char* family) {
  program.name = config.name.empty() ? family : config.name;
  program.warps = plan.warps;
  program.threads = plan.threads;
  program.shared_bytes = plan.shared_bytes;
  program.k_per_iteration = plan.tile.k;
  program.stages = plan.stages;
  program.prologue_tiles = plan.is_async ? plan.stages - 1 : 1;
}

}  // namespace noteg::kernels
