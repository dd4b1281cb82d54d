// The geometry of Triton's tl.dot as its compiler lays it out on sm_80 to sm_89: blocked layouts of the copies,
// swizzled tiles in shared memory, warps over the tile (mma layout, version 2), or thread tiles of 4 x 4 where FFMA
// multiplies. On sm_90 blocks of 64 rows go to warpgroups. Left out: tensor descriptors, warps that split K.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"
#include "kernels/families/mma/mma_parts.hpp"
#include "kernels/families/mma/mma_plan.hpp"

namespace noteg::kernels {

struct TritonGrid {
  int warps_m = 1, warps_n = 1;
};

// One operand on its way to shared memory.
struct TritonCopy {
  bool is_async = false;     // cp.async, num_stages - 1 tiles ahead; otherwise LDG and STS in the same iteration
  int pointers = 1;          // that a thread keeps, 64 bits each: one a copy, as tl.load has a tensor of them
  bool is_widest = true;     // no alignment keeps its accesses narrower than they could be
  int elements = 1;          // of the tile per thread
  double element_bytes = 2;  // in memory and in shared memory
};

// Threads over the tile where FFMA multiplies: `size` x `size` elements at a time, `lanes` and `warps` of them beside
// each other, and the whole again until the tile is full.
struct TritonThreads {
  int size = 4;
  int lanes_m = 1, lanes_n = 32;
  int warps_m = 1, warps_n = 1;
  int repeats_m = 1, repeats_n = 1;

