#include "sim/learn/read_tree.hpp"

#include "sim/learn/model_head.hpp"

#include <algorithm>
#include <charconv>

namespace noteg::learn {
namespace {

std::vector<forest::CategorySet> read_sets(const Checked& json, std::size_t most) {
  std::vector<forest::CategorySet> sets;
  for (const Checked& item : json.items(0, most)) {
    const std::string digits = item.text(64);
    if (digits.size() != 64) item.wrong("64 hexadecimal digits", std::to_string(digits.size()));
    forest::CategorySet set;
    for (std::size_t i = 0; i < set.size(); ++i) set[i] = read_hex(item, std::string_view(digits).substr(16 * i, 16));
    sets.push_back(set);
  }
  return sets;
}

void read_leaves(const Checked& json, forest::Tree& tree, std::size_t leaves, std::size_t rows) {
  const auto most = static_cast<long long>(rows) * 64;
  const std::vector<std::uint32_t> sizes =
      json.at("leaf_sizes").wholes<std::uint32_t>(leaves, leaves, 1, std::min(most, 0xffffffffLL));
  tree.leaf_begin.push_back(0);
  std::uint64_t total = 0;
  for (const std::uint32_t size : sizes) {
    total += size;
    if (total > rows) json.at("leaf_sizes").wrong("a sum of at most " + std::to_string(rows), "more");
    tree.leaf_begin.push_back(static_cast<std::uint32_t>(total));
  }
  tree.rows = json.at("rows").wholes<std::uint32_t>(total, total, 0, static_cast<long long>(rows) - 1);
}

}  // namespace

std::uint64_t read_hex(const Checked& at, std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size())
    at.wrong("hexadecimal digits", "\"" + std::string(digits) + "\"");
  return value;
}

forest::Tree read_tree(const Checked& json, const std::vector<forest::FeatureBins>& features, std::size_t rows) {
  forest::Tree tree;
  const auto last_feature = static_cast<long long>(features.size()) - 1;
  const std::vector<int> chosen = json.at("feature").wholes<int>(1, most_nodes, -1, last_feature);
  const std::vector<int> cuts = json.at("cut").wholes<int>(0, chosen.size(), 0, 1 << 28);
  const std::string missing_left = json.at("missing_left").text(most_nodes);
  tree.sets = read_sets(json.at("sets"), cuts.size());
  std::size_t splits = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i > 2 * splits) json.at("feature").wrong("nodes that a split above them reaches", "one too many");
    forest::TreeNode& node = tree.nodes.emplace_back();
    if (chosen[i] < 0) continue;
    if (splits >= cuts.size() || splits >= missing_left.size())
      json.at("cut").wrong("a cut for every node that splits", std::to_string(cuts.size()));
    const forest::FeatureBins& feature = features[static_cast<std::size_t>(chosen[i])];
    const bool category = feature.kind == forest::FeatureKind::category;
    const auto cut = static_cast<std::size_t>(cuts[splits]);
    if (cut >= (category ? tree.sets.size() : std::max<std::size_t>(1, feature.count())) || (!category && cut > 254))
      json.at("cut").wrong(category ? "a set that exists" : "a bin of its feature", std::to_string(cut));
    node.feature = static_cast<std::uint16_t>(chosen[i]);
    node.bin = category ? std::uint8_t{0} : static_cast<std::uint8_t>(cut);
    node.set = category ? static_cast<std::int32_t>(cut) : -1;
    node.missing_left = missing_left[splits] == '1';
    ++splits;
  }
  if (chosen.size() != 2 * splits + 1)
    json.at("feature").wrong(std::to_string(2 * splits + 1) + " nodes for that many splits",
                             std::to_string(chosen.size()));
  read_leaves(json, tree, splits + 1, rows);
  return tree;
}

}  // namespace noteg::learn
