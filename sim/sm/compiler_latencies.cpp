#include "sim/sm/compiler_latencies.hpp"

#include <algorithm>
#include <cmath>

#include "sim/sm/tensor_timing.hpp"
#include "sim/support/ceil_div.hpp"

namespace noteg::sm {

std::uint64_t pipe_interval(int lanes) { return static_cast<std::uint64_t>(ceil_div(32, std::clamp(lanes, 1, 32))); }

kernels::LatencyModel latency_model(const arch::SmSpec& sm) {
  kernels::LatencyModel out;
  const auto cycles = [](Cycles c) { return static_cast<int>(c.value); };
  out.fma = cycles(sm.pipes.fma.latency);
  out.fma_heavy = cycles(sm.pipes.fma_heavy.latency);
  out.alu = cycles(sm.pipes.alu.latency);
  out.half = cycles(sm.pipes.half.latency);
  out.cross_pipe = std::max(out.fma, out.alu) + cycles(sm.pipes.cross_pipe_penalty);
  out.to_memory = std::max(out.fma, out.alu) + cycles(sm.pipes.memory_address_penalty);
  out.to_decoupled = std::max(out.fma, out.alu);
  out.uniform_to_vector = cycles(sm.pipes.uniform.latency);
  out.predicate_to_branch = cycles(sm.pipes.predicate_to_branch);
  out.fma_interval = static_cast<int>(pipe_interval(sm.pipes.fma.lanes));
  out.fma_heavy_interval = static_cast<int>(pipe_interval(sm.pipes.fma_heavy.lanes));
  out.alu_interval = static_cast<int>(pipe_interval(sm.pipes.alu.lanes));
  out.memory_interval = cycles(sm.memory.address_cycles);
  out.async_copy = sm.has_async_copy;
  const arch::OccupancySpec& holds = sm.occupancy;
  out.most_ctas = holds.max_ctas;
  out.most_threads = holds.max_threads;
  if (!holds.shared_configs.empty())
    out.shared_memory = static_cast<int>(std::ranges::max_element(holds.shared_configs)->value);
  out.shared_memory_reserved = static_cast<int>(holds.shared_reserved_per_cta.value);
  return out;
}

kernels::LatencyModel latency_model(const arch::SmSpec& sm, const std::optional<kernels::TensorForm>& form) {
  kernels::LatencyModel out = latency_model(sm);
  if (!form) return out;
  if (const std::optional<TensorTiming> timing = tensor_timing(sm, *form)) {
    out.tensor = static_cast<int>(std::lround(timing->latency));
    out.tensor_interval = std::max(1, static_cast<int>(timing->interval));
  }
  return out;
}

}  // namespace noteg::sm
