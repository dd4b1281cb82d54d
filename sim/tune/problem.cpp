#include "sim/tune/problem.hpp"

#include "kernels/families/family.hpp"

namespace noteg::tune {

bool wants_tensor_cores(kernels::DataType type) { return type != kernels::DataType::f32; }

bool is_tensor(kernels::Family family) {
  return family_of(family).traits.arithmetic == kernels::Arithmetic::tensor_cores;
}

}  // namespace noteg::tune
