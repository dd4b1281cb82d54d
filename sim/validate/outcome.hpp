// What became of one measured row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/confidence/measured_errors.hpp"
#include "sim/gpu/report.hpp"
#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_source.hpp"

namespace noteg::validate {

struct Pair {
  double predicted = 0;
  double measured = 0;  // > 0
};

enum class Status : std::uint8_t {
  predicted,
  skipped,   // the model cannot express it; reason says why
  filtered,  // the user asked for other rows; reason says which rule
};

struct Prediction {
  double time_ms = 0;
  double time_low_ms = 0, time_high_ms = 0;  // that hold 90 % of measured times; both 0 where nobody knows
  std::optional<double> power_w, energy_j;   // absent while the GPU has no power model
  double sm_clock_mhz = 0;
  double dram_bytes = 0;
  double warp_instructions = 0;
  double waves = 0;
  std::string family;  // as resolved
  Half half = Half::fitted;
  kernels::GemmShape shape;
  gpu::Situation situation;    // of the GPU's part
  bool other_kernels = false;  // the times hold another kernel beside the one simulated
  bool host_included = false;  // the measured time holds the host's dispatch, and so does time_ms
};

struct Outcome {
  Status status = Status::skipped;
  std::string reason;
  Prediction prediction;
  [[nodiscard]] bool has_interval() const { return time_ms && prediction.time_high_ms > 0; }
  [[nodiscard]] bool is_inside() const {
    return prediction.time_low_ms <= time_ms->measured && time_ms->measured <= prediction.time_high_ms;
  }

  std::optional<Pair> time_ms, power_w, energy_j;  // predicted and measured; absent where one side is
};

// A prediction beside what was measured for the same row.

// The host's part is added to the predicted time where the measured one holds it. Skipped where the model gave no
// usable time.
[[nodiscard]] Outcome outcome_of(const MeasuredCase& measured, const arch::GpuSpec& gpu, const gpu::SimReport& report);

}  // namespace noteg::validate
