// What a forest says of a training row through the trees that did not see it, and how much each feature matters there.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "sim/forest/forest.hpp"

namespace noteg::forest {

// Rows of the training set; NaN for a row that every tree has seen: all rows of Sample::all.
[[nodiscard]] Eigen::MatrixXd out_of_bag(const Forest& forest, const Eigen::MatrixXd& x, unsigned threads);

// Per feature: by how much the mean squared out-of-bag error of the standardised targets grows when the feature's
// values change places between rows. At most `sample_rows` rows are asked, evenly spread.
[[nodiscard]] std::vector<double> permutation_importance(const Forest& forest, const Eigen::MatrixXd& x,
                                                         std::size_t sample_rows, std::uint64_t seed, unsigned threads);

// The same of groups of features whose values change places together: what copies of each other know in common.
[[nodiscard]] std::vector<double> permutation_importance(const Forest& forest, const Eigen::MatrixXd& x,
                                                         const std::vector<std::vector<std::size_t>>& together,
                                                         std::size_t sample_rows, std::uint64_t seed, unsigned threads);

// Per tree and training row: was the row drawn.
class Bags {
 public:
  explicit Bags(const Forest& forest);
  [[nodiscard]] bool holds(std::size_t tree, std::size_t row) const { return drawn_[tree][row]; }

 private:
  std::vector<std::vector<bool>> drawn_;
};

}  // namespace noteg::forest
