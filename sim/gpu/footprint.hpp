// How much memory a product lies in.
#pragma once

#include "kernels/config/config.hpp"

namespace noteg::gpu {

// Bytes of both operands and the result, each taken once.
[[nodiscard]] inline double footprint(const kernels::GemmShape& s, double bytes_in, double bytes_out) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return static_cast<double>(s.batch) * ((m * k + k * n) * bytes_in + m * n * bytes_out);
}

}  // namespace noteg::gpu