  [[nodiscard]] int thread_m() const { return size * repeats_m; }
  [[nodiscard]] int thread_n() const { return size * repeats_n; }
};

struct TritonPlan {
  MmaPlan mma;  // of FFMA kernels the operands, warps and stages only
  bool is_ffma = false;
  bool on_warpgroups = false;  // wgmma from shared memory
  int blocks = 1;              // of 64 rows of a warpgroup
  TritonCopy a, b;
  TritonThreads threads;
  bool casts_b = false;   // 8-bit weights become A's type in registers
  bool scales = false;    // 8-bit floats: a block's products are scaled on their way to the sums
  bool gathers = false;   // a table names the rows of A and C, and extents are arguments
  int buffers = 1;        // of each asynchronous operand; multiplications of warpgroups still read one more
  int registers = 0;      // per thread
  bool is_tight = false;  // fragments that are loaded ahead of their turn would not fit
  int spilled_words = 0;  // that go to local memory and back in an iteration
};

inline constexpr int most_registers = 255;

[[nodiscard]] TritonGrid triton_warps(const Tile& tile, int warps);
// The instruction where tl.dot becomes wgmma on GPUs that have it: four warps for every 64 rows, 16-bit types or tf32
// (8-bit weights go by mma.sync here). Nothing for other blocks.
[[nodiscard]] std::optional<Tile> triton_warpgroup_instruction(const KernelConfig& config);
// From a configuration whose types, tile, threads, stages and alignments are settled.
[[nodiscard]] TritonPlan plan_triton(const KernelConfig& config);
// Shared memory that Triton asks for: buffers of the pipeline, or the epilogue's change of layout if that takes more.
[[nodiscard]] std::int64_t triton_shared_bytes(const KernelConfig& config);

// A thread's elements of A or B for `depth` values of k, as FFMA kernels read them.
[[nodiscard]] AccessPattern triton_ffma_pattern(const TritonPlan& plan, bool of_a, int bytes);
[[nodiscard]] bool reads_along_k(const TritonPlan& plan, bool of_a);

// The way of C: accumulators to shared memory, back in rows, to memory.
struct TritonStore {
  int rows = 0, columns = 0;  // that change layout at a time
  int steps = 1;              // until the tile is done
  int stride = 0;             // bytes between rows in shared memory
  int vector_bytes = 16;      // of a load from there and of a store to memory
  int writes = 1, reads = 1;  // per thread and step
  int write_bytes = 4;
};
[[nodiscard]] TritonStore plan_triton_store(const KernelConfig& config);

// The pieces of a triton kernel that its builder strings together; internal to the family.

struct TritonState : MmaState {
  std::vector<Value> a_pointers, b_pointers;  // one a copy, as far as registers go
  std::vector<Value> weights;                 // of 8 bits on their way to A's type
  std::vector<Value> tile;                    // FFMA: accumulators
  std::vector<Value> partials;                // of one block, where it is scaled
  std::vector<Value> row_scales;              // of a thread's rows; of its columns one, by way of shared memory
  Value column_scale;
  int scale_pattern = -1, scale_store = -1, scale_read = -1;
};

[[nodiscard]] TritonState make_triton_state(Emitter& e, const TritonPlan& plan);

// Copies of one tile: the asynchronous ones, or those by way of registers with the barriers that they need.
// Multiplications of the iteration that come before the first of several instructions, and over which they are spread.
struct Releases {
  int first = 0, span = 0;
};
void emit_triton_async(Emitter& e, const TritonPlan& plan, const TritonState& state, Releases at = {});
void emit_triton_sync(Emitter& e, const TritonPlan& plan, const TritonState& state);

// Registers beyond 255 go to local memory and come back once an iteration.
void emit_triton_spills(Emitter& e, const TritonPlan& plan, const TritonState& state);

// The products of one tile from shared memory; ends with the place behind which the tile may be overwritten.
// Returns how many multiplications come before the last load from shared memory.
int emit_triton_products(Emitter& e, const TritonPlan& plan, const TritonState& state);
// The same by warpgroups, which read shared memory themselves; the products of the tile before have ended then.
int emit_triton_warpgroups(Emitter& e, const TritonPlan& plan, const TritonState& state);
void emit_triton_warpgroup_wait(Emitter& e, int groups);
int emit_triton_ffma(Emitter& e, const TritonPlan& plan, const TritonState& state);

// Block scales as vLLM's kernel for 8-bit floats has them (w8a8_triton_block_scaled_mm): a float for each row of A and
// one for 128 columns of B, in each block of K. Asked for before the products; columns change layout behind them; then
// FMUL by the row's, FFMA by the column's into the sums.
void emit_triton_scale_loads(Emitter& e, const TritonPlan& plan, const TritonState& state);
void emit_triton_scale_store(Emitter& e, const TritonPlan& plan, const TritonState& state);
void emit_triton_scaling(Emitter& e, const TritonPlan& plan, const TritonState& state);

void emit_triton_epilogue(Emitter& e, const TritonPlan& plan, const KernelConfig& config, const TritonState& state);

// What a compiler made of configurations that people launch; others go by the rule of triton_plan.

struct TritonRegisters {
  int registers = 0;
  int stack_bytes = 0;  // per thread: what was spilled
};

[[nodiscard]] std::optional<TritonRegisters> known_triton_registers(const KernelConfig& config);

// Triton configurations as people write and print them: Inductor's "BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP_M=8,
// num_warps=4, num_stages=3", triton.Config's "BLOCK_SIZE_M: 64, ...", and Inductor's list of them.

// Of the triton family. Words that decide nothing here (EVEN_K, ACC_TYPE ...) are read over; unknown ones are errors.
[[nodiscard]] Result<KernelConfig> triton_from_text(std::string_view text);
[[nodiscard]] std::string triton_text(const KernelConfig& config);

// A JSON list: objects with the words as keys, or lists of BLOCK_M, BLOCK_N, BLOCK_K, num_stages, num_warps.
[[nodiscard]] Result<std::vector<KernelConfig>> triton_from_json(std::string_view text);

// What Inductor's autotuner tries for mm, with blocks no larger than the problem as it makes them; no repeats.
[[nodiscard]] std::vector<KernelConfig> inductor_configs(const GemmShape& shape);

}  // namespace noteg::kernels
