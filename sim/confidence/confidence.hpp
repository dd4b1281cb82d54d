// What a predicted time is worth: an interval that holds the measured time as often as stated, the error on the
// measured runs nearest to it, and one sentence why. A machine that nobody has (changed keys, a file of the user's, a
// limit switched off) is not validated: its interval is that of a GPU that was not measured.
#pragma once

#include "arch/print.hpp"
#include "sim/confidence/measured_errors.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/sim_options.hpp"

namespace noteg::gpu {

[[nodiscard]] Situation situation_of(const SimReport& report, const arch::GpuSpec& gpu, const SimOptions& options);

// By the errors given. The intervals are absent where these are none.
[[nodiscard]] Confidence confidence_of(const SimReport& report, const arch::GpuSpec& gpu, const SimOptions& options,
                                       const ErrorTable& table = shipped_errors());

// Mean error and number of the measured runs of at least 50 us, by GPU.
[[nodiscard]] arch::ValidatedGpus validated_gpus(const ErrorTable& table = shipped_errors());

}  // namespace noteg::gpu
