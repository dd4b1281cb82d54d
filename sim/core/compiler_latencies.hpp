// What a compiler for an SM knows of its latencies, taken from the SM's specification.
#pragma once

#include "arch/spec.hpp"
#include "kernels/latency_model.hpp"

namespace noteg::core {

[[nodiscard]] kernels::LatencyModel latency_model(const arch::SmSpec& sm);

}  // namespace noteg::core
