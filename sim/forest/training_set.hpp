// What a forest learns from: plain matrices. Knows no names, no files, no GPUs.
#pragma once

#include <Eigen/Core>
#include <cstdint>
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

// A target must be met: direction +1 never falls and -1 never rises where the feature grows.
struct Monotone {
  std::size_t feature = 0, target = 0;
  int direction = 1;
};

}  // namespace noteg::forest
