// What a measured time holds beside the GPU's own work. A set that puts CUDA events around one call records the start
// event before the host dispatches the operator: a short kernel is then hidden behind the host, and a longer one
// starts a while after the event. This is a property of the measurement, not of the GPU, so it lives here and not in
// the model. The only place where it is applied.
#pragma once

#include <span>
#include <string_view>

namespace noteg::validate {

struct HostTime {
  double floor_us = 0;          // the host's own time for one operator: a kernel shorter than this does not show
  double lead_us = 0;           // start event to kernel start when the GPU is the slower side
  double second_launch_us = 0;  // what the floor grows by where the operator launches a second kernel
};

// One row per (source, operator, GPU) that was measured with host dispatch inside.
struct HostTimeRow {
  std::string_view source, op, gpu;
  HostTime time;
};

[[nodiscard]] std::span<const HostTimeRow> host_times();

// Zero for every set without host dispatch.
[[nodiscard]] HostTime host_time_of(std::string_view source, std::string_view op, std::string_view gpu);

// Time that the measurement would show for `kernels` kernels that keep the GPU busy for gpu_us in all.
[[nodiscard]] double with_host(const HostTime& host, double gpu_us, int kernels = 1);

}  // namespace noteg::validate
