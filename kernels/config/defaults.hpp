// What a configuration takes where its author said nothing: the one table of defaults.
//
//   value        naive    blocked              simt generic, cutlass   simt cublas        simt xmma
//   tile         T x T x T (n, k follow m)     m, n given; k: 8 (x sliced_k)
//   stages       1        2                    4                       2                  3
//   async_copy   no       no                   stages >= 3             no                 yes
//   sliced_k     1        1                    1                       1                  1
//   threads      T*T      one per thread tile  tile elements / 64, 32..256 (known kernels: as launched)
//   warp_tile    -        -                    squarest grid of warps, more warps along M on a tie
//   thread_tile  1x1      8x8, 4x4 if < 64     warp tile over 4x8 lanes, the 4 along the shorter side
//   align        1        4, 2 or 1: what divides the extents; simt: 1 (any leading dimension works)
//   mma: stages 4 (xmma 3), async_copy from 3 stages on, four to eight warps, align the widest of up to 16 bytes;
//   wgmma: schedule ws, 128 threads for the producer and for each consumer.
//   registers    known kernels: as compiled; others: accumulators + fragments + bookkeeping
//   shared_bytes stages * (tile_m + tile_n) * tile_k elements, padded where an operand is transposed on its way in
//
// Sources: registers and shared memory of the H200 measurements (cudaFuncGetAttributes), function attributes of
// the kernels that cuBLAS 13 ships, threads of the NeuSight traces. Kernels that nobody read take a formula.
#pragma once

#include <cstdint>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

// Tensor-core families: 16-byte chunks of K, four of them for mma and eight for wgmma; the deepest shape of the type.
[[nodiscard]] int default_tensor_depth(const KernelConfig& config);
[[nodiscard]] Tile default_instruction(const KernelConfig& config);

[[nodiscard]] int default_stages(Family family, Flavor flavor);
[[nodiscard]] bool default_async_copy(Family family, Flavor flavor, int stages);

// A grid of warps over the CTA tile (one slice of it where K is sliced).
struct WarpGrid {
  int m = 1, n = 1;
};

// The squarest warp tile that divides the CTA tile; then the squarest grid; then more warps along M. This is what
// CUTLASS's simt instances use (128x128: 4x2 warps of 32x64). Nothing when no grid divides the tile.
[[nodiscard]] std::optional<WarpGrid> default_warp_grid(const Tile& tile, int warps);

// The following need a configuration whose earlier rows of the table are filled (tile, stages, sliced_k, ...).
[[nodiscard]] int default_threads(const KernelConfig& config);
[[nodiscard]] int default_registers(const KernelConfig& config);
[[nodiscard]] std::int64_t default_shared_bytes(const KernelConfig& config);

}  // namespace noteg::kernels
