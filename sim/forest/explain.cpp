#include "sim/forest/explain.hpp"

#include <array>

namespace noteg::forest {
namespace {

// On the way to a node: per group, the share of the training rows that its cuts let through, and whether the row itself
// goes this way by them.
struct Way {
  std::uint32_t node = 0, groups = 0;  // groups: a bit for each that cuts on the way
  std::uint32_t taken = 0;             // a bit for each whose cuts the row passes
  std::array<double, most_groups> share{};
};

// For g = 1 ... most_groups: k! (g - k - 1)! / g!, what a subset of k of the other groups weighs.
std::array<std::array<double, most_groups>, most_groups + 1> subset_weights() {
  std::array<std::array<double, most_groups>, most_groups + 1> weights{};
  std::array<double, most_groups + 1> factorial{1};
  for (std::size_t n = 1; n <= most_groups; ++n) factorial[n] = factorial[n - 1] * static_cast<double>(n);
  for (std::size_t g = 1; g <= most_groups; ++g)
    for (std::size_t k = 0; k < g; ++k) weights[g][k] = factorial[k] * factorial[g - k - 1] / factorial[g];
  return weights;
}

class TreeExplainer {
 public:
  TreeExplainer(const Forest& forest, const Tree& tree, std::span<const std::uint8_t> bins,
                std::span<const std::size_t> group_of)
      : tree_(tree),
        bins_(bins),
        group_of_(group_of),
        targets_(forest.targets()),
        children_(first_children(tree)),
        leaves_(leaf_numbers(tree)),
        rows_(tree.nodes.size(), 0) {
    for (std::size_t i = rows_.size(); i-- > 0;) {
      if (leaves_[i] < 0) {
        rows_[i] = rows_[children_[i]] + rows_[children_[i] + 1];
        continue;
      }
      const auto leaf = static_cast<std::size_t>(leaves_[i]);
      for (std::uint32_t r = tree.leaf_begin[leaf]; r < tree.leaf_begin[leaf + 1]; ++r)
        rows_[i] += forest.weights[tree.rows[r]];
    }
  }

  void add_to(Explanation& all) {
    Way first;
    first.share.fill(1);
    std::vector<Way> open{first};
    while (!open.empty()) {
      const Way way = open.back();
      open.pop_back();
      if (leaves_[way.node] >= 0) {
        add_leaf(way, all);
        continue;
      }
      const TreeNode& node = tree_.nodes[way.node];
      const bool left = goes_left(node, tree_.sets, bins_[node.feature]);
      for (const std::uint32_t side : {0U, 1U}) open.push_back(step(way, node, side, left == (side == 0)));
    }
  }

 private:
  [[nodiscard]] Way step(const Way& way, const TreeNode& node, std::uint32_t side, bool taken) const {
    const std::size_t group = group_of_[node.feature];
    const std::uint32_t bit = 1U << group;
    Way next = way;
    next.node = children_[way.node] + side;
    next.share[group] *= rows_[next.node] / rows_[way.node];
    if ((way.groups & bit) == 0) next.taken |= bit;
    next.groups |= bit;
    if (!taken) next.taken &= ~bit;
    return next;
  }

  // Of a group: its own share of what the leaf adds over all orders in which the groups on the way become known.
  void add_leaf(const Way& way, Explanation& all) {
    static const auto weights = subset_weights();
    std::array<std::size_t, most_groups> players{};
    std::size_t count = 0;
    double reached = 1;
    for (std::size_t g = 0; g < all.parts.size(); ++g) {
      if ((way.groups >> g & 1) == 0) continue;
      players[count++] = g;
      reached *= way.share[g];
    }
    const float* values = tree_.values.data() + static_cast<std::size_t>(leaves_[way.node]) * targets_;
    for (std::size_t t = 0; t < targets_; ++t) all.base[t] += reached * static_cast<double>(values[t]);
    for (std::size_t p = 0; p < count; ++p) {
      std::array<double, most_groups> known{1};  // sum over subsets of the others, by how many are known
      std::size_t others = 0;
      for (std::size_t q = 0; q < count; ++q) {
        if (q == p) continue;
        const double share = way.share[players[q]], taken = is_taken(way, players[q]);
        ++others;
        for (std::size_t k = others; k > 0; --k) known[k] = known[k] * share + known[k - 1] * taken;
        known[0] *= share;
      }
      double sum = 0;
      for (std::size_t k = 0; k <= others; ++k) sum += weights[count][k] * known[k];
      sum *= is_taken(way, players[p]) - way.share[players[p]];
      for (std::size_t t = 0; t < targets_; ++t) all.parts[players[p]][t] += sum * static_cast<double>(values[t]);
    }
  }

  [[nodiscard]] static double is_taken(const Way& way, std::size_t group) {
    return static_cast<double>(way.taken >> group & 1);
  }

  const Tree& tree_;
  std::span<const std::uint8_t> bins_;
  std::span<const std::size_t> group_of_;
  std::size_t targets_;
  std::vector<std::uint32_t> children_;
  std::vector<std::int32_t> leaves_;
  std::vector<double> rows_;  // per node: weight of the training rows below it
};

}  // namespace

Explanation explain(const Forest& forest, std::span<const std::uint8_t> bins, std::span<const std::size_t> group_of,
                    std::size_t groups) {
  Explanation all;
  all.base.assign(forest.targets(), 0);
  all.parts.assign(groups, std::vector<double>(forest.targets(), 0));
  for (const Tree& tree : forest.trees) TreeExplainer(forest, tree, bins, group_of).add_to(all);
  const auto trees = static_cast<double>(forest.trees.size());
  for (std::size_t t = 0; t < forest.targets(); ++t) {
    const Scale& scale = forest.scales[t];
    all.base[t] = scale.mean + scale.deviation * all.base[t] / trees;
    for (std::vector<double>& part : all.parts) part[t] *= scale.deviation / trees;
  }
  return all;
}

}  // namespace noteg::forest
