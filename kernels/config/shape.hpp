// GEMM problem: C[M,N] = A[M,K] x B[K,N], row-major reading, and its data types and layouts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace noteg::kernels {

// mxfp8, mxfp4 and nvfp4 carry a scale of one byte for each block of 32, 32 and 16 values along K.
enum class DataType : std::uint8_t { f32, tf32, f16, bf16, f8e4m3, f8e5m2, mxfp8, mxfp4, nvfp4, s8, s4, s32 };

[[nodiscard]] std::string_view name_of(DataType type);
[[nodiscard]] std::optional<DataType> data_type_from(std::string_view text);  // accepts fp32, float, e4m3, int8 ...
[[nodiscard]] double bytes_of(DataType type);                                 // s4 is 0.5; scales are apart
[[nodiscard]] double scale_bytes_of(DataType type);                           // per value; 0 without block scales
[[nodiscard]] inline double stored_bytes_of(DataType type) { return bytes_of(type) + scale_bytes_of(type); }
[[nodiscard]] constexpr bool is_float8(DataType type) {
  return type == DataType::f8e4m3 || type == DataType::f8e5m2 || type == DataType::mxfp8;
}
[[nodiscard]] constexpr bool is_float4(DataType type) { return type == DataType::mxfp4 || type == DataType::nvfp4; }

// Letters are A then B: n = not transposed in the row-major reading (A contiguous along K, B along N),
// t = transposed (A contiguous along M, B along K).
// BLAS suffixes, as kernel names and measured files write them, are converted by layout_from_blas().
enum class Layout : std::uint8_t { nn, nt, tn, tt };

[[nodiscard]] std::string_view name_of(Layout layout);
[[nodiscard]] std::optional<Layout> layout_from(std::string_view text);
// BLAS letters (column-major: n = contiguous along the operand's own first dimension) to a row-major layout.
// swapped: the library was given the transposed problem C^T = B^T A^T, as PyTorch does, so its first
// operand is our B: tn -> nt, nn -> nn. Not swapped (CUTLASS): tn -> nt, nn -> tt, nt -> tn, tt -> nn.
[[nodiscard]] std::optional<Layout> layout_from_blas(std::string_view letters, bool swapped);
[[nodiscard]] constexpr bool a_contiguous_in_k(Layout l) { return l == Layout::nn || l == Layout::nt; }
[[nodiscard]] constexpr bool b_contiguous_in_n(Layout l) { return l == Layout::nn || l == Layout::tn; }

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;

  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
  }
};

// 4096x4096x4096; nothing for anything else. Zero is read (resolve() says why it is refused), a sign is not.
[[nodiscard]] std::optional<GemmShape> shape_from(std::string_view text);

}  // namespace noteg::kernels
