// Defaults and rules of the tensor-core families; part of resolve().
#pragma once

#include "kernels/families/rules.hpp"

namespace noteg::kernels {

inline constexpr std::int64_t most_bulk_shared = 227 * 1024;  // bytes per CTA, CPG
inline constexpr std::int64_t barriers_and_alignment = 1024;  // bytes of it, beside the tiles

// What all begin with: shape, types that multiply together, ranges, K of the tile.
void check_tensor_basics(Draft& draft);

// Elements per global access: what is written down if it divides the extent, else the widest of up to 16 bytes.
void settle_tensor_alignment(Draft& draft);

// Rows that bulk tensor copies can take: a multiple of 16 bytes apart.
void check_bulk_pitches(Draft& draft);

// As many stages as fit beside what the epilogue stages, unless the configuration says so; a stage and it in bytes.
void settle_bulk_stages(Draft& draft, std::int64_t stage, std::int64_t staging);

// Attention: N is twice the head size, a multiple of `step`; 16-bit operands, sums in f32.
void check_attention_types(Draft& draft);
void check_head(Draft& draft, int step);
void check_group(Draft& draft);

// K of one matrix instruction: 32 bytes of each operand. And the shape of mma.sync that is deepest for the type.
[[nodiscard]] int instruction_depth(const KernelConfig& config);
[[nodiscard]] Tile mma_instruction(const KernelConfig& config);

}  // namespace noteg::kernels
