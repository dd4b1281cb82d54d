// Kernels beside the matrix products: elementwise, softmax, norms, rotary, quantisation, transposition, gathers. Each
// is one line that says how many rows and columns it reads and writes and what it does to each value.
//   softmax rows=8192 columns=4096 in=bf16
// Left out: what a fusion of several saves (write it as one line with its own bytes and operations).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/shape.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/support/result.hpp"

namespace noteg::operators {

struct MemoryKernel {
  std::string name = "elementwise";
  double rows = 1, columns = 1;  // of what is written
  kernels::DataType in = kernels::DataType::bf16, out = kernels::DataType::bf16;
  double inputs = 1;      // values read for each that is written
  double operations = 1;  // FP32 per value written
  double special = 0;     // exponentials, roots and quotients per value written
  int reductions = 0;     // over a row; a CTA has a row then
  bool turns = false;     // rows become columns, through shared memory
  bool scatters = false;  // rows are found through a table
  bool one_cta = false;   // one CTA goes over all values, a thousand at a time
  bool casts = false;     // PyTorch's copy to another type
  bool caches = false;    // a CTA copies a row's halves, keys and values, to where a table says

  [[nodiscard]] double bytes_in() const { return rows * columns * inputs * kernels::bytes_of(in); }
  [[nodiscard]] double bytes_out() const { return rows * columns * kernels::bytes_of(out); }
};

struct MemoryKind {
  std::string_view name, meaning;
  MemoryKernel usual;
};
[[nodiscard]] const std::vector<MemoryKind>& memory_kinds();

// The words of a line; of key=value both sides, of others the first alone.
struct LineWord {
  std::string key, value;
  bool has_value = false;
};
[[nodiscard]] std::vector<LineWord> words_of_line(std::string_view line);
[[nodiscard]] Diagnostics repeated_keys(const std::vector<LineWord>& words);

// A kind, then key=value: rows and columns, which must be there, in, out, inputs, operations, special, reductions. All
// mistakes at once.
[[nodiscard]] Result<MemoryKernel> memory_kernel_from(std::string_view line);

[[nodiscard]] Result<gpu::KernelLaunch> memory_launch(const arch::GpuSpec& gpu, const MemoryKernel& kernel,
                                                      gpu::L2State l2);
[[nodiscard]] Result<gpu::SimReport> simulate_memory(const arch::GpuSpec& gpu, const MemoryKernel& kernel,
                                                     const gpu::SimOptions& options, gpu::SmCache& cache);

}  // namespace noteg::operators
