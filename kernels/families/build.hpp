// A resolved configuration to a Program with control bits: the one entry to all builders.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

// What the builder must know of the problem beside the configuration: it decides vector widths and
// the shape of edge code, not the loop count (Loop::is_main takes its iterations from the problem).
struct BuildRequest {
  KernelConfig config;  // resolved
  LatencyModel latency;
  bool is_draft = false;  // the instructions alone, in no order, without registers and control bits
};

[[nodiscard]] Result<Program> build_program(const BuildRequest& request);

// The builders, one a family; build_program() is the entry.

// One thread per element of C, square shared-memory tile of run-time size, two barriers per k tile.
[[nodiscard]] Result<Program> build_naive(const BuildRequest& request);

// The same with a tile that the compiler knows; build_naive() calls it.
[[nodiscard]] Result<Program> build_naive_static(const BuildRequest& request);

// Register blocking, 128-bit loads, single (1 stage) or double (2 stages) buffer.
[[nodiscard]] Result<Program> build_blocked(const BuildRequest& request);

// Multistage cp.async (3 stages or more) or LDG + STS pipelined (2) FFMA kernel as CUTLASS and cuBLAS ship it.
[[nodiscard]] Result<Program> build_simt(const BuildRequest& request);

// CLBlast's Xgemm with its tuning parameters.
[[nodiscard]] Result<Program> build_clblast(const BuildRequest& request);

// Multistage cp.async (3 stages or more) or LDG + STS pipelined (2) kernel on tensor cores: ldmatrix and mma.sync.
[[nodiscard]] Result<Program> build_mma(const BuildRequest& request);

// Bulk tensor copies, warpgroup multiplications, specialised warps (sm_90).
[[nodiscard]] Result<Program> build_wgmma(const BuildRequest& request);

// Bulk tensor copies, one thread that multiplies into tensor memory, an epilogue of its own warps (sm_100).
[[nodiscard]] Result<Program> build_tcgen05(const BuildRequest& request);

// Triton's tl.dot on mma.sync or FFMA: pointers of its own for every copy, tiles in shared memory, no fragments ahead.
[[nodiscard]] Result<Program> build_triton(const BuildRequest& request);

// Matrix times few vectors: every thread reads along K, no tensor cores.
[[nodiscard]] Result<Program> build_gemv(const BuildRequest& request);

// FlashAttention-2: two products in one loop with softmax between.
[[nodiscard]] Result<Program> build_attention(const BuildRequest& request);

// FlashAttention-3: the same by warpgroups that take turns, keys and values by bulk copies (sm_90).
[[nodiscard]] Result<Program> build_flash3(const BuildRequest& request);

// The instruction list of a kernel that mostly moves bytes: every thread loads some vectors, computes on them, reduces
// over the CTA where rows have a sum or a largest value, and stores some vectors. Left out: which values these are.

struct MemoryWork {
  int threads = 256;
  int loads = 1, stores = 1;  // vectors of a thread
  int load_bytes = 16, store_bytes = 16;
  double operations = 0;    // FP32 instructions per loaded vector
  double special = 0;       // MUFU per loaded vector
  int reductions = 0;       // over all threads of the CTA, one behind the other
  bool turns = false;       // through shared memory, where rows and columns change places
  bool scatters = false;    // stores go to rows that a table names, read first
  bool casts = false;       // values one after the other, each load and store behind a switch over types
  std::int64_t rounds = 1;  // how often a thread loads and computes before it stores
};

[[nodiscard]] Result<Program> build_memory(const MemoryWork& work, const LatencyModel& latency);

// A CTA copies one row of each stream to the place that its word of a table names, 16 bytes a thread at a time: vLLM's
// writer of paged caches (reshape_and_cache_flash). Threads beyond the row's vectors compute addresses alike and leave.
inline constexpr int row_vector_bytes = 16;

struct RowCopyWork {
  int threads = 128;
  std::int64_t vectors = 16;  // of a row
  int streams = 2;            // keys, then values
};

[[nodiscard]] Result<Program> build_row_copy(const RowCopyWork& work, const LatencyModel& latency);

}  // namespace noteg::kernels
