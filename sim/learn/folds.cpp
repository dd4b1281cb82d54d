#include "sim/learn/folds.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/forest/random.hpp"

namespace noteg::learn {

std::vector<std::size_t> groups_of(const dataset::Table& table, const std::vector<std::string>& columns) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> groups;
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::string key;
    for (const std::string& column : columns) {
      const dataset::Values* values = table.find(column);
      key += (values == nullptr ? "" : values->text(row)) + '\n';
    }
    groups.push_back(known.emplace(key, known.size()).first->second);
  }
  return groups;
}

std::size_t count_of(const std::vector<std::size_t>& groups) {
  return groups.empty() ? 0 : *std::ranges::max_element(groups) + 1;
}

std::vector<std::size_t> deal(const std::vector<std::size_t>& groups, std::size_t folds, std::uint64_t seed) {
  std::vector<std::size_t> order(count_of(groups));
  std::iota(order.begin(), order.end(), std::size_t{0});
  forest::Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  std::vector<std::size_t> fold_of_group(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) fold_of_group[order[i]] = i % folds;
  std::vector<std::size_t> out;
  for (const std::size_t group : groups) out.push_back(fold_of_group[group]);
  return out;
}

const std::vector<std::string>& shape_columns() {
  static const std::vector<std::string> columns{"kernel.m", "kernel.n", "kernel.k", "kernel.batch"};
  return columns;
}

}  // namespace noteg::learn
