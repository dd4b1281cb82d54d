// How long instructions take: what a compiler for an SM knows of its latencies, from the SM's specification, and tensor
// instructions: latency, interval, and which forms there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "arch/spec.hpp"
#include "kernels/ir/latency_model.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::sm {

// Of a GPU file, where they are whole.
[[nodiscard]] inline int as_int(Cycles cycles) { return static_cast<int>(cycles.value); }

struct TensorTiming {
  double latency = 0;   // issue to a dependent instruction on the same accumulators
  double interval = 0;  // between two of a sub-core
};

// Nothing where the SM has no such form. GeForce parts add in f32 at half rate; the second half of the work ends half
// an interval later.
[[nodiscard]] std::optional<TensorTiming> tensor_timing(const arch::SmSpec& sm, const kernels::TensorForm& form);

// Names of the forms that the SM has of this kind of instruction, for error messages.
[[nodiscard]] std::string tensor_forms_of(const arch::SmSpec& sm, const kernels::TensorForm& like);

// Multiply-accumulates per cycle of one SM at the best rate for these types, zeros of a sparse A counted.
[[nodiscard]] double peak_macs_per_cycle(const arch::SmSpec& sm, const kernels::TensorForm& form);

// The form of a program's tensor instructions; nothing where it has none.
[[nodiscard]] std::optional<kernels::TensorForm> tensor_form_in(const kernels::Program& program);

// Cycles for which a warp instruction occupies a pipe of 1 to 32 lanes.
[[nodiscard]] std::uint64_t pipe_interval(int lanes);

// Completion of variable-latency instructions outside the load/store path.
[[nodiscard]] int variable_latency(kernels::Opcode op, const arch::SmSpec& sm);

[[nodiscard]] kernels::LatencyModel latency_model(const arch::SmSpec& sm);

// With the times of the matrix instructions of a kernel; a form that the SM does not have leaves them unset.
[[nodiscard]] kernels::LatencyModel latency_model(const arch::SmSpec& sm,
                                                  const std::optional<kernels::TensorForm>& form);

}  // namespace noteg::sm
