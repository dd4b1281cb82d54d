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
  bool warp_group = false;  // wgmma

  bool operator==(const TensorForm&) const = default;
};

// m16n8k16_f16_f32, sp_m16n8k64_s8_s32; both 8-bit float types are written e4m3.
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
inline constexpr std::size_t tensor_kind_count = 16;
[[nodiscard]] std::size_t tensor_kind(const TensorForm& form);
[[nodiscard]] std::string_view tensor_kind_name(std::size_t kind);

// The form that a kernel of the mma or wgmma family multiplies with; needs a resolved instruction shape.
[[nodiscard]] TensorForm tensor_form_of(const KernelConfig& config);

// Accumulator types that go with an operand type, the usual one first; empty: the tensor cores do not take it.
struct AccumulatorTypes {
  std::array<DataType, 2> type{};
  int count = 0;
};
[[nodiscard]] AccumulatorTypes accumulators_for(DataType in);

}  // namespace noteg::kernels
