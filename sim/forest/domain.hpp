// How far a row lies from what a forest was trained on: the way to the nearest training row of its leaves, feature by
// feature in bins, each counted by its importance. A forest answers anywhere; this says where its answer is borrowed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/forest/forest.hpp"

namespace noteg::forest {

class Domain {
 public:
  // training_bins: row-major, a byte per feature.
  Domain(const Forest& forest, std::vector<std::uint8_t> training_bins);

  // 0: a training row; 1: every feature at the other end of its range or another category.
  [[nodiscard]] double distance(std::span<const std::uint8_t> bins, std::span<const std::uint32_t> leaves) const;

  // The distance that a share of the training rows stay below, each asked of the trees that did not see it, or where
  // every tree saw it (Sample::all) of all of them with the row itself left out. Always finite.
  [[nodiscard]] double usual_distance(double share, std::size_t sample_rows) const;

  [[nodiscard]] const std::vector<std::uint8_t>& training_bins() const { return bins_; }

 private:
  static constexpr std::size_t no_row = static_cast<std::size_t>(-1);
  [[nodiscard]] double between(const std::uint8_t* a, const std::uint8_t* b, double give_up) const;
  [[nodiscard]] double nearest_in(std::size_t tree, std::size_t leaf, const std::uint8_t* bins, double best,
                                  std::size_t left_out = no_row) const;

  const Forest& forest_;
  std::vector<std::uint8_t> bins_;
  struct Counted {
    std::size_t feature;
    double weight;  // per bin apart; of a category: for being another one
    bool category;
  };
  std::vector<Counted> counted_;  // most important first, so that most rows are given up early
};

[[nodiscard]] std::vector<std::uint8_t> row_major_bins(const BinnedColumns& columns, std::size_t features);

// The distribution of a target around a prediction: the training rows that share leaves with the row asked for, each
// with the weight that it has in the forest's mean. Its quantiles are those of a quantile regression forest.

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
