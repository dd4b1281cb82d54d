// The instruction list of a kernel that mostly moves bytes: every thread loads some vectors, computes on them, reduces
// over the CTA where rows have a sum or a largest value, and stores some vectors. Left out: which values these are.
#pragma once

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

struct MemoryWork {
  int threads = 256;
  int loads = 1, stores = 1;  // vectors of a thread
  int load_bytes = 16, store_bytes = 16;
  double operations = 0;    // FP32 instructions per loaded vector
  double special = 0;       // MUFU per loaded vector
  int reductions = 0;       // over all threads of the CTA, one behind the other
  bool turns = false;       // through shared memory, where rows and columns change places
  bool scatters = false;    // stores go to rows that a table names, read first
  std::int64_t rounds = 1;  // how often a thread loads and computes before it stores
};

[[nodiscard]] Result<Program> build_memory(const MemoryWork& work, const LatencyModel& latency);

}  // namespace noteg::kernels
