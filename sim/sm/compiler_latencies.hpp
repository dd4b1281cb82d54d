// What a compiler for an SM knows of its latencies, taken from the SM's specification.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/spec.hpp"
#include "kernels/ir/latency_model.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::sm {

// Cycles for which a warp instruction occupies a pipe of 1 to 32 lanes.
[[nodiscard]] std::uint64_t pipe_interval(int lanes);

[[nodiscard]] kernels::LatencyModel latency_model(const arch::SmSpec& sm);

// With the times of the matrix instructions of a kernel; a form that the SM does not have leaves them unset.
[[nodiscard]] kernels::LatencyModel latency_model(const arch::SmSpec& sm,
                                                  const std::optional<kernels::TensorForm>& form);

}  // namespace noteg::sm
