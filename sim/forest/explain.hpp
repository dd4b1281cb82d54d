// Why a forest says what it says of a row: Shapley values of groups of features. A group that is not asked is averaged
// over as the training rows went (Lundberg et al., "Consistent individualized feature attribution for tree ensembles",
// arXiv 1802.03888, path-dependent): a cut of it counts both sides with the share of the rows that took them. With
// groups as the players the values are exact, and their sum is the prediction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/forest/forest.hpp"

namespace noteg::forest {

inline constexpr std::size_t most_groups = 16;

struct Explanation {
  std::vector<double> base;                // per target: what is said where no group is known
  std::vector<std::vector<double>> parts;  // per group and target; base and all parts add up to the prediction
};

// bins: of the row, a byte per feature (Predictor::bins_of). group_of: per feature, below `groups`.
[[nodiscard]] Explanation explain(const Forest& forest, std::span<const std::uint8_t> bins,
                                  std::span<const std::size_t> group_of, std::size_t groups);

}  // namespace noteg::forest
