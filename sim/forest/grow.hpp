// One tree, grown node by node in breadth-first order.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/forest/split.hpp"

namespace noteg::forest {

// The rows of a tree. all_but_tenth leaves rows out as bootstrap does, so that errors on unseen rows can be told.
enum class Sample : std::uint8_t {
  bootstrap,      // as many as there are, drawn with replacement
  all_but_tenth,  // nine tenths, each once: for random cuts, which need no other chance
  all,            // nothing is left out: no out-of-bag estimates
};

// What all trees of a forest share while they grow.
struct GrowthData {
  BinnedColumns columns;
  std::vector<FeatureBins> features;
  std::vector<std::uint32_t> distinct;  // features that trees may cut: no constants, no copies of an earlier one
  std::size_t targets = 0;
  std::size_t stride = 4;       // targets of a row, filled up with zeros to 4, 8 or 16
  std::vector<float> y;         // standardised: rows * stride
  std::vector<double> weights;  // per row
};

struct GrowthOptions {
  SplitOptions split;
  std::size_t min_split_rows = 2;  // nodes with fewer different rows stay leaves
  std::size_t max_depth = 64;
  Sample sample = Sample::bootstrap;
};

struct Grown {
  Tree tree;
  std::vector<double> importance;  // per feature: variance taken out, in units of the whole
};

[[nodiscard]] constexpr std::size_t stride_for(std::size_t targets) { return targets <= 4 ? 4 : targets <= 8 ? 8 : 16; }

[[nodiscard]] Grown grow_tree(const GrowthData& data, const GrowthOptions& options, std::uint64_t seed,
                              std::uint64_t stream);

// Weighted means of the leaves from their rows; then, for every rule, no leaf crosses the middle between the two
// sides of any cut above it that the rule is about.
void fill_values(Tree& tree, const GrowthData& data, const std::vector<Monotone>& monotone);

// How often each row is drawn for a tree: what grow_tree draws first.
[[nodiscard]] std::vector<std::uint16_t> draw_rows(std::size_t rows, Sample sample, Random& random);

}  // namespace noteg::forest
