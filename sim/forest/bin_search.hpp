// The bin of a number in a fixed number of steps, so that many searches overlap: edges filled up to a power of two.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
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
    return number_bin(value);
  }

  void bins_of(std::span<const double> values, std::uint8_t* bins) const {
    const bool category = feature_->kind == FeatureKind::category;
    std::size_t i = 0;
    for (; !category && i + together <= values.size(); i += together) number_bins(values.data() + i, bins + i);
    for (; i < values.size(); ++i) bins[i] = bin_of(values[i]);
  }

 private:
  static constexpr std::size_t together = 8;  // searches whose steps overlap

  // A mask, since compilers make a jump of a choice, and every other jump is guessed wrong.
  [[nodiscard]] static std::size_t half_if(bool above, std::size_t half) {
    return half & (std::size_t{0} - static_cast<std::size_t>(above));
  }

  void number_bins(const double* values, std::uint8_t* bins) const {
    std::array<std::size_t, together> at{};
    for (std::size_t half = (edges_.size() + 1) / 2; half > 0; half /= 2)
      for (std::size_t r = 0; r < together; ++r) at[r] += half_if(edges_[at[r] + half - 1] < values[r], half);
    for (std::size_t r = 0; r < together; ++r)
      bins[r] = static_cast<std::uint8_t>(at[r] | (std::isnan(values[r]) ? missing_bin : 0U));
  }

  [[nodiscard]] std::uint8_t number_bin(double value) const {
    std::size_t at = 0;
    for (std::size_t half = (edges_.size() + 1) / 2; half > 0; half /= 2)
      at += half_if(edges_[at + half - 1] < value, half);
    return std::isnan(value) ? missing_bin : static_cast<std::uint8_t>(at);
  }

  const FeatureBins* feature_;
  std::vector<double> edges_;
};

}  // namespace noteg::forest
