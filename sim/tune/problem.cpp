#include "sim/tune/problem.hpp"

#include "kernels/families/family.hpp"

namespace noteg::tune {

kernels::KernelConfig in_frame(kernels::KernelConfig kernel, const kernels::KernelConfig& frame) {
  kernel.dtype_in = frame.dtype_in;
  kernel.dtype_b = frame.dtype_b;
  kernel.dtype_acc = frame.dtype_acc;
  kernel.dtype_out = frame.dtype_out;
  kernel.layout = frame.layout;
  kernel.bias = frame.bias;
  kernel.reads_c = frame.reads_c;
  return kernel;
}

bool wants_tensor_cores(kernels::DataType type) { return type != kernels::DataType::f32; }

bool is_tensor(kernels::Family family) {
  return family_of(family).traits.arithmetic == kernels::Arithmetic::tensor_cores;
}

}  // namespace noteg::tune
