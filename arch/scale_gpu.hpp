// A part of a GPU, or a multiple, as a GPU of its own: SMs, L2, memory channels and power in proportion, the SM as it
// is. Nobody has built it: everything that changes is marked as derived, with the factor.
#pragma once

#include <optional>
#include <string_view>

#include "arch/load.hpp"

namespace noteg::arch {

// A factor as users write it: 1/4, 0.25, 2. Nothing for anything else, and beyond 1/64 to 16.
struct Factor {
  double value = 1;
  std::string text;  // as written
};
[[nodiscard]] std::optional<Factor> factor_from(std::string_view text);

// Errors: a factor that leaves a fraction of an SM or of a channel (names the nearest ones that do), numbers that break
// a rule between fields.
[[nodiscard]] Result<SourcedGpu> scaled_gpu(const SourcedGpu& gpu, const Factor& factor);

}  // namespace noteg::arch
