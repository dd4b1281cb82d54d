// The separate kernel that turns activations into 8- or 4-bit numbers before a GEMM, where a measured time holds it
// (op linear_quant): it reads M x K numbers of two bytes and writes as many of the narrow type, at the memory's speed.
#pragma once

#include "arch/spec.hpp"
#include "kernels/config/shape.hpp"

namespace noteg::validate {

[[nodiscard]] Seconds quantisation_time(const arch::GpuSpec& gpu, const kernels::GemmShape& shape,
                                        kernels::DataType type);

}  // namespace noteg::validate
