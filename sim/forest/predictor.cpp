#include "sim/forest/predictor.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "sim/support/work_sharing.hpp"

namespace noteg::forest {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 19;  // of packed rows: a tree is fetched once for all of them
constexpr std::size_t most_block_rows = 8192;
constexpr std::size_t most_columns = 2048;  // beyond, a row costs more than the walks
constexpr std::size_t fill_step = 64;       // rows
constexpr std::size_t generations = 3;      // that lie in a row: 14 nodes, a cache line

// Whole cache lines where rows are short, so that the usual strides are known to the compiler.
std::size_t stride_of(std::size_t columns) {
  for (const std::size_t usual : {32U, 64U, 128U, 192U, 256U})
    if (columns <= usual) return usual;
  return columns;
}

// Where each node lies when siblings are neighbours and families stay together. The second place stays empty, so that
// no pair lies across two lines.
std::vector<std::uint32_t> places_of(const Tree& tree, const std::vector<std::uint32_t>& children) {
  std::vector<std::uint32_t> places(tree.nodes.size(), 0), open, now, next;
  std::uint32_t end = 2;
  if (children[0] > 0) open.push_back(children[0]);
  while (!open.empty()) {
    now.assign(1, open.back());
    open.pop_back();
    for (std::size_t generation = 0; generation < generations; ++generation, std::swap(now, next)) {
      next.clear();
      for (const std::uint32_t pair : now)
        for (const std::uint32_t node : {pair, pair + 1}) {
          places[node] = end++;
          if (children[node] > 0) next.push_back(children[node]);
        }
    }
    open.insert(open.end(), now.rbegin(), now.rend());
  }
  return places;
}

// Steps after which a quarter of the training rows are at their leaves.
std::uint32_t usual_steps(const Tree& tree, const std::vector<std::uint32_t>& children) {
  std::vector<std::uint32_t> depth(tree.nodes.size(), 0);
  std::uint32_t leaf = 0, deepest = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {  // breadth first: never back up
    deepest = depth[i];
    if (tree.nodes[i].is_leaf()) {
      if (4 * std::size_t{tree.leaf_begin[++leaf]} >= tree.rows.size()) break;
    } else {
      depth[children[i]] = depth[children[i] + 1] = depth[i] + 1;
    }
  }
  return deepest;
}

template <class Node>
TopLevels top_of(const std::vector<Node>& nodes) {
  TopLevels top;
  std::vector<std::uint32_t> at{0}, next;
  for (std::size_t level = 0, cut = 0; level < TopLevels::levels; ++level, at.swap(next)) {
    next.clear();
    for (const std::uint32_t node : at) {
      const bool leaf = nodes[node].ahead() == 0;
      top.column[cut] = leaf ? 0 : nodes[node].column();
      top.bin[cut++] = leaf ? leaf_bin : static_cast<std::uint8_t>(nodes[node].bin());
      next.push_back(node + nodes[node].ahead());
      next.push_back(node + nodes[node].ahead() + (leaf ? 0 : 1));
    }
  }
  std::ranges::copy(at, top.ends.begin());
  return top;
}

// A leaf's column is its number among the leaves of its block of places; what lies in a block's first place comes on
// top.
template <class Node>
std::vector<Node> nodes_of(const Tree& tree, const std::vector<std::uint32_t>& children,
                           const std::vector<std::uint32_t>& places, const std::vector<std::size_t>& columns,
                           LeafRanks& ranks) {
  std::vector<Node> nodes(tree.nodes.size() + 1, Node::make(0, leaf_bin, 0));
  std::vector<bool> ends(nodes.size(), false);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& from = tree.nodes[i];
    ends[places[i]] = from.is_leaf();
    if (!from.is_leaf())
      nodes[places[i]] = Node::make(columns[i], from.set < 0 ? from.bin : 0, places[children[i]] - places[i]);
  }
  ranks.first.clear();
  std::uint32_t leaves = 0;
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    if (place % LeafRanks::block == 0) ranks.first.push_back(leaves);
    if (ends[place]) nodes[place] = Node::make(leaves++ - ranks.first.back(), leaf_bin, 0);
  }
  return nodes;
}

