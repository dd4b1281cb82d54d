// The sweep that a model of one card learns from: what libraries and CUTLASS run there, over shapes of layers, of
// convolutions and at random, in all the ways in which times are taken.
#pragma once

#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/support/result.hpp"

namespace noteg::adapt {

struct CardSweep {
  std::vector<std::string> gpus;  // names, or files
  std::vector<kernels::DataType> types{kernels::DataType::f32, kernels::DataType::f16};
  std::size_t rows = 4000;
  std::uint64_t seed = 1;
};

// A sweep file (docs/sweeps.md). Errors: of the GPUs' files; no kernel of these types.
[[nodiscard]] Result<std::string> card_sweep(const CardSweep& wanted);

}  // namespace noteg::adapt
