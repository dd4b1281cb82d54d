#include "sim/gpu/split_k.hpp"

#include <algorithm>

#include "sim/support/ceil_div.hpp"

namespace noteg::gpu {

namespace {

// While slices take turns one CTA of each tile is at work, so an SM's share of what L2 and DRAM bring is that of so
// many SMs, not of all that the grid fills; no SM takes more than its port.
sm::MemoryEnvironment during_turns(const ReductionRequest& request) {
  const memory::TileGrid& grid = request.launch->grid;
  const auto busy = static_cast<double>(std::min<std::int64_t>(request.gpu->sms, grid.ctas()));
  const double wider = std::max(1.0, busy / static_cast<double>(grid.tiles_m * grid.tiles_n * grid.batch));
  const double port = request.gpu->l2.sm_bandwidth.value;
  sm::MemoryEnvironment out = request.environment;
  for (double* rate : {&out.read_bytes_per_cycle, &out.write_bytes_per_cycle, &out.c_bytes_per_cycle})
    if (*rate > 0) *rate = std::max(*rate, std::min(*rate * wider, port));
  return out;
}

// One slice's turn: its epilogue alone on the SM, which waits for the semaphore, adds C row by row and writes it back,
// and the hand-over. The fence returns when the furthest store has; then the semaphore's store is on its way to L2
// while the next slice polls, half a round trip later on average.
// Rows of a tile beyond the matrix are neither read nor written: nobody waits for them.
// Left out: the polls of the others, which slow the hand-over where hundreds of CTAs wait.
double turn_cycles(const ReductionRequest& request, SmTimer& timer) {
  sm::SmWork alone;
  alone.trips = 1;
  const sm::MemoryEnvironment environment = during_turns(request);
  double epilogue = timer.time(environment, alone, Grade::exact).counters.epilogue_cycles;
  const double rows = static_cast<double>(request.shape->m) / request.config->tile.m;
  if (rows < 1) {
    sm::MemoryEnvironment at_hand = environment;
    at_hand.latency = at_hand.c_latency = at_hand.l1_latency;
    const double least = timer.time(at_hand, alone, Grade::exact).counters.epilogue_cycles;
    epilogue = least + rows * std::max(0.0, epilogue - least);
  }
  return epilogue + request.gpu->l2.far_latency.value + request.gpu->l2.latency.value;
}

// Of the busiest SM's first CTAs side by side.
double first_wave_cycles(const ReductionRequest& request, SmTimer& timer) {
  sm::SmWork first;
  first.resident = static_cast<int>(std::min<std::int64_t>(request.resident, request.launch->ctas_busiest_sm));
  first.ctas = first.resident;
  first.trips = request.launch->trips;
  return timer.time(request.environment, first, Grade::periodic).cycles;
}

double serial_cycles(const ReductionRequest& request, SmTimer& timer) {
  const double turn = turn_cycles(request, timer);
  const auto side_by_side =
      static_cast<double>(slices_side_by_side(*request.launch, request.resident, request.gpu->sms));
  const double all_turns = first_wave_cycles(request, timer) + (request.config->split_k - 1) * turn;
  return std::max((side_by_side - 1) * turn, all_turns - request.sm_cycles);
}

// The second kernel: launched when the first has drained, a round trip for the partial sums, one for the result.
double parallel_cycles(const ReductionRequest& request) {
  const kernels::GemmShape& shape = *request.shape;
  const double c_bytes = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                         static_cast<double>(shape.batch) * kernels::bytes_of(request.config->dtype_acc);
  const arch::L2Spec& l2 = request.gpu->l2;
  const double slices = request.config->split_k;
  const double launch = request.launch_takes_time
                            ? (request.gpu->launch.kernel * request.clock).value + request.gpu->sm.cta_launch.value
                            : 0;
  return launch + 2 * l2.far_latency.value + c_bytes * slices / std::max(1.0, l2.read_bandwidth.value) +
         c_bytes / std::max(1.0, l2.write_bandwidth.value);
}

}  // namespace

std::int64_t slices_side_by_side(const Launch& launch, int resident, int sms) {
  const std::int64_t slots = std::int64_t{resident} * sms, all = launch.grid.ctas();
  const std::int64_t tiles = std::max<std::int64_t>(1, launch.grid.tiles_m * launch.grid.tiles_n);
  const std::int64_t last_wave = all - (ceil_div(all, slots) - 1) * slots;
  return std::clamp<std::int64_t>(ceil_div(last_wave, tiles), 1, launch.grid.split_k);
}

double reduction_cycles(const ReductionRequest& request, SmTimer& timer) {
  if (request.launch->grid.split_k <= 1) return 0;
  return request.config->split_k_mode == kernels::SplitKMode::parallel ? parallel_cycles(request)
                                                                       : serial_cycles(request, timer);
}

}  // namespace noteg::gpu
