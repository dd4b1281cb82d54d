// Shared by the two naive builders: a T x T tile that the compiler knows, or not.
#pragma once

#include "kernels/families/build.hpp"
#include "kernels/ir/emitter.hpp"

namespace noteg::kernels {

// Of a T x T tile: thread t is row t / T, column t % T; a warp covers up to 32 of them. A step of 0 is an extent that
// all lanes share.
[[nodiscard]] AccessPattern naive_lanes(int tile, Space space, Matrix matrix, bool store, int bytes, int row_step,
                                        int column_step);

// What an iteration and a CTA of such a kernel take.
void describe_naive(Program& program, int tile, const KernelConfig& config);

// finish(), with nvcc's registers where the configuration has none.
[[nodiscard]] Result<Program> finish_naive(Emitter& emitter, const BuildRequest& request);

}  // namespace noteg::kernels
