// What physics.cpp counts and physics_time.cpp puts into times, clock and power.
#pragma once

#include <optional>

#include "kernels/ir/tensor_form.hpp"
#include "sim/dataset/physics.hpp"

namespace noteg::dataset {

// Everything that the single quantities are made from.
struct Envelope {
  const arch::GpuSpec& gpu;
  const kernels::KernelConfig& kernel;
  const kernels::GemmShape& shape;
  const gpu::SimOptions& options;
  std::optional<kernels::TensorForm> tensor;  // of the families that multiply on tensor cores
  double tiles_m = 0, tiles_n = 0, split_k = 1, batch = 1;
  double busiest_share = 0;  // CTAs of the busiest SM
};

// Clock, times, power and energy of what was counted. They stay zero where the GPU lacks the instruction.
void time_and_power(const Envelope& e, Physics& p);

}  // namespace noteg::dataset