std::uint32_t plain_walk(const Tree& tree, const std::vector<std::uint32_t>& children, const std::uint8_t* bins) {
  std::uint32_t at = 0;
  while (!tree.nodes[at].is_leaf())
    at = children[at] + (goes_left(tree.nodes[at], tree.sets, bins[tree.nodes[at].feature]) ? 0 : 1);
  return at;
}

// Compilers left alone go through memory here, one value at a time.
template <std::size_t N>
void add_to(std::array<double, N>& sums, const float* values) {
  using Floats = float __attribute__((vector_size(16)));
  using Doubles = double __attribute__((vector_size(32)));
  for (std::size_t k = 0; k < N; k += 4) {
    Floats four;
    Doubles sum;
    std::memcpy(&four, values + k, sizeof four);
    std::memcpy(&sum, sums.data() + k, sizeof sum);
    sum += __builtin_convertvector(four, Doubles);
    std::memcpy(sums.data() + k, &sum, sizeof sum);
  }
}

}  // namespace

Predictor::Predictor(const Forest& forest) : forest_(forest), width_(stride_for(forest.targets())) {
  for (const FeatureBins& feature : forest.features) search_.emplace_back(feature);
  std::vector<std::vector<std::size_t>> columns;
  for (const Tree& tree : forest.trees) columns.push_back(find_columns(tree));
  is_plain_ = columns_.size() > most_columns;
  if (is_plain_) take_plain_columns();
  const bool fit =
      std::ranges::all_of(forest.trees, [](const Tree& t) { return t.nodes.size() <= SmallNode::most_ahead; });
  is_small_ = !is_plain_ && fit && columns_.size() <= SmallNode::most_columns;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) trees_.push_back(pack(forest.trees[t], columns[t]));
  for (const PackedTree& tree : trees_) small_.push_back(tree.small.data()), wide_.push_back(tree.wide.data());
  stride_ = stride_of(columns_.size());
  fill_order_.resize(columns_.size());
  std::iota(fill_order_.begin(), fill_order_.end(), std::size_t{0});
  std::ranges::stable_sort(fill_order_, {}, [&](std::size_t c) { return columns_[c].feature; });
}

void Predictor::take_plain_columns() {
  columns_.assign(forest_.features.size(), {});
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    columns_[f].feature = f;
    std::iota(columns_[f].seen.begin(), columns_[f].seen.end(), std::uint8_t{0});
  }
}

// What a number's cut sees is its bin, missing as the lowest or the highest; what a category's cut sees is its side.
std::size_t Predictor::column_of(const Tree& tree, const TreeNode& node) {
  CategorySet left{};
  if (node.set >= 0) {
    left = tree.sets[static_cast<std::size_t>(node.set)];
    for (std::size_t b = forest_.features[node.feature].categories; b < 256; ++b)
      left[b >> 6] &= ~(std::uint64_t{1} << (b & 63));
  }
  if (node.missing_left) left[3] |= std::uint64_t{1} << 63;
  const auto [place, is_new] = places_.try_emplace({node.feature, left}, columns_.size());
  if (!is_new) return place->second;
  Column& column = columns_.emplace_back();
  column.feature = node.feature;
  for (std::size_t b = 0; b < 256; ++b)
    column.seen[b] = static_cast<std::uint8_t>(node.set < 0 ? b : 1 - ((left[b >> 6] >> (b & 63)) & 1));
  if (node.set < 0 && node.missing_left) column.seen[missing_bin] = 0;
  return place->second;
}

std::vector<std::size_t> Predictor::find_columns(const Tree& tree) {
  std::vector<std::size_t> columns(tree.nodes.size(), 0);
  for (std::size_t i = 0; i < columns.size() && columns_.size() <= most_columns; ++i)
    if (!tree.nodes[i].is_leaf()) columns[i] = column_of(tree, tree.nodes[i]);
  return columns;
}

