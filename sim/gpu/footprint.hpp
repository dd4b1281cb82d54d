// How much memory a product lies in.
#pragma once

#include "kernels/config/config.hpp"

namespace noteg::gpu {

// Bytes of both operands and the result, each taken once.
[[nodiscard]] inline double footprint(const kernels::GemmShape& s, double bytes_in, double bytes_out) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return static_cast<double>(s.batch) * ((m * k + k * n) * bytes_in + m * n * bytes_out);
}

// The same by types: weights may be narrower than what they multiply, and of attention's two products the first leaves
// nothing in memory.
[[nodiscard]] inline double footprint(const kernels::GemmShape& s, const kernels::KernelConfig& config) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double in = kernels::bytes_of(config.dtype_in), out = kernels::bytes_of(config.dtype_out);
  const double rest = static_cast<double>(s.batch) * k * n * kernels::bytes_of_b(config);
  if (config.family == kernels::Family::attention) return static_cast<double>(s.batch) * m * n / 2 * (in + out) + rest;
  return static_cast<double>(s.batch) * m * (k * in + n * out) + rest;
}

}  // namespace noteg::gpu
