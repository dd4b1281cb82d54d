// Matrix times few vectors, without tensor cores: what decoding one token, or a few, comes to.
#pragma once

#include <cstdint>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

inline constexpr int gemv_access_bytes = 16;  // that a thread loads of each row at a time

[[nodiscard]] bool gemv_takes(DataType type);
[[nodiscard]] int elements_of_access(DataType type);

// Sums of each warp, four bytes for each result of a CTA, which its first threads add up.
[[nodiscard]] std::int64_t gemv_shared_bytes(const KernelConfig& config);

}  // namespace noteg::kernels
