// Facts of kernels that were compiled and read: threads, registers, shared memory. Register allocation has no
// closed form, and one register more or less can cost a resident CTA, so the number read beats any formula.
#pragma once

#include <optional>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

inline constexpr int any = -1;

struct KnownKernel {
  Family family;
  Flavor flavor;
  int m, n, k;  // CTA tile in the row-major orientation
  int stages;
  int sliced_k;
  int thread_m;      // tells apart kernels of one tile; any
  int k_contiguous;  // how many of A, B are contiguous along K (0..2); any
  int threads;
  int registers;     // any: the rule of the family
  int shared_bytes;  // any: the rule of the family
};

[[nodiscard]] int k_contiguous_operands(Layout layout);

// The first row that fits; thread_m and threads are compared only where the configuration gives them. Null when
// nobody read such a kernel.
[[nodiscard]] const KnownKernel* find_known_kernel(const KernelConfig& config);

// Registers of tensor-core kernels as the compiler reported them.

// Nothing where nobody has compiled such a kernel.
[[nodiscard]] std::optional<int> known_mma_registers(const KernelConfig& config);

}  // namespace noteg::kernels
