#include "sim/gpu/run_events.hpp"

#include <algorithm>

#include "sim/support/ceil_div.hpp"

namespace noteg::gpu {
namespace {

// Warp instructions of one CTA with `trips` main-loop trips.
std::int64_t executed_by_cta(const kernels::Program& program, std::int64_t trips) {
  const std::int64_t k = (trips + program.peeled_tiles) * std::max(1, program.k_per_trip);
  return kernels::executed_instructions(program, k) * program.warps;
}

// Of the elements that the CTAs' tiles cover along all three extents.
double padding_share(const Run& run) {
  const auto inside = [](std::int64_t size, int tile) {
    return static_cast<double>(size) / static_cast<double>(ceil_div(size, tile) * tile);
  };
  const kernels::Tile& tile = run.config.tile;
  return 1.0 - inside(run.shape.m, tile.m) * inside(run.shape.n, tile.n) * inside(run.shape.k, tile.k);
}

// Normally distributed numbers share most of the bits of their exponents, half of a bfloat16. H200M: GEMMs of 1 x 51200
// x 16384, which stream their weights, draw 579 W on normal bf16 numbers and 413 W on zeros, 0.62 of the way to what
// the energies of hashed words come to. Other types were not measured.
double moved_activity(const arch::EnergySpec& energy, kernels::DataType type) {
  return type == kernels::DataType::bf16 ? energy.bf16_data : 1.0;
}

}  // namespace

// How many instructions a CTA executes is known exactly, so what periods were passed over inexactly is set right by it.
sm::CoreCounters chip_counters(const Run& run, const kernels::Program& program) {
  if (!program.roles.empty())  // each role has a length of its own; tiles are alike
    return run.sm.counters * (run.launch.all_tiles / static_cast<double>(run.sm_ctas * run.launch.tiles));
  const double executed =
      static_cast<double>(executed_by_cta(program, run.launch.trips)) * static_cast<double>(run.launch.ctas);
  return run.sm.counters * (executed / std::max(1.0, run.sm.counters.warp_instructions));
}

ChipEvents chip_events(const Run& run, const kernels::Program& program) {
  ChipEvents events;
  events.counters = chip_counters(run, program);
  events.active_lanes = static_cast<double>(program.threads) / std::max(1, program.warps);
  events.sectors_per_pass = run.gpu.sm.memory.l1_line / run.gpu.sm.memory.sector;
  events.dram_read_bytes = run.traffic.reuse.dram_read_bytes;
  events.dram_write_bytes = run.traffic.reuse.dram_write_bytes;
  events.moved_activity = moved_activity(run.gpu.sm.energy, run.config.dtype_in);
  events.tensor_padding = padding_share(run);
  events.l2_bytes = run.traffic.l2_read_bytes + run.traffic.l2_write_bytes;
  events.sm_cycles = run.sm.cycles * run.launch.active_sms;
  return events;
}

}  // namespace noteg::gpu
