// What a matrix instruction multiplies: its shape, operand and accumulator types. Architecture files name forms the
// same way, and energies by types alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

struct TensorForm {
  Tile shape;  // k counts the zeros of a sparse A
  DataType in = DataType::f16, acc = DataType::f32;
  bool sparse = false;
  bool warp_group = false;        // wgmma
  bool in_tensor_memory = false;  // tcgen05.mma: the sums

  bool operator==(const TensorForm&) const = default;
};

// m16n8k16_f16_f32, sp_m16n8k64_s8_s32; all 8-bit float types are written e4m3, all 4-bit ones e2m1.
[[nodiscard]] std::string name_of(const TensorForm& form);

// HMMA .16816.F32.BF16 and the like, as SASS prints them.
[[nodiscard]] Opcode opcode_of(const TensorForm& form);
[[nodiscard]] std::string modifiers_of(const TensorForm& form);
[[nodiscard]] std::optional<TensorForm> tensor_form_from(Opcode op, std::string_view modifiers);

// Multiply-accumulates that the tensor core does for one instruction: zeros of a sparse A are left out.
[[nodiscard]] double macs_of(const TensorForm& form);

// 32-bit registers per thread of one instruction's operands.
struct FormRegisters {
  int a = 0, b = 0, c = 0, meta = 0;
};
[[nodiscard]] FormRegisters registers_of(const TensorForm& form);

// Energies and counters go by types: f16_f32, wgmma_e4m3_f32.
inline constexpr std::size_t tensor_kind_count = 24;
[[nodiscard]] std::size_t tensor_kind(const TensorForm& form);
[[nodiscard]] std::string_view tensor_kind_name(std::size_t kind);

// The form that a kernel of the tensor-core families multiplies with; needs a resolved instruction shape.
[[nodiscard]] TensorForm tensor_form_of(const KernelConfig& config);

// How a tile lies on multiplications into tensor memory, whose sums take 64 or 128 of its rows (lanes) and up to 256
// columns. The instruction says it: its extents are those of the tile, and twice those of the rows where a pair of CTAs
// multiplies together, each with rows of its own and half of the columns' operand. Rows lie along M or along N.
struct MemoryFrame {
  int rows = 0, columns = 0;  // of one CTA
  bool rows_along_m = true;
  bool pair = false;
};
[[nodiscard]] std::optional<MemoryFrame> memory_frame(const KernelConfig& config);

// Accumulator types that go with an operand type, the usual one first; empty: the tensor cores do not take it.
struct AccumulatorTypes {
  std::array<DataType, 2> type{};
  int count = 0;
};
[[nodiscard]] AccumulatorTypes accumulators_for(DataType in);

}  // namespace noteg::kernels
