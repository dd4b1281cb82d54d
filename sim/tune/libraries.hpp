// What libraries run whose choice of a kernel is public: CUTLASS tiles of SGLang's, FlashInfer's and TensorRT-LLM's own
// products of narrow types, DeepGEMM's blocks. Each takes the tile that its program names for a shape, however
// much of the GPU then idles; none of them divides K. Where a library times all of its tiles, all of them stand here.
#pragma once

#include <vector>

#include "arch/spec.hpp"
#include "sim/gpu/sim_options.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {

// Not resolved. Empty: the library has no kernel of its own for this GPU and type, so that it calls cuBLAS.
[[nodiscard]] std::vector<kernels::KernelConfig> public_choices(gpu::Library library, const arch::GpuSpec& gpu,
                                                                const Problem& problem);

// Where a library compares its kernels.
struct Comparison {
  kernels::GemmShape shape;
  memory::L2State l2;
};
[[nodiscard]] Comparison comparison_of(const gpu::SimOptions& given, const Problem& problem);

}  // namespace noteg::tune
