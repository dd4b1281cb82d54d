#include "sim/gpu/gemm/split_k.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::gpu {

namespace {

// While slices take turns one CTA of each tile is at work, or fewer where not all have a slot. What L2 and DRAM bring
// is shared by these, not by all that the grid fills; no SM takes more than its port.
sm::MemoryPort during_turns(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SmRuns& runs) {
  const auto ctas = static_cast<double>(launch.geometry.ctas);
  const double busy = std::min<double>(gpu.sms, ctas), live = busy * runs.work.resident;
  const double wider = busy / std::min(ctas / launch.split_k.slices, live);
  sm::MemoryPort out = runs.port;
  for (double* rate : {&out.read_bytes_per_cycle, &out.write_bytes_per_cycle, &out.c_bytes_per_cycle})
    if (*rate > 0) *rate = std::min(*rate * wider, std::max(*rate, gpu.l2.sm_bandwidth.value));
  return out;
}

double epilogue_cycles(const sm::MemoryPort& port, SmTimer& timer) {
  sm::SmWork alone;
  alone.iterations = 1;
  return timer.run(port, alone).counters.epilogue_cycles;
}

// One slice's turn: its epilogue alone on the SM, which waits for the semaphore, adds C row by row and writes it back,
// and the hand-over. The fence returns when the furthest store has; then the semaphore's store is on its way to L2
// while the next slice polls, half a round trip later on average.
// Rows of a tile beyond the matrix are neither read nor written: nobody waits for them.
// Left out: the polls of the others, which slow the hand-over where hundreds of CTAs wait.
double turn_cycles(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SmRuns& runs, SmTimer& timer) {
  const SplitK& split = launch.split_k;
  const sm::MemoryPort port = during_turns(gpu, launch, runs);
  double epilogue = epilogue_cycles(port, timer);
  if (split.rows < 1) {
    sm::MemoryPort at_hand = port;
    at_hand.answer_at_once();
    const double least = epilogue_cycles(at_hand, timer);
    epilogue = least + split.rows * std::max(0.0, epilogue - least);
  }
  return epilogue + gpu.l2.far_latency.value + gpu.l2.latency.value;
}

// The turns come behind the main loops, in place of the run's own epilogues, which lie beside each other in its slots.
double serial_cycles(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SmRuns& runs, SmTimer& timer) {
  const double epilogues = runs.mixed().counters.epilogue_cycles / std::max(1, runs.work.resident);
  return std::max(0.0, launch.split_k.slices * turn_cycles(gpu, launch, runs, timer) - epilogues);
}

// The second kernel: launched when the first has drained, a round trip for the partial sums, one for the result.
double parallel_cycles(const arch::GpuSpec& gpu, const SplitK& split, Hertz clock, bool launch_takes_time) {
  const arch::L2Spec& l2 = gpu.l2;
  const double launch = launch_takes_time ? (gpu.launch.kernel * clock).value + gpu.sm.cta_launch.value : 0;
  return launch + 2 * l2.far_latency.value +
         split.partial_bytes * split.slices / std::max(1.0, l2.read_bandwidth.value) +
         split.partial_bytes / std::max(1.0, l2.write_bandwidth.value);
}

}  // namespace

double reduction_cycles(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SmRuns& runs, Hertz clock,
                        const SimOptions& options, SmTimer& timer) {
  if (launch.split_k.slices <= 1) return 0;
  if (launch.split_k.parallel) return parallel_cycles(gpu, launch.split_k, clock, options.switches.launch);
  return serial_cycles(gpu, launch, runs, timer);
}

double least_reduction_cycles(const arch::GpuSpec& gpu, const KernelLaunch& launch, const PortRequest& request,
                              Hertz clock, const SimOptions& options, SmTimer& timer) {
  // Of each wave the run's own epilogue is taken back (serial_cycles): it is assumed to be at most so many turns long.
  constexpr double longest_epilogue = 3;
  const SplitK& split = launch.split_k;
  if (split.parallel) return parallel_cycles(gpu, split, clock, options.switches.launch);
  SmRuns runs;
  runs.port = port_to_l2(request, clock);
  runs.work = busiest_sm_work(gpu, launch, options.switches);
  return std::max(0.0, split.slices - longest_epilogue * std::ceil(request.waves)) *
         turn_cycles(gpu, launch, runs, timer);
}

}  // namespace noteg::gpu
