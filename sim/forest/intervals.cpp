#include "sim/forest/intervals.hpp"

#include <algorithm>

namespace noteg::forest {

std::vector<Neighbour> neighbours(const Forest& forest, std::span<const std::uint32_t> leaves) {
  std::vector<Neighbour> all;
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
