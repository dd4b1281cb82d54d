#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/learn/binary_model.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/learn/model_head.hpp"
#include "sim/support/text.hpp"

namespace noteg::learn {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(double value) { return format_number(value); }
std::string text_of(float value) { return fmt::format("{}", value); }
template <class Whole>
std::string text_of(Whole value) {
  return std::to_string(value);
}

// Long lists of numbers are written directly: a document of millions of nodes would take a hundred bytes for each.
template <class List>
std::string list_of(const List& values) {
  std::string text = "[";
  for (const auto& value : values) {
    if (text.size() > 1) text += ',';
    text += text_of(value);
  }
  return text + "]";
}

std::string tree_text(const forest::Tree& tree) {
  std::vector<int> features, cuts;
  std::string missing_left;
  for (const forest::TreeNode& node : tree.nodes) {
    features.push_back(node.is_leaf() ? -1 : node.feature);
    if (node.is_leaf()) continue;
    cuts.push_back(node.set >= 0 ? node.set : node.bin);
    missing_left += node.missing_left ? '1' : '0';
  }
  std::string sets;
  for (const forest::CategorySet& set : tree.sets)
    sets += fmt::format("{}\"{:016x}{:016x}{:016x}{:016x}\"", sets.empty() ? "" : ",", set[0], set[1], set[2], set[3]);
  std::vector<std::uint32_t> sizes;
  for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf)
    sizes.push_back(tree.leaf_begin[leaf + 1] - tree.leaf_begin[leaf]);
  return fmt::format(
      "{{\"feature\":{},\n\"cut\":{},\n\"missing_left\":\"{}\",\n\"sets\":[{}],\n\"leaf_sizes\":{},\n\"rows\":{}}}",
      list_of(features), list_of(cuts), missing_left, sets, list_of(sizes), list_of(tree.rows));
}

Json feature_json(const Feature& feature) {
  Json json{{"name", feature.column.name},
            {"unit", feature.column.unit},
            {"group", std::string(dataset::name_of(feature.column.group))},
            {"meaning", feature.column.meaning}};
  if (feature.kind == forest::FeatureKind::category)
    json["categories"] = feature.categories;
  else if (feature.low <= feature.high)  // not of a column that is blank throughout
    json["low"] = feature.low, json["high"] = feature.high;
  return json;
}

Json target_json(const Target& target, const forest::Scale& scale) {
  Json json{{"name", target.name},     {"unit", target.unit},         {"log", target.log},
            {"anchor", target.anchor}, {"smearing", target.smearing}, {"widen", target.widen},
            {"mean", scale.mean},      {"deviation", scale.deviation}};
  if (target.shrink != 1) json["shrink"] = target.shrink;
  if (target.widen_new_gpu) json["widen_new_gpu"] = *target.widen_new_gpu;
  return json;
}

std::string part_text(const Part& part, const std::string& lists) {
  Json targets = Json::array();
  for (std::size_t t = 0; t < part.targets.size(); ++t)
    targets.push_back(target_json(part.targets[t], part.forest.scales[t]));
  std::string edges, rules;
  for (const forest::FeatureBins& feature : part.forest.features)
    edges += (edges.empty() ? "" : ",\n") + list_of(feature.edges);
  for (const forest::Monotone& rule : part.forest.monotone)
    rules += fmt::format("{}[{},{},{}]", rules.empty() ? "" : ",", rule.feature, rule.target, rule.direction);
  std::string base;
  for (const GaussianProcess& process : part.base) base += (base.empty() ? "" : ",\n") + process_json(process);
  if (!base.empty()) base = "\"base\":[" + base + "],\n";
  return fmt::format(
      "{{\"targets\":{},\n\"usual_distance\":{},\n\"rows\":{},\n\"edges\":[{}],\n\"importance\":{},\n\"monotone\":[{}],"
      "\n{}{}}}",
      targets.dump(), text_of(part.usual_distance), part.forest.rows, edges, list_of(part.forest.importance), rules,
      base, lists);
}

std::string lists_text(const Part& part) {
  std::string trees, bins;
  for (const std::uint8_t bin : part.training_bins) bins += fmt::format("{:02x}", bin);
  for (const forest::Tree& tree : part.forest.trees) trees += (trees.empty() ? "" : ",\n") + tree_text(tree);
  const bool even = std::ranges::all_of(part.forest.weights, [](double w) { return w == 1; });
  return fmt::format("\"weights\":{},\n\"y\":{},\n\"bins\":\"{}\",\n\"trees\":[{}]",
                     even ? "[]" : list_of(part.forest.weights), list_of(part.forest.y), bins, trees);
}

}  // namespace

std::string to_json(const Model& model) { return head_text(model, lists_text); }

std::string head_text(const Model& model, const std::function<std::string(const Part&)>& lists) {
  Json features = Json::array();
  for (const Feature& feature : model.features) features.push_back(feature_json(feature));
  Json constants = Json::array();
  for (const Feature& feature : model.constants) constants.push_back(feature_json(feature));
  const Json trained_on{{"files", model.trained_on.files},
                        {"rows", model.trained_on.rows},
                        {"hash", model.trained_on.hash},
                        {"gpus", model.trained_on.gpus}};
  std::string parts;
  for (const Part& part : model.parts) parts += (parts.empty() ? "" : ",\n") + part_text(part, lists(part));
  return fmt::format(
      "{{\"schema\":\"noteg-model\",\"version\":{},\n\"kind\":\"{}\",\n\"trained_on\":{},\n\"metrics\":{},\n"
      "\"features\":{},\n\"constants\":{},\n\"parts\":[{}]}}\n",
      model_version, model.kind == ModelKind::direct ? "direct" : "residual", trained_on.dump(), model.metrics,
      features.dump(1), constants.dump(1), parts);
}

Result<std::string> write_model(const Model& model, const std::string& path) {
  if (path.ends_with(binary_ending)) return to_binary(model);
  std::string text = to_json(model);
  if (std::optional<Diagnostic> wrong = check_bounds(text, path)) return std::move(*wrong);
  return text;
}

}  // namespace noteg::learn
