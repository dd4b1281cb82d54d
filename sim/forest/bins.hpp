// Feature values as small integers: at most 255 bins with about equally many training rows each, and one for what is
// missing. Trees compare bins only, while they grow and while they predict.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/forest/training_set.hpp"

namespace noteg::forest {

inline constexpr std::uint8_t missing_bin = 255;
inline constexpr std::size_t most_bins = 255;

struct FeatureBins {
  FeatureKind kind = FeatureKind::number;
  std::vector<double> edges;   // of a number: bin b holds edges[b-1] < x <= edges[b]
  std::size_t categories = 0;  // of a category: codes below it

  [[nodiscard]] std::uint8_t bin_of(double value) const;
  [[nodiscard]] std::size_t count() const { return kind == FeatureKind::number ? edges.size() + 1 : categories; }
};

[[nodiscard]] FeatureBins make_bins(std::span<const double> values, FeatureKind kind);

// Column-major, so that one feature of many rows lies together.
struct BinnedColumns {
  std::size_t rows = 0;
  std::vector<std::uint8_t> bins;

  [[nodiscard]] const std::uint8_t* column(std::size_t feature) const { return bins.data() + feature * rows; }
};

[[nodiscard]] BinnedColumns bin_columns(const Eigen::MatrixXd& x, const std::vector<FeatureBins>& features);

}  // namespace noteg::forest
