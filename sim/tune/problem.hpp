// What is to be computed, without saying how: the shape, the types and the layout. Kernels are chosen for it.
#pragma once

#include "kernels/families/tuning.hpp"

namespace noteg::tune {

struct Problem {
  kernels::GemmShape shape;
  kernels::KernelConfig frame;  // types, layout, bias and reads_c only; the rest is the kernel's
};

using kernels::in_frame;

// f32, or a type that only tensor cores multiply at speed.
[[nodiscard]] bool wants_tensor_cores(kernels::DataType type);

// The family of tensor kernels that a generation runs fastest; nothing where its SM has none for the type.
[[nodiscard]] bool is_tensor(kernels::Family family);

}  // namespace noteg::tune
