// A GEMM as a launch: from a kernel configuration and a shape to the grid, its program, the CTAs that fit an SM and
// the traffic. Everything after this step knows nothing of configurations and shapes.
#pragma once

#include <memory>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "kernels/families/family.hpp"
#include "sim/gpu/launch.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/memory/tile_reuse.hpp"
#include "sim/support/result.hpp"

namespace noteg::gpu {

struct GemmGrid {
  memory::TileGrid tiles;
  LaunchGeometry geometry;
  double blocks = 1;      // of K, those that a CTA comes to: mean
  double read_share = 1;  // of all that its slice of K holds
};

// config: resolved. sms: those on which its CTAs can start, sms_for_clusters.
[[nodiscard]] GemmGrid plan_grid(const kernels::KernelConfig& config, const kernels::GemmShape& shape,
                                 const kernels::Program& program, int sms);

// Multiply-accumulates per cycle of one SM at the best rate that it has for a kernel's types; 0 where it has no such
// instruction.
[[nodiscard]] double peak_rate(const arch::SmSpec& sm, const kernels::KernelConfig& config);

// The configuration as far as it decides the program: name, raster and the number of slices do not.
[[nodiscard]] kernels::KernelConfig as_built(kernels::KernelConfig config);

// Whether an SM has what a family needs: a generation without any form of an instruction does not have it.
[[nodiscard]] bool has(const arch::SmSpec& sm, kernels::Needs needs);

// What the builder is asked for; an error if the SM lacks the kernel's matrix instruction.
[[nodiscard]] Result<kernels::BuildRequest> build_request(const arch::GpuSpec& gpu,
                                                          const kernels::KernelConfig& config);

// What the costs of a kernel's copies depend on beside their patterns.
[[nodiscard]] sm::AddressFacts address_facts(const kernels::KernelConfig& config, const kernels::GemmShape& shape);

// Errors: as simulate().
// The program of a loop that has so few k tiles that all of them are on their way before it begins: copies of others,
// there and in the loop, are masked off. Longer loops stay what they are.
[[nodiscard]] kernels::Program with_tiles(kernels::Program program, std::int64_t tiles);

[[nodiscard]] Result<KernelLaunch> gemm_launch(const arch::GpuSpec& gpu, const kernels::KernelConfig& resolved,
                                               const kernels::GemmShape& shape, memory::L2State l2, SmCache& cache);

}  // namespace noteg::gpu
