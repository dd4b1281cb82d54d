#include "sim/validate/quantisation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/memory/tile_reuse.hpp"

namespace noteg::validate {
namespace {

constexpr double read_bytes = 2;  // per element

// Reads and writes in a stream.
Seconds streamed(const arch::GpuSpec& gpu, double bytes) {
  return Bytes{bytes} / (gpu.dram.bandwidth * gpu.dram.mixed_efficiency);
}

// SGLang's per_token_quant_fp8.cu: a scale for each row, so that the row is read twice. With at least sixteen rows on
// an SM one warp takes a row, else a CTA of 256 threads; a thread has 32 bytes under way.
struct RowKernel {
  double rows_per_sm = 8, under_way = 256 * 32;
  bool keeps_row = false;  // in shared memory, between the two passes
};

RowKernel row_kernel(const arch::GpuSpec& gpu, double rows, double k) {
  if (rows < gpu.sms * 16.0) return {};
  return {gpu.sm.occupancy.max_warps * 1.0, 32 * 32, k < 2048};
}

// The second pass finds a row in L2 as far as the rows at work fit there.
double missed_again(const arch::GpuSpec& gpu, const RowKernel& kernel, double rows, double k) {
  if (kernel.keeps_row) return 0;
  const double at_work = std::min(rows, kernel.rows_per_sm * gpu.sms) * k * read_bytes;
  const memory::Capacity l2{gpu.l2.size.value, gpu.l2.kept_below, gpu.l2.gone_above};
  return 1 - memory::retained_fraction(at_work * memory::l2_copies(gpu.l2.partitions, 1), l2);
}

Seconds by_row(const arch::GpuSpec& gpu, double rows, double k, double written) {
  const RowKernel kernel = row_kernel(gpu, rows, k);
  const double again = missed_again(gpu, kernel, rows, k);
  const Seconds stream = streamed(gpu, rows * k * (read_bytes * (1 + again) + written));
  const Seconds l2 = gpu.l2.latency / gpu.clock.sustained;
  const Seconds pass = (gpu.dram.latency + l2) + (kernel.keeps_row ? Seconds{0} : gpu.dram.latency * again + l2);
  const double steps = std::ceil(k * read_bytes / kernel.under_way);
  const Seconds waves = pass * (steps * std::ceil(rows / (kernel.rows_per_sm * gpu.sms)));
  return gpu.launch.kernel + gpu.dram.latency + std::max(stream, waves);
}

// A scale for each 16 or 128 numbers, or one that was known: each thread reads its part and writes it, all at once.
Seconds by_block(const arch::GpuSpec& gpu, double rows, double k, double written) {
  return gpu.launch.kernel + gpu.dram.latency * 2.0 + streamed(gpu, rows * k * (read_bytes + written));
}

// TensorRT-LLM on sm_120, fp8_utils.py: 64 warps go down the rows of each 512 columns, one row after the other. A row
// costs a way to DRAM and four chains of a largest value (five SHFL), a logarithm, a power, a division, a store.
Seconds by_columns(const arch::GpuSpec& gpu, double rows, double k, double written) {
  constexpr double warps = 64, blocks = 4, cycles_of_block = 360;
  const Seconds chain = (gpu.l2.latency + Cycles{blocks * cycles_of_block}) / gpu.clock.sustained;
  const Seconds in_turn = (gpu.dram.latency + chain) * std::ceil(rows / warps);
  return gpu.launch.kernel + std::max(in_turn, streamed(gpu, rows * k * (read_bytes + written)));
}

// DeepGEMM's layout.hpp on sm_100 gives each row of the weights' scales of its own before every product: a list of
// numbers, their quotients, a gather of floats, and a kernel that packs four to a word. PyTorch's gather has eight CTAs
// of 128 threads on an SM; each thread looks a number up, then the float there, then goes on to its next.
Seconds spreading_of_scales(const arch::GpuSpec& gpu, double n, double k) {
  constexpr double kernels = 4, bytes_per_scale = 4 + 4 + 1;  // written, read, packed
  const double in_turn = std::ceil(n * (k / 128) / (gpu.sms * 8 * 128.0));
  const Seconds gather = gpu.l2.latency / gpu.clock.sustained * (3 * in_turn);  // two loads, and where they are
  return gather + (gpu.launch.kernel + gpu.dram.latency) * kernels + streamed(gpu, n * (k / 128) * bytes_per_scale);
}

}  // namespace

gpu::Library library_in_notes(std::string_view notes, std::string_view op) {
  const auto names = [&](std::string_view word) { return notes.find(word) != std::string_view::npos; };
  if (op == "gemm_int8") return names("TensorRT-LLM") ? gpu::Library::tensorrt_llm : gpu::Library::cublas;
  if (op != "linear_quant") return gpu::Library::cublas;
  if (names("Triton")) return gpu::Library::cublas;
  if (names("DeepGEMM")) return gpu::Library::deep_gemm;
  if (names("CuTe-DSL")) return gpu::Library::flashinfer_cute;
  if (names("FlashInfer CUTLASS")) return gpu::Library::flashinfer_cutlass;
  if (names("fp8_block_scaling_gemm")) return gpu::Library::tensorrt_llm;
  if (names("fp8_scaled_mm") || names("sgl_kernel")) return gpu::Library::sgl_kernel;
  return gpu::Library::cublas;
}

Seconds quantisation_time(const arch::GpuSpec& gpu, const kernels::GemmShape& shape, kernels::DataType type,
                          gpu::Library library) {
  const double written = kernels::stored_bytes_of(type);
  const double rows = static_cast<double>(shape.m) * static_cast<double>(shape.batch);
  const auto n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  switch (library) {
    case gpu::Library::cublas:
    case gpu::Library::cublas_before_nvjet:
    case gpu::Library::sgl_kernel: return by_row(gpu, rows, k, written);
    case gpu::Library::deep_gemm:
      return by_block(gpu, rows, k, written) + (gpu.sm.name == "sm_90" ? Seconds{0} : spreading_of_scales(gpu, n, k));
    case gpu::Library::flashinfer_cute:
    case gpu::Library::flashinfer_cutlass: return by_block(gpu, rows, k, written);
    case gpu::Library::tensorrt_llm: return by_columns(gpu, rows, k, written);
  }
  return Seconds{0};
}

}  // namespace noteg::validate