Predictor::PackedTree Predictor::pack(const Tree& tree, const std::vector<std::size_t>& columns) const {
  PackedTree packed;
  packed.tree = &tree;
  const std::vector<std::uint32_t> children = first_children(tree);
  const std::vector<std::int32_t> leaves = leaf_numbers(tree);
  const std::vector<std::uint32_t> places = places_of(tree, children);
  packed.leaf.assign(tree.nodes.size() + 1, 0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    packed.leaf[is_plain_ ? i : places[i]] = static_cast<std::uint32_t>(std::max(0, leaves[i]));
  if (is_plain_)
    packed.children = children;
  else if (is_small_)
    packed.small = nodes_of<SmallNode>(tree, children, places, columns, packed.ranks),
    packed.top = top_of(packed.small);
  else
    packed.wide = nodes_of<WideNode>(tree, children, places, columns, packed.ranks), packed.top = top_of(packed.wide);
  const auto levels = static_cast<std::uint32_t>(TopLevels::levels);
  packed.usual = std::max(usual_steps(tree, children), levels) - levels;
  packed.values.assign(tree.leaves() * width_, 0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (leaves[i] < 0) continue;
    const auto leaf = static_cast<std::size_t>(leaves[i]);
    const std::size_t rank = is_plain_ ? leaf : rank_of(packed, places[i]);
    std::copy_n(tree.values.data() + leaf * forest_.targets(), forest_.targets(), packed.values.data() + rank * width_);
  }
  return packed;
}

std::size_t Predictor::rank_of(const PackedTree& tree, std::uint32_t place) const {
  if (is_plain_) return tree.leaf[place];
  return is_small_ ? tree.ranks.of(tree.small.data(), place) : tree.ranks.of(tree.wide.data(), place);
}

// A few rows at a time, so that what is written stays in the nearest cache.
Predictor::Block Predictor::make_block(const Eigen::MatrixXd& x, Eigen::Index first, std::size_t rows) const {
  Block block{rows, (rows + in_register - 1) / in_register * in_register, {}, {}, std::vector<std::uint32_t>(rows)};
  block.by_row.resize(rows * stride_);
  block.by_column.resize(block.apart * columns_.size());
  std::array<std::uint8_t, fill_step> bins{};
  for (std::size_t begin = 0; begin < rows; begin += fill_step) {
    const std::size_t count = std::min(fill_step, rows - begin);
    for (std::size_t i = 0; i < fill_order_.size(); ++i) {
      const Column& column = columns_[fill_order_[i]];
      if (i == 0 || columns_[fill_order_[i - 1]].feature != column.feature) {
        const double* values = x.col(static_cast<Eigen::Index>(column.feature)).data() + first;
        search_[column.feature].bins_of({values + begin, count}, bins.data());
      }
      std::uint8_t* by_row = block.by_row.data() + begin * stride_ + fill_order_[i];
      std::uint8_t* by_column = block.by_column.data() + fill_order_[i] * block.apart + begin;
      for (std::size_t row = 0; row < count; ++row, by_row += stride_)
        by_column[row] = *by_row = column.seen[bins[row]];
    }
  }
  return block;
}

// Of each row, where its values lie. ends: room for block.apart numbers.
void Predictor::ranks_in(const PackedTree& tree, Block& block, std::uint32_t* ends) const {
  const WalkedRows rows{block.by_row.data(), stride_, block.rows, ends};
  const auto walk_small = [&]<int Stride>() {
    walk_down<Stride>(tree.small.data(), rows, tree.usual, block.list.data());
  };
  if (!is_plain_) walk_top(tree.top, block.by_column.data(), block.apart, block.apart, ends);
  if (is_plain_)
    for (std::size_t row = 0; row < block.rows; ++row)
      ends[row] = plain_walk(*tree.tree, tree.children, rows.bytes + row * stride_);
  else if (!is_small_)
    walk_down<0>(tree.wide.data(), rows, tree.usual, block.list.data());
  else if (stride_ == 32)
    walk_small.template operator()<32>();
  else if (stride_ == 64)
    walk_small.template operator()<64>();
  else if (stride_ == 128)
    walk_small.template operator()<128>();
  else if (stride_ == 192)
    walk_small.template operator()<192>();
  else
    walk_small.template operator()<0>();
  for (std::size_t row = 0; row < block.rows; ++row) ends[row] = static_cast<std::uint32_t>(rank_of(tree, ends[row]));
}

template <int N>
void Predictor::predict_block(const Eigen::MatrixXd& x, Eigen::Index first, std::size_t rows,
                              Eigen::MatrixXd& out) const {
  using Sums = std::array<double, N>;
  Block block = make_block(x, first, rows);
  std::vector<Sums> sums(rows, Sums{});
  std::vector<std::uint32_t> ranks(block.apart);
  for (const PackedTree& tree : trees_) {
    ranks_in(tree, block, ranks.data());
    const float* const values = tree.values.data();
    for (std::size_t row = 0; row < rows; ++row) add_to(sums[row], values + std::size_t{ranks[row]} * N);
  }
  for (std::size_t t = 0; t < forest_.targets(); ++t) {
    const double factor = forest_.scales[t].deviation / static_cast<double>(trees_.size());
    for (std::size_t row = 0; row < rows; ++row)
      out(first + static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(t)) =
          forest_.scales[t].mean + factor * sums[row][t];
  }
}

Eigen::MatrixXd Predictor::predict(const Eigen::MatrixXd& x, unsigned threads) const {
  Eigen::MatrixXd out(x.rows(), static_cast<Eigen::Index>(forest_.targets()));
  const auto all = static_cast<std::size_t>(x.rows());
  if (all < in_step) {
    for (Eigen::Index row = 0; row < x.rows(); ++row) out.row(row) = mean_of(leaves_of(bins_of(x.row(row))));
    return out;
  }
  const std::size_t block_rows =
      std::clamp<std::size_t>(block_bytes / std::max<std::size_t>(1, stride_), 16, most_block_rows);
  share_work((all + block_rows - 1) / block_rows, threads, {}, [&](std::size_t block) {
    const auto first = static_cast<Eigen::Index>(block * block_rows);
    const std::size_t rows = std::min(block_rows, all - block * block_rows);
    if (width_ == 4)
      predict_block<4>(x, first, rows, out);
    else if (width_ == 8)
      predict_block<8>(x, first, rows, out);
    else
      predict_block<16>(x, first, rows, out);
  });
  return out;
}

// The same sums in the same order as those of a block.
Eigen::RowVectorXd Predictor::mean_of(std::span<const std::uint32_t> leaves) const {
  const std::size_t targets = forest_.targets();
  std::array<double, most_targets> sums{};
  for (std::size_t t = 0; t < leaves.size(); ++t)
    for (std::size_t k = 0; k < targets; ++k)
      sums[k] += static_cast<double>(forest_.trees[t].values[leaves[t] * targets + k]);
  Eigen::RowVectorXd out(static_cast<Eigen::Index>(forest_.targets()));
  for (std::size_t k = 0; k < forest_.targets(); ++k)
    out[static_cast<Eigen::Index>(k)] =
        forest_.scales[k].mean + forest_.scales[k].deviation / static_cast<double>(trees_.size()) * sums[k];
  return out;
}

std::vector<std::uint8_t> Predictor::bins_of(const Eigen::Ref<const Eigen::RowVectorXd>& x) const {
  std::vector<std::uint8_t> bins(search_.size());
  for (std::size_t f = 0; f < bins.size(); ++f) bins[f] = search_[f].bin_of(x[static_cast<Eigen::Index>(f)]);
  return bins;
}

std::vector<std::uint32_t> Predictor::leaves_of(std::span<const std::uint8_t> bins) const {
  std::vector<std::uint8_t> packed(stride_);
  for (std::size_t c = 0; c < columns_.size(); ++c) packed[c] = columns_[c].seen[bins[columns_[c].feature]];
  std::vector<std::uint32_t> leaves(trees_.size());
  if (is_small_)
    walk_trees<SmallNode>(small_, packed.data(), leaves.data());
  else if (!is_plain_)
    walk_trees<WideNode>(wide_, packed.data(), leaves.data());
  else
    for (std::size_t t = 0; t < trees_.size(); ++t)
      leaves[t] = plain_walk(*trees_[t].tree, trees_[t].children, packed.data());
  for (std::size_t t = 0; t < trees_.size(); ++t) leaves[t] = trees_[t].leaf[leaves[t]];
  return leaves;
}

}  // namespace noteg::forest
