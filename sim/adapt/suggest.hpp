// Which launches to measure next: those that leave least unknown of launches that models make, given what was measured.
#pragma once

#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/learn/gaussian_process.hpp"
#include "sim/support/result.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::adapt {

struct Launch {
  kernels::GemmShape shape;
  kernels::KernelConfig kernel;  // resolved: what a library would run
  double simulated_us = 0;
};

struct Candidates {
  std::vector<kernels::DataType> types{kernels::DataType::f16};
  std::size_t of_each = 60;
  std::uint64_t seed = 1;
};

// measured: where the rows known lie; empty: none are. Errors: no candidate can run on the GPU.
[[nodiscard]] Result<std::vector<Launch>> suggest(const arch::GpuSpec& gpu, const learn::Places& measured,
                                                  std::size_t count, const Candidates& candidates,
                                                  const validate::Chooser& chooser,
                                                  const validate::Simulator& simulator);

// The launches as a file to fill in: the columns of a measured file, time_ms blank.
[[nodiscard]] std::string to_csv(const std::vector<Launch>& launches, const arch::GpuSpec& gpu);
// The same as a script for PyTorch that measures them and fills the file in.
[[nodiscard]] std::string torch_script(const std::vector<Launch>& launches, const arch::GpuSpec& gpu,
                                       const std::string& csv);
// One line for CUTLASS' profiler per launch.
[[nodiscard]] std::vector<std::string> profiler_lines(const std::vector<Launch>& launches);

// The sweep that a model of one card learns from: what libraries and CUTLASS run there, over shapes of layers, of
// convolutions and at random, in all the ways in which times are taken.

struct CardSweep {
  std::vector<std::string> gpus;  // names, or files
  std::vector<kernels::DataType> types{kernels::DataType::f32, kernels::DataType::f16};
  std::size_t rows = 4000;
  std::uint64_t seed = 1;
};

// A sweep file (docs/sweeps.md). Errors: of the GPUs' files; no kernel of these types.
[[nodiscard]] Result<std::string> card_sweep(const CardSweep& wanted);

}  // namespace noteg::adapt
