// The bin of a number in a fixed number of steps, so that many searches overlap: edges filled up to a power of two.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/forest/bins.hpp"

namespace noteg::forest {

class BinSearch {
 public:
  explicit BinSearch(const FeatureBins& feature) : feature_(&feature), edges_(feature.edges) {
    edges_.resize(std::bit_ceil(feature.edges.size() + 1) - 1, std::numeric_limits<double>::infinity());
  }

  [[nodiscard]] std::uint8_t bin_of(double value) const {
    if (feature_->kind == FeatureKind::category) return feature_->bin_of(value);
    std::size_t at = 0;
    for (std::size_t half = (edges_.size() + 1) / 2; half > 0; half /= 2)
      at += edges_[at + half - 1] < value ? half : 0;
    return std::isnan(value) ? missing_bin : static_cast<std::uint8_t>(at);
  }

 private:
  const FeatureBins* feature_;
  std::vector<double> edges_;
};

}  // namespace noteg::forest
