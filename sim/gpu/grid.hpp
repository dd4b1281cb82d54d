// The launch: how many CTAs, how many main-loop trips each, how they fall onto the SMs.
#pragma once

#include <cstdint>

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::gpu {

struct Launch {
  memory::TileGrid grid;
  std::int64_t ctas = 0;
  std::int64_t tiles = 1;  // that the busiest CTA takes, one after another (persistent kernels)
  double all_tiles = 0;    // with those that fill up clusters
  std::int64_t trips = 0;  // main-loop trips of one CTA
  std::int64_t ctas_busiest_sm = 0;
  int active_sms = 0;  // SMs that get at least one CTA
};

[[nodiscard]] Launch plan_launch(const kernels::KernelConfig& config, const kernels::GemmShape& shape,
                                 const kernels::Program& program, int sms);

// Iterations of a causal attention kernel's CTAs: what the last of them to end comes to, since rows see only the keys
// before them and the CTAs of late rows take longest.
[[nodiscard]] std::int64_t causal_trips(const kernels::KernelConfig& config, const kernels::GemmShape& shape,
                                        const Launch& launch, int resident, int sms);

}  // namespace noteg::gpu
