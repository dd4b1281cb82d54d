#include "sim/gpu/launch.hpp"

#include <algorithm>
#include <cmath>

#include "sim/support/arithmetic.hpp"

namespace noteg::gpu {

bool copies_ahead(const kernels::Program& program) {
  return std::ranges::any_of(program.code,
                             [](const kernels::Instruction& one) { return one.op == kernels::Opcode::ldgsts; });
}

sm::SmWork busiest_sm_work(const arch::GpuSpec& gpu, const KernelLaunch& launch, const Switches& switches) {
  const auto resident = static_cast<std::int64_t>(launch.occupancy.ctas_per_sm);
  sm::SmWork work;
  work.ctas = launch.geometry.ctas_of_busiest();
  work.iterations = launch.geometry.iterations;
  work.tiles = launch.geometry.tiles;
  // Slots that were never filled are a matter of occupancy, not of the tail.
  if (!switches.tail && work.ctas > resident) work.ctas = ceil_div(work.ctas, resident) * resident;
  work.resident = static_cast<int>(std::min(resident, work.ctas));
  if (launch.leaves_room) {
    constexpr int warps_of_sub_core = 32;  // that the machine has room for
    const std::int64_t held = warps_of_sub_core * gpu.sm.sub_cores / launch.program->warps;
    work.slots = static_cast<int>(std::min({std::int64_t{launch.occupancy.cta_slots}, held, work.ctas}));
  }
  // SMs of a GPC that run the same code miss together.
  work.constant_fill_interval = gpu.sm.front_end.constant_fill_interval.value * launch.geometry.active_sms() / gpu.gpcs;
  if (switches.launch) {
    // A CTA that lets dependents start takes as long again of who sees CTAs end (H200M: 1.22 us for 1,000 CTAs,
    // whatever they do, 0.61 without).
    const double turns = launch.program->starts_dependents ? 2 : 1;
    const double round = gpu.launch.cta_rate.value * launch.geometry.active_sms();
    // GPCs start their CTAs side by side (h200_memory_micro, cta_starts: eight CTAs of an SM of 132 in 133 cycles), but
    // CTAs of the whole chip end one behind the other. In later waves they are as far apart as that leaves them, and
    // what they do to each other's stores depends on it: where these follow, the first wave stands for them.
    const double waves = static_cast<double>(work.ctas) / work.resident;
    work.start_interval = std::round(round * std::min(1.0, waves / gpu.gpcs));
    work.end_interval = std::round(turns * round);
    const Seconds drain = gpu.launch.drain + end_of_memory(gpu, launch.traffic, launch.geometry.active_sms());
    work.end_slack = std::round((drain * gpu.clock.boost).value);
    work.cta_launch_latency = gpu.sm.cta_launch.value;
  }
  return work;
}

// Slots that fall empty together are filled together: of the CTAs beyond whole waves the SMs that are first take a
// whole round, others none (H200M: 112 CTAs of 4 warps left for 132 SMs with two slots go to 53 SMs in pairs; CTAs of 8
// warps, which end one after the other there, to 112 SMs one by one). More than two warps on a sub-core drift apart on
// hardware, if not here: kernels with them never show it (H200M: kernels with 3 to 8 CTAs of 2 to 4 warps on an SM).
// Nor do GPUs without clusters: library GEMMs on an A100 whose grids are a little over whole waves would take up to 1.6
// times as long. Nor do CTAs whose warps multiply on tensor cores between other work (H200M, cta_pairs:
// FlashAttention-2 in three forms and FlashInfer's).
std::int64_t remainder_on_top(const arch::GpuSpec& gpu, const KernelLaunch& launch) {
  const auto resident = static_cast<std::int64_t>(launch.occupancy.ctas_per_sm);
  if (!gpu.sm.fills_together || launch.arithmetic.tensor_cores ||
      resident * launch.program->warps > 2 * gpu.sm.sub_cores)
    return 0;
  const std::int64_t busiest = launch.geometry.ctas_of_busiest();
  const std::int64_t waves = (busiest - 1) / resident;
  const std::int64_t even = busiest - waves * resident;
  const std::int64_t remainder = launch.geometry.ctas - waves * resident * launch.geometry.sms;
  return std::max<std::int64_t>(std::min(resident, remainder) - even, 0);
}

Seconds end_of_memory(const arch::GpuSpec& gpu, const Traffic& traffic, int sms) {
  if (traffic.l2_read_bytes + traffic.l2_write_bytes <= 0) return {};
  return gpu.launch.memory * (portable::log(1.0 + sms) / portable::log(1.0 + gpu.sms));
}

double even_share(const LaunchGeometry& geometry, std::int64_t ctas) {
  return geometry.all_tiles / (static_cast<double>(ctas * geometry.tiles) * geometry.sms);
}

int sms_for_clusters(const arch::GpuSpec& gpu, int ctas) {
  const int room = ctas > 2 ? static_cast<int>(std::lround(gpu.sms * gpu.sm.cluster_share)) : gpu.sms;
  return std::max(room / ctas, 1) * ctas;
}

}  // namespace noteg::gpu
