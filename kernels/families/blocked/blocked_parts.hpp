// Geometry and pieces of the register-blocked kernel; internal to kernels/builders.
#pragma once

#include <vector>

#include "kernels/families/common.hpp"

namespace noteg::kernels {

inline constexpr int vector_width = 4;  // elements of a global access

struct BlockedOperand {
  Matrix matrix = Matrix::none;
  int extent = 0;                // tile along M or N
  bool is_k_contiguous = false;  // transposed on the way, by scalar stores
  int pad = 0;                   // elements per shared row
  int copies = 0;                // 128-bit loads per thread and k tile
};

struct BlockedPlan {
  Tile tile;
  int thread_m = 0, thread_n = 0;
  int threads_m = 0, threads_n = 0, threads = 0;
  bool is_double_buffered = false;
  BlockedOperand a, b;
  std::int64_t shared_bytes = 0;

  [[nodiscard]] int accumulators() const { return thread_m * thread_n; }
};

// Defaults: 8 x 8 per thread, two stages.
[[nodiscard]] Result<BlockedPlan> plan_blocked(const KernelConfig& config);

struct BlockedState {
  Value a_pointer, b_pointer, k_extent, k_index;
  Value read_a, read_b, write_a, write_b, buffer;
  std::vector<Value> accumulators;
  std::vector<Value> staged;  // one vector per copy, A first
  int read_a_pattern = -1, read_b_pattern = -1;
  int load_a_pattern = -1, load_b_pattern = -1;
  int write_a_pattern = -1, write_b_pattern = -1;
  int store_pattern = -1;
};

[[nodiscard]] BlockedState make_state(Emitter& e, const BlockedPlan& plan);
void emit_base_addresses(Emitter& e, const BlockedState& state);
void emit_tile_load(Emitter& e, const BlockedPlan& plan, const BlockedState& state);   // LDG with guards and addresses
void emit_tile_store(Emitter& e, const BlockedPlan& plan, const BlockedState& state);  // STS
void emit_buffer_addresses(Emitter& e, const BlockedState& state);                     // two buffers: where to read
void emit_buffer_change(Emitter& e, const BlockedState& state);                        // ... and where to write

}  // namespace noteg::kernels
