// The distribution of a target around a prediction: the training rows that share leaves with the row asked for, each
// with the weight that it has in the forest's mean. Its quantiles are those of a quantile regression forest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/forest/forest.hpp"

namespace noteg::forest {

struct Neighbour {
  std::uint32_t row = 0;  // of the training set
  double weight = 0;      // all together 1
};

// leaves: the leaf per tree (Predictor::leaves_of). A row comes once per tree that it shares a leaf in.
[[nodiscard]] std::vector<Neighbour> neighbours(const Forest& forest, std::span<const std::uint32_t> leaves);

// In units of the target, one per level 0..1; between neighbours' values they are interpolated.
[[nodiscard]] std::vector<double> quantiles(const Forest& forest, const std::vector<Neighbour>& neighbours,
                                            std::size_t target, std::span<const double> levels);

}  // namespace noteg::forest
