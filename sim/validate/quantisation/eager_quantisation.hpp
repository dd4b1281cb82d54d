// Activations of two bytes that become int8 rows by PyTorch operations one after another, a kernel each, as
// AIConfigurator's collect_gemm.py writes it for SGLang's int8_scaled_mm: to f32, absolute values, the largest of a
// row, at least 1e-10, over 127, quotients, rounded, bounded, to int8. Nothing is fused: between two kernels lies a
// tensor of floats. Left out: the allocator, which hands freed tensors out again; powers of two of rows that a
// reduction rounds to.
#pragma once

#include "arch/spec.hpp"

namespace noteg::validate {

// PyTorch's launch of a reduction over contiguous rows of `columns` floats (ReduceConfig of Reduce.cuh): lanes and
// warps of at most 512 threads, as many of them on one row as leave a thread sixteen values.
struct RowReduction {
  double ctas = 1;
  double rounds = 1;  // of four loads of a thread, one round after the other
  int threads = 32;   // of a CTA
};
[[nodiscard]] RowReduction row_reduction(double rows, double columns);

struct EagerQuantisation {
  Seconds time;
  Bytes dram_read, dram_written, l2;
};
[[nodiscard]] EagerQuantisation eager_quantisation(const arch::GpuSpec& gpu, double rows, double columns);

}  // namespace noteg::validate
