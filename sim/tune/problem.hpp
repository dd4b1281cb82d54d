// What is to be computed, without saying how: the shape, the types and the layout. Kernels are chosen for it.
#pragma once

#include <string>
#include <vector>

#include "kernels/families/family.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::tune {

struct Problem {
  kernels::GemmShape shape;
  kernels::KernelConfig frame;  // types, layout, bias and reads_c only; the rest is the kernel's
};

using kernels::in_frame;

// Of a persistent kernel of CUTLASS or DeepGEMM: tiles follow each other along the side that has fewer of them.
[[nodiscard]] inline kernels::Raster shorter_side(const kernels::Tile& tile, const kernels::GemmShape& shape) {
  const std::int64_t rows = ceil_div(shape.m, tile.m), columns = ceil_div(shape.n, tile.n);
  return columns > rows ? kernels::Raster::along_m : kernels::Raster::along_n;
}

// f32, or a type that only tensor cores multiply at speed.
[[nodiscard]] bool wants_tensor_cores(kernels::DataType type);

// The family of tensor kernels that a generation runs fastest; nothing where its SM has none for the type.
[[nodiscard]] bool is_tensor(kernels::Family family);

// A file of problems, one GEMM per line: MxNxK, then any of batch=B, times=N, dtype=T, layout=L; # begins a comment. A
// whole layer of a language model is such a file.

struct CountedProblem {
  Problem problem;
  std::int64_t count = 1;
};

// otherwise: types and layout of lines that state none. Every mistake with file, line and column.
[[nodiscard]] Result<std::vector<CountedProblem>> read_shapes(const std::string& path,
                                                              const kernels::KernelConfig& otherwise);
[[nodiscard]] Result<std::vector<CountedProblem>> parse_shapes(const std::string& text, const std::string& file,
                                                               const kernels::KernelConfig& otherwise);

// Types of operands, accumulators and result together: f16 adds in f32 and stores f16, s8 adds and stores s32.
void set_types(kernels::KernelConfig& frame, kernels::DataType type);

}  // namespace noteg::tune
