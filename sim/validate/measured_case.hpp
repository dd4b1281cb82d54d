// One measured row as something to simulate. Explicit columns win, blanks are filled from the kernel's name, then from
// what is published about the kernel; what is still unknown takes the family's documented default when it is resolved.
// A row that cannot be expressed becomes a reason, never a guess.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/config/config.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/operators/expert_layer.hpp"
#include "sim/operators/memory_kernel.hpp"
#include "sim/validate/measured_file.hpp"
#include "sim/validate/measured_source.hpp"

namespace noteg::validate {

struct MeasuredCase {
  std::string gpu;               // as written in the file
  kernels::KernelConfig config;  // in the row-major frame, not resolved
  bool choose_kernel = false;    // not recorded: config holds types, layout and epilogue only
  bool quantises = false;        // the time holds a kernel that quantises A first
  bool known_scale = false;      // by a scale that it need not look for
  kernels::GemmShape shape;
  gpu::SimOptions options;
  std::optional<operators::ExpertLayer> experts;  // instead of one kernel
  std::vector<operators::MemoryKernel> before;    // kernels that the time holds too
  int key_heads = 1;  // attention; and whether the library was told a bound for the slices of the keys
  bool deals_slices = false, bounds_slices = false;
  int buffers = 0;  // sets of operands that the launches go round; 0: not known of more than one (settle_l2)
  HostTime host;
  std::optional<double> time_ms, power_w, energy_j;  // measured
  double meter_share = 1;  // of the way from an idle board to the kernel's power that the meter had gone on the mean
  bool own_power_run = false;  // power and energy are of a sustained run, the time of a burst before it
};

// Which time of a row is judged: `time_ms` as its set took it, or `time_cold_ms`, taken with inputs in DRAM.
enum class TimeColumn : std::uint8_t { as_taken, cold };

// What a library would run where a row does not say: tune::KernelChooser. Called from many threads.
using Chooser = std::function<Result<kernels::KernelConfig>(const arch::GpuSpec&, const kernels::KernelConfig& frame,
                                                            const kernels::GemmShape&, const gpu::SimOptions&)>;

// What becomes of a row whose kernel was not recorded: a library call. A reason, or a case that asks for a choice.
enum class UnknownKernel : std::uint8_t { reason, choose };

// Without anybody who chooses, such a row is a reason.
[[nodiscard]] inline UnknownKernel unknown_kernels(const Chooser& chooser) {
  return chooser ? UnknownKernel::choose : UnknownKernel::reason;
}

using CaseOrReason = std::variant<MeasuredCase, std::string>;

[[nodiscard]] CaseOrReason case_of(const MeasuredData& data, const MeasuredRow& row,
                                   TimeColumn time = TimeColumn::as_taken,
                                   UnknownKernel unknown = UnknownKernel::reason);

// C^T = B^T A^T: M and N change places, and so do both operands.
void transpose_problem(kernels::KernelConfig& config, kernels::GemmShape& shape);

}  // namespace noteg::validate
