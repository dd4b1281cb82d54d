// Measured rows of operators as something to simulate: attention, layers of experts, the kernel that narrows
// activations before a GEMM, library calls without a kernel's name, launches that go round several sets of operands.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "kernels/config/shape.hpp"
#include "sim/validate/measured_case.hpp"

namespace noteg::validate {

[[nodiscard]] constexpr bool is_attention(std::string_view op) { return op.starts_with("attention_"); }

// Turns the row's extents into the rows and columns of the product (kernels::AttentionParameters). Returns why the row
// cannot be expressed; empty if it can.
[[nodiscard]] std::string read_attention(const MeasuredRow& row, const MeasuredData& data, MeasuredCase& measured);

// How many CTAs share the keys of a decoded token: the library decides by the number of SMs.
void settle_key_slices(MeasuredCase& measured, const arch::GpuSpec& gpu);

// Measured rows of expert layers (op moe) as something to simulate: batch = experts, M = tokens, N = intermediate size
// of the rank, K = hidden size; topk and how tokens were dealt to experts are in the notes. Only layers of Triton
// kernels in 16 bits are expressed.

// Returns why the row cannot be expressed; empty if it can.
[[nodiscard]] std::string read_experts(const MeasuredRow& row, const MeasuredData& data, MeasuredCase& measured);

// Inductor's own choice beside Triton's kernels for 8-bit weights: a kernel that casts them all, then the library
// (fallback_mixed_mm).
void cast_weights(MeasuredCase& measured);

// The report of the longest step with the time and the events of all.
[[nodiscard]] Result<gpu::SimReport> expert_report(const MeasuredCase& measured, const arch::GpuSpec& gpu);

// The kernel of a library call whose row does not say which it was: the one that is chosen for the GPU and the options
// of the case, marked as chosen. Other cases stay as they are. Errors: those of the chooser, without which none asks.
[[nodiscard]] Diagnostics settle_kernel(MeasuredCase& measured, const arch::GpuSpec& gpu, const Chooser& chooser);

// What a launch finds in L2 where launches go round several sets of operands.

// Warm where all sets fit into L2 side by side, so that each is still there when its turn comes again: an L2 of several
// partitions keeps operands in each of them. Else, and where only one set is known of, as the case says.
void settle_l2(MeasuredCase& measured, const arch::GpuSpec& gpu);

}  // namespace noteg::validate
