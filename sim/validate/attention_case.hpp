// Measured rows of attention as something to simulate: batch = sequences, M = query tokens of each, N = tokens in the
// cache, K = head size; heads, kv_heads and causal are in the notes. Blocks and slices are those of FlashAttention-2
// over a paged cache. Left out: FlashAttention-3.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "sim/validate/measured_case.hpp"

namespace noteg::validate {

[[nodiscard]] constexpr bool is_attention(std::string_view op) { return op.starts_with("attention_"); }

// Turns the row's extents into the rows and columns of the product (kernels::AttentionParameters). Returns why the row
// cannot be expressed; empty if it can.
[[nodiscard]] std::string read_attention(const MeasuredRow& row, const MeasuredData& data, MeasuredCase& measured);

// How many CTAs share the keys of a decoded token: the library decides by the number of SMs.
void settle_key_slices(MeasuredCase& measured, const arch::GpuSpec& gpu);

}  // namespace noteg::validate
