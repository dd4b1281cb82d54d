// What a simulation is asked for beside the GPU and the kernel.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/gpu/limits/switches.hpp"
#include "sim/memory/tile_reuse.hpp"
#include "sim/power/clock.hpp"

namespace noteg::gpu {

using memory::l2_state_from;
using memory::l2_state_names;
using memory::L2State;
using memory::name_of;

// Whose kernel is chosen where none is named. cublas_before_nvjet: of 2023, without nvjet kernels. The others choose by
// public programs (sim/tune/libraries.hpp).
enum class Library : std::uint8_t {
  cublas,
  cublas_before_nvjet,
  sgl_kernel,
  deep_gemm,
  flashinfer_cute,
  flashinfer_cutlass,
  tensorrt_llm,
  vllm_triton,
  vllm_cutlass
};

struct SimOptions {
  bool exact = false;        // step through everything, extrapolate nothing
  bool pilot = false;        // to rank kernels: estimates from pilot runs, which no report may pass on as times
  bool many_shapes = false;  // of a kernel, in a sweep: SM runs at round numbers, and the lines between them
  std::optional<double> sm_clock_mhz;  // a given clock wins over the solved one
  power::ClockMode clock_mode = power::ClockMode::sustained;
  // Clock mode cool: how many launches follow each other from rest, and how many of these are not timed; absent: very
  // many.
  std::optional<int> launches = std::nullopt;
  int warm_up = 0;
  power::Toggling operands{};  // random
  L2State l2 = L2State::warm;  // of a GEMM, whose traffic follows from it
  Switches switches{};         // limits taken away, for a study
  unsigned jobs = 1;           // threads; they never show in what comes out
  bool kernel_chosen = false;  // the kernel is one that the model chose: a library may choose another
  Library library = Library::cublas;
  bool waits_for_dram = true;  // false: every load is as fast as a hit in L2, which bounds the time from below
};

}  // namespace noteg::gpu
