// What families share when they list kernels for the tuner: extents to try, and the launches of one program.
#pragma once

#include <vector>

#include "kernels/families/family.hpp"

namespace noteg::kernels {

struct Extents {
  int m, n;
};

// Tiles of C: powers of two, and no thinner than one to four. Warp tiles of 4 x 8 lanes with 4 x 4 to 16 x 8 results
// each; matrix instructions take the same.
inline constexpr Extents tried_warp_tiles[] = {{16, 32}, {32, 16}, {32, 32}, {32, 64}, {64, 32}, {64, 64}};

// Columns of tiles that are walked together, as a power of two: how much of A and B the SMs share in L2.
inline constexpr int tried_swizzles[] = {0, 1, 2, 3};

[[nodiscard]] bool divides(const Extents& tile, const Extents& warp);

// Elements of a row of so many bytes.
[[nodiscard]] int depth_of(int bytes, const KernelConfig& frame);

// A kernel for the problem: the frame's types, layout and epilogue, everything else the kernel's own.
[[nodiscard]] KernelConfig in_frame(KernelConfig kernel, const KernelConfig& frame);

// How many CTAs may share a tile: while the grid leaves SMs idle and every slice keeps some depth.
[[nodiscard]] std::vector<int> slice_counts(const KernelConfig& kernel, const GemmShape& shape, int sms);

// The launches of one program: K slices and rasters.
void add_launches(const KernelConfig& program, const TuningRequest& request, std::vector<KernelConfig>& out);

// Warp tiles and stages of a CUTLASS generator over tiles and depths (in elements).
void add_pipelined(const KernelConfig& tiled, const TuningRequest& request, std::vector<int> stages,
                   std::vector<KernelConfig>& out);

}  // namespace noteg::kernels
