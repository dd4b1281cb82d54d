// Measured rows of expert layers (op moe) as something to simulate: batch = experts, M = tokens, N = intermediate size
// of the rank, K = hidden size; topk and how tokens were dealt to experts are in the notes. Only layers of Triton
// kernels in 16 bits are expressed.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "sim/validate/measured_case.hpp"

namespace noteg::validate {

// Returns why the row cannot be expressed; empty if it can.
[[nodiscard]] std::string read_experts(const MeasuredRow& row, const MeasuredData& data, MeasuredCase& measured);

// The report of the longest step with the time and the events of all.
[[nodiscard]] Result<gpu::SimReport> expert_report(const MeasuredCase& measured, const arch::GpuSpec& gpu);

}  // namespace noteg::validate
