#include "sim/forest/domain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/forest/out_of_bag.hpp"

namespace noteg::forest {

Domain::Domain(const Forest& forest, std::vector<std::uint8_t> training_bins)
    : forest_(forest), bins_(std::move(training_bins)) {
  for (std::size_t f = 0; f < forest.features.size(); ++f) {
    if (forest.importance[f] <= 0) continue;
    const bool category = forest.features[f].kind == FeatureKind::category;
    const double steps = category ? 1 : static_cast<double>(std::max<std::size_t>(1, forest.features[f].count() - 1));
    counted_.push_back({f, forest.importance[f] / steps, category});
  }
  std::ranges::stable_sort(counted_, std::greater{}, [&](const Counted& c) { return forest.importance[c.feature]; });
}

double Domain::between(const std::uint8_t* a, const std::uint8_t* b, double give_up) const {
  double sum = 0;
  for (const Counted& c : counted_) {
    const std::uint8_t x = a[c.feature], y = b[c.feature];
    if (x == y) continue;
    const bool apart = c.category || x == missing_bin || y == missing_bin;
    sum += apart ? forest_.importance[c.feature] : c.weight * std::abs(x - y);
    if (sum >= give_up) break;
  }
  return sum;
}

double Domain::nearest_in(std::size_t tree, std::size_t leaf, const std::uint8_t* bins, double best,
                          std::size_t left_out) const {
  const Tree& t = forest_.trees[tree];
  const std::size_t width = forest_.features.size();
  std::uint32_t before = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t i = t.leaf_begin[leaf]; i < t.leaf_begin[leaf + 1]; ++i) {
    if (t.rows[i] == before || t.rows[i] == left_out) continue;
    before = t.rows[i];
    best = std::min(best, between(bins, bins_.data() + before * width, best));
  }
  return best;
}

double Domain::distance(std::span<const std::uint8_t> bins, std::span<const std::uint32_t> leaves) const {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t tree = 0; tree < leaves.size(); ++tree) best = nearest_in(tree, leaves[tree], bins.data(), best);
  return best;
}

double Domain::usual_distance(double share, std::size_t sample_rows) const {
  const Bags bags(forest_);
  std::vector<std::vector<std::uint32_t>> children;
  std::vector<std::vector<std::int32_t>> leaves;
  for (const Tree& tree : forest_.trees) {
    children.push_back(first_children(tree));
    leaves.push_back(leaf_numbers(tree));
  }
  std::vector<double> distances;
  const std::size_t step = std::max<std::size_t>(1, forest_.rows / sample_rows);
  for (std::size_t row = 0; row < forest_.rows; row += step) {
    const std::uint8_t* bins = bins_.data() + row * forest_.features.size();
    double best = std::numeric_limits<double>::infinity();
    bool in_all = true;
    for (std::size_t t = 0; t < forest_.trees.size(); ++t) in_all = in_all && bags.holds(t, row);
    for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
      if (!in_all && bags.holds(t, row)) continue;
      std::size_t at = 0;
      while (leaves[t][at] < 0) {
        const TreeNode& node = forest_.trees[t].nodes[at];
        at = children[t][at] + (goes_left(node, forest_.trees[t].sets, bins[node.feature]) ? 0 : 1);
      }
      best = nearest_in(t, static_cast<std::size_t>(leaves[t][at]), bins, best, row);
    }
    if (std::isfinite(best)) distances.push_back(best);
  }
  if (distances.empty()) return 1;  // no row shares a leaf with another: the widest that two rows can be apart
  std::ranges::sort(distances);
  return distances[static_cast<std::size_t>(share * static_cast<double>(distances.size() - 1))];
}

std::vector<std::uint8_t> row_major_bins(const BinnedColumns& columns, std::size_t features) {
  std::vector<std::uint8_t> bins(columns.rows * features);
  for (std::size_t f = 0; f < features; ++f)
    for (std::size_t row = 0; row < columns.rows; ++row) bins[row * features + f] = columns.column(f)[row];
  return bins;
}

std::vector<Neighbour> neighbours(const Forest& forest, std::span<const std::uint32_t> leaves) {
  std::vector<Neighbour> all;
  all.reserve(4 * forest.trees.size());
  const double share = 1.0 / static_cast<double>(forest.trees.size());
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Tree& tree = forest.trees[t];
    const std::span<const std::uint32_t> rows(tree.rows.data() + tree.leaf_begin[leaves[t]],
                                              tree.rows.data() + tree.leaf_begin[leaves[t] + 1]);
    double total = 0;
    for (const std::uint32_t row : rows) total += forest.weights[row];
    for (const std::uint32_t row : rows) {
      const double weight = share * forest.weights[row] / total;
      if (!all.empty() && all.back().row == row)  // drawn several times
        all.back().weight += weight;
      else
        all.push_back({row, weight});
    }
  }
  return all;
}

std::vector<double> quantiles(const Forest& forest, const std::vector<Neighbour>& neighbours, std::size_t target,
                              std::span<const double> levels) {
  std::vector<std::pair<float, double>> values;
  values.reserve(neighbours.size());
  for (const Neighbour& n : neighbours) values.emplace_back(forest.y[n.row * forest.targets() + target], n.weight);
  std::ranges::sort(values);
  const Scale& scale = forest.scales[target];
  std::vector<double> out;
  for (const double level : levels) {
    double below = 0, value = static_cast<double>(values.front().first), middle_before = 0, value_before = value;
    for (const auto& [y, weight] : values) {
      const double middle = below + 0.5 * weight;
      value = static_cast<double>(y);
      if (middle >= level) {
        const double part = middle > middle_before ? (level - middle_before) / (middle - middle_before) : 1;
        value = value_before + std::clamp(part, 0.0, 1.0) * (value - value_before);
        break;
      }
      below += weight;
      middle_before = middle;
      value_before = value;
    }
    out.push_back(scale.mean + scale.deviation * value);
  }
  return out;
}

}  // namespace noteg::forest
