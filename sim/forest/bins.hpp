// What a forest learns from: plain matrices, which know no names, no files, no GPUs; and their values as small
// integers, at most 255 bins with about equally many training rows each, and one for what is missing. Trees compare
// bins only, while they grow and while they predict.
#pragma once

#include <Eigen/Core>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace noteg::forest {

enum class FeatureKind : std::uint8_t {
  number,    // any finite value; NaN is missing
  category,  // a code 0, 1, 2 ...; NaN is missing, a code that was never seen too
};

struct TrainingSet {
  Eigen::MatrixXd x;  // a row per run, a column per feature
  std::vector<FeatureKind> kinds;
  Eigen::MatrixXd y;        // a row per run, a column per target; finite
  Eigen::VectorXd weights;  // of rows, above 0; empty: all alike

  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(x.rows()); }
  [[nodiscard]] std::size_t features() const { return static_cast<std::size_t>(x.cols()); }
  [[nodiscard]] std::size_t targets() const { return static_cast<std::size_t>(y.cols()); }
};

inline constexpr std::size_t most_targets = 16;
inline constexpr std::size_t most_features = 4096;
inline constexpr std::size_t most_rows = std::size_t{1} << 24;  // single precision counts that far

// A target must be met: direction +1 never falls and -1 never rises where the feature grows.
struct Monotone {
  std::size_t feature = 0, target = 0;
  int direction = 1;
};

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

[[nodiscard]] BinnedColumns bin_columns(const Eigen::MatrixXd& x, const std::vector<FeatureBins>& features,
                                        unsigned threads = 1);

// The bin of a number in a fixed number of steps, so that many searches overlap: edges filled up to a power of two.
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
