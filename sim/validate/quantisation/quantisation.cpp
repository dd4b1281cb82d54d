#include "sim/validate/quantisation/quantisation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sim/memory/tile_reuse.hpp"
#include "sim/validate/quantisation/eager_quantisation.hpp"

namespace noteg::validate {
namespace {

constexpr double read_bytes = 2;  // per element

// The GPU at the clock that its SMs have.
struct Running {
  const arch::GpuSpec& gpu;
  Hertz clock;
};

// A kernel's launch, and its first number.
Seconds start_of(const arch::GpuSpec& gpu) { return gpu.launch.kernel + gpu.dram.latency; }

// The shortest kernel that reads and writes (H100M: 1.53 us for one row, 0.80 of them the launch).
Seconds least_of(const arch::GpuSpec& gpu) { return gpu.launch.kernel + gpu.dram.latency * 2.0; }

// Reads and writes in a stream that finds all in L2.
Seconds streamed_in_l2(const Running& at, double read, double written) {
  const arch::GpuSpec& gpu = at.gpu;
  return Bytes{read} / (gpu.l2.read_bandwidth * at.clock) + Bytes{written} / (gpu.l2.write_bandwidth * at.clock);
}

// Reads and writes in a stream.
Seconds streamed(const arch::GpuSpec& gpu, double bytes) {
  return Bytes{bytes} / (gpu.dram.bandwidth * gpu.dram.mixed_efficiency);
}

// SGLang's per_token_quant_fp8.cu: a scale for each row, so that the row is read twice. With at least sixteen rows on
// an SM one warp takes a row, else a CTA of 256 threads; a thread has 32 bytes under way.
struct RowKernel {
  double rows_per_sm = 8, under_way = 256 * 32;
};

RowKernel row_kernel(const arch::GpuSpec& gpu, double rows) {
  if (rows < gpu.sms * 16.0) return {};
  return {gpu.sm.occupancy.max_warps * 1.0, 32 * 32};
}

// The second pass finds a row in L2 as far as the rows at work fit there. Rows under way hide how long others wait, but
// nothing hides the first vector of each pass (h100_launches, quantise_rows).
Seconds by_row(const Running& at, double rows, double k, double written) {
  const arch::GpuSpec& gpu = at.gpu;
  const RowKernel kernel = row_kernel(gpu, rows);
  const double at_work = std::min(rows, kernel.rows_per_sm * gpu.sms) * k * read_bytes;
  const double again = 1 - memory::kept_by_one_reader(gpu.l2, at_work);
  const Seconds stream = streamed(gpu, rows * k * (read_bytes * (1 + again) + written));
  const Seconds step = gpu.dram.latency * (1 + again) + gpu.l2.latency / at.clock * 2.0;
  const double steps = std::ceil(k * read_bytes / kernel.under_way) * std::ceil(rows / (kernel.rows_per_sm * gpu.sms));
  return start_of(gpu) + step + std::max(stream, step * (steps - 1));
}

// A scale for each 128 numbers, or one that was known: each thread reads its part and writes it, all at once.
Seconds by_block(const arch::GpuSpec& gpu, double rows, double k, double written) {
  return least_of(gpu) + streamed(gpu, rows * k * (read_bytes + written));
}

// FlashInfer, a scale for each 16 numbers: resident threads go over the rows, 16 bytes of each under way at a time.
// From one vector to the next a thread takes the way to DRAM and what was 0.8 us at 1.98 GHz (QUANT26: 36 us for 8192
// rows of 8192 numbers on a B200).
Seconds by_vector(const Running& at, double rows, double k, double written) {
  const arch::GpuSpec& gpu = at.gpu;
  constexpr double vector = 16;
  constexpr Cycles vector_cycles{1584};
  const double under_way = gpu.sms * static_cast<double>(gpu.sm.occupancy.max_threads) * vector;
  const Seconds in_turn = (gpu.dram.latency + vector_cycles / at.clock) * (rows * k * read_bytes / under_way);
  return least_of(gpu) + std::max(in_turn, streamed(gpu, rows * k * (read_bytes + written)));
}

// TensorRT-LLM, a scale for the whole tensor that was known before: one pass. What it writes it writes again in the
// next call, so that it stays in L2 as far as it fits there beside what is read.
Seconds by_known_scale(const arch::GpuSpec& gpu, double rows, double k, double written) {
  const double kept = memory::kept_by_one_reader(gpu.l2, rows * k * (read_bytes + written));
  return by_block(gpu, rows, k, written * (1 - kept));
}

// TensorRT-LLM on sm_120, fp8_utils.py: 64 warps go down the rows of each 512 columns, one row after the other. A row
// costs a way to DRAM and four chains of a largest value (five SHFL), a logarithm, a power, a division, a store.
Seconds by_columns(const Running& at, double rows, double k, double written) {
  const arch::GpuSpec& gpu = at.gpu;
  constexpr double warps = 64, blocks = 4, cycles_of_block = 360;
  const Seconds chain = (gpu.l2.latency + Cycles{blocks * cycles_of_block}) / at.clock;
  const Seconds in_turn = (gpu.dram.latency + chain) * std::ceil(rows / warps);
  return gpu.launch.kernel + std::max(in_turn, streamed(gpu, rows * k * (read_bytes + written)));
}

// TensorRT-LLM, cudaFp8Utils.cu: a scale for the whole tensor. It is set to nothing; 1024 CTAs of 1024 threads look for
// the largest number, each thread for one at a time; all is read again, in vectors, from L2 as far as it fits there;
// PyTorch makes the scale FP32.
// H200M (scale_search): 1024 such CTAs take 0.84 us a round, on which come 0.67 us for each million of numbers.
Seconds by_tensor(const Running& at, double rows, double k, double written) {
  const arch::GpuSpec& gpu = at.gpu;
  constexpr double ctas = 1024, threads_of_cta = 1024;
  constexpr Seconds round{0.84e-6};
  const double threads = gpu.sms * static_cast<double>(gpu.sm.occupancy.max_threads);
  const Seconds rounds = round * std::ceil(ctas * threads_of_cta / threads);
  const Seconds found = (gpu.l2.latency + gpu.l2.far_latency) * 0.5 / at.clock;  // warps ahead fetch lines
  const Seconds search = gpu.launch.kernel + rounds + found * std::ceil(rows * k / threads);
  const double kept = memory::kept_by_one_reader(gpu.l2, rows * k * (read_bytes + written));
  return least_of(gpu) * 3.0 + std::max(search, streamed(gpu, rows * k * read_bytes)) +
         streamed(gpu, rows * k * (read_bytes + written) * (1 - kept)) +
         streamed_in_l2(at, rows * k * read_bytes * kept, rows * k * written * kept);
}

// PyTorch's index_select: where the numbers that belong to an index are whole vectors, each index has a CTA of its own
// (IndexKernelUtils.cu); elsewhere eight CTAs of 128 threads on an SM look a number up, then the one there, in turn.
Seconds gathered(const Running& at, double indices, double numbers) {
  const arch::GpuSpec& gpu = at.gpu;
  constexpr double vector = 16, threads = 8 * 128;
  if (std::fmod(numbers * 4, vector) == 0) return gpu.launch.cta_rate * indices / at.clock;
  return gpu.l2.latency / at.clock * (3 * std::ceil(indices * numbers / (gpu.sms * threads)));
}

// smxx_layout.cuh: 48 rows of scales a CTA in shared memory. A warp packs four scales of each of 32 rows, which lie in
// banks apart by the length of a row.
Seconds packed(const Running& at, double n, double scales) {
  const arch::GpuSpec& gpu = at.gpu;
  constexpr double rows = 48;
  constexpr std::int64_t banks = 32;
  const auto conflicts = static_cast<double>(std::gcd(static_cast<std::int64_t>(scales), banks));
  const double wavefronts = rows * scales / banks * conflicts;
  return Cycles{wavefronts * std::ceil(n / rows / gpu.sms)} / at.clock;
}

// DeepGEMM's layout.hpp on sm_100 gives each row of the weights' scales of its own before every product: a list of
// numbers, their quotients, a gather of floats, and a kernel that packs four to a word.
Seconds spreading_of_scales(const Running& at, double n, double k) {
  const arch::GpuSpec& gpu = at.gpu;
  constexpr double kernels = 4, bytes_per_scale = 4 + 4 + 1;  // written, read, packed
  const double scales = std::ceil(k / 128);
  return gathered(at, n, scales) + packed(at, n, scales) + least_of(gpu) * kernels +
         streamed(gpu, n * scales * bytes_per_scale);
}

// SGLang's own kernel makes fp8 numbers; int8 ones came from PyTorch operations.
bool is_eager(kernels::DataType type, gpu::Library library) {
  return type == kernels::DataType::s8 && library == gpu::Library::sgl_kernel;
}

}  // namespace

gpu::Library library_in_notes(std::string_view notes, std::string_view op) {
  const auto names = [&](std::string_view word) { return notes.find(word) != std::string_view::npos; };
  if (op == "gemm_int8" || op == "gemm_weight_only")
    return names("TensorRT-LLM") ? gpu::Library::tensorrt_llm : gpu::Library::cublas;
  if (op != "linear_quant") return gpu::Library::cublas;
  if (names("Triton")) return gpu::Library::vllm_triton;
  if (names("DeepGEMM")) return gpu::Library::deep_gemm;
  if (names("CuTe-DSL")) return gpu::Library::flashinfer_cute;
  if (names("FlashInfer CUTLASS")) return gpu::Library::flashinfer_cutlass;
  if (names("fp8_block_scaling_gemm")) return gpu::Library::tensorrt_llm;
  if (names("fp8_scaled_mm") || names("int8 scaled_mm") || names("sgl_kernel")) return gpu::Library::sgl_kernel;
  // apply_fp8_linear of SGLang: scales of tensors are spread over rows and columns for its own kernel.
  if (names("static activation") && names("sglang")) return gpu::Library::sgl_kernel;
  if (names("trtllm")) return gpu::Library::tensorrt_llm;
  if (names("vllm")) return gpu::Library::vllm_cutlass;
  return gpu::Library::cublas;
}

Seconds quantisation_time(const arch::GpuSpec& gpu, const kernels::GemmShape& shape, kernels::DataType type,
                          gpu::Library library, bool known_scale, std::optional<Hertz> clock) {
  const Running at{gpu, clock.value_or(gpu.clock.sustained)};
  const double written = kernels::stored_bytes_of(type);
  const double rows = static_cast<double>(shape.m) * static_cast<double>(shape.batch);
  const auto n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  if (type == kernels::DataType::nvfp4) return by_vector(at, rows, k, written);
  if (is_eager(type, library)) return eager_quantisation(gpu, rows, k).time;
  switch (library) {
    case gpu::Library::cublas:
    case gpu::Library::cublas_before_nvjet:
    case gpu::Library::sgl_kernel: return by_row(at, rows, k, written);
    case gpu::Library::deep_gemm:
      return by_block(gpu, rows, k, written) + (gpu.sm.name == "sm_90" ? Seconds{0} : spreading_of_scales(at, n, k));
    case gpu::Library::vllm_triton:
    case gpu::Library::vllm_cutlass:
    case gpu::Library::flashinfer_cute:
    case gpu::Library::flashinfer_cutlass: return by_block(gpu, rows, k, written);
    case gpu::Library::tensorrt_llm:
      if (known_scale) return by_known_scale(gpu, rows, k, written);
      return gpu.sm.name == "sm_120" ? by_columns(at, rows, k, written) : by_tensor(at, rows, k, written);
  }
  return Seconds{0};
}

power::Activity quantisation_activity(const arch::GpuSpec& gpu, const kernels::GemmShape& shape, kernels::DataType type,
                                      gpu::Library library, bool known_scale, std::optional<Hertz> clock) {
  const double rows = static_cast<double>(shape.m) * static_cast<double>(shape.batch);
  const double numbers = rows * static_cast<double>(shape.k);
  power::Activity out;
  if (is_eager(type, library)) {
    const EagerQuantisation eager = eager_quantisation(gpu, rows, static_cast<double>(shape.k));
    out.time = eager.time;
    out.dram_read_bytes = eager.dram_read;
    out.dram_write_bytes = eager.dram_written;
    out.l2_bytes = eager.l2;
    return out;
  }
  out.time = quantisation_time(gpu, shape, type, library, known_scale, clock);
  out.dram_read_bytes = Bytes{numbers * read_bytes};
  out.dram_write_bytes = Bytes{numbers * kernels::stored_bytes_of(type)};
  out.l2_bytes = out.dram_read_bytes + out.dram_write_bytes;
  return out;
}

}  // namespace noteg::validate
