// The other direction: how profilers would print a kernel that --kernel auto has chosen. Reading the name again gives
// the same kernel, all but what no name says: the number of K slices, and an epilogue that is not in its scheme.
#pragma once

#include "kernels/config/config.hpp"

namespace noteg::kernels {

// CTAs of nvjet kernels walk bands of eight tiles (H200M: bytes that DRAM reads in 36 launches of three tiles from 2048
// to 16384 cubed, tests/data/h200_nvjet_traffic.csv: bands of four or sixteen tiles would read 1.5 or 0.7 times as
// much).
inline constexpr int nvjet_band_log2 = 3;

// A resolved kernel of a library's families (simt, mma, wgmma), by the scheme of its flavor; wgmma kernels become nvjet
// ones where that scheme has their types and schedule, CUTLASS 3 ones elsewhere (their flavor follows; it changes no
// instruction of theirs).
void name_as_library(KernelConfig& config);

// By the families' own schemes; their descriptors point here.
void name_wgmma(KernelConfig& config);
void name_tcgen05(KernelConfig& config);

}  // namespace noteg::kernels
