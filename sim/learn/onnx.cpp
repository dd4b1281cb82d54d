#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include "sim/learn/exports.hpp"
#include "sim/learn/onnx_graph.hpp"

namespace noteg::learn {
namespace {

constexpr int ir_version = 8, opset = 17, ml_opset = 3;

// AttributeProto.AttributeType
constexpr int type_int = 2, type_string = 3, type_tensor = 4, type_ints = 7, type_strings = 8;

ProtobufMessage attribute(std::string_view name, int type) {
  ProtobufMessage message;
  message.text(1, name).whole(20, type);
  return message;
}

ProtobufMessage tensor(OnnxType type, std::span<const std::int64_t> shape, std::string_view raw) {
  ProtobufMessage message;
  return message.wholes(1, shape).whole(2, static_cast<int>(type)).text(9, raw);
}

template <class Number>
std::string_view raw_of(std::span<const Number> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

ProtobufMessage value_info(const std::string& name, OnnxType type, std::int64_t columns, std::string_view meaning) {
  ProtobufMessage shape, rows, tensor_type, whole_type, info;
  shape.message(1, rows.text(2, "rows"));
  if (columns > 0) {
    ProtobufMessage across;
    shape.message(1, across.whole(1, columns));
  }
  tensor_type.whole(1, static_cast<int>(type)).message(2, shape);
  return info.text(1, name).message(2, whole_type.message(1, tensor_type)).text(3, meaning);
}

ProtobufMessage opset_import(std::string_view domain, int version) {
  ProtobufMessage message;
  return message.text(1, domain).whole(2, version);
}

}  // namespace

OnnxAttributes& OnnxAttributes::whole(std::string_view name, std::int64_t value) {
  list_.push_back(attribute(name, type_int).whole(3, value));
  return *this;
}

OnnxAttributes& OnnxAttributes::text(std::string_view name, std::string_view value) {
  list_.push_back(attribute(name, type_string).text(4, value));
  return *this;
}

OnnxAttributes& OnnxAttributes::wholes(std::string_view name, std::span<const std::int64_t> values) {
  list_.push_back(attribute(name, type_ints).wholes(8, values));
  return *this;
}

OnnxAttributes& OnnxAttributes::texts(std::string_view name, std::span<const std::string_view> values) {
  ProtobufMessage message = attribute(name, type_strings);
  for (const std::string_view value : values) message.text(9, value);
  list_.push_back(std::move(message));
  return *this;
}

OnnxAttributes& OnnxAttributes::numbers(std::string_view name, std::span<const double> values) {
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  list_.push_back(attribute(name, type_tensor).message(5, tensor(OnnxType::f64, std::span(&count, 1), raw_of(values))));
  return *this;
}

void OnnxGraph::input(const std::string& name, OnnxType type, std::int64_t columns, std::string_view meaning) {
  inputs_.message(11, value_info(name, type, columns, meaning));
}

void OnnxGraph::output(const std::string& name, OnnxType type, std::string_view meaning) {
  outputs_.message(12, value_info(name, type, 0, meaning));
}

void OnnxGraph::initializer(const std::string& name, OnnxType type, std::span<const std::int64_t> shape,
                            std::string_view raw) {
  tensors_.message(5, tensor(type, shape, raw).text(8, name));
}

void OnnxGraph::constant(const std::string& name, std::span<const double> values, std::vector<std::int64_t> shape) {
  initializer(name, OnnxType::f64, shape, raw_of(values));
}

void OnnxGraph::constant(const std::string& name, std::span<const float> values, std::vector<std::int64_t> shape) {
  initializer(name, OnnxType::f32, shape, raw_of(values));
}

void OnnxGraph::constant(const std::string& name, std::int64_t value) {
  initializer(name, OnnxType::i64, {}, raw_of(std::span<const std::int64_t>(&value, 1)));
}

void OnnxGraph::node(std::string_view op, std::vector<std::string> inputs, const std::string& output,
                     const OnnxAttributes& attributes, std::string_view domain) {
  ProtobufMessage message;
  for (const std::string& input : inputs) message.text(1, input);
  message.text(2, output).text(3, output).text(4, op);
  for (const ProtobufMessage& one : attributes.list()) message.message(5, one);
  if (!domain.empty()) message.text(7, domain);
  nodes_.message(1, message);
}

void OnnxGraph::remark(std::string_view key, std::string_view value) {
  ProtobufMessage entry;
  remarks_.message(14, entry.text(1, key).text(2, value));
}

std::string OnnxGraph::model(std::string_view description) const {
  ProtobufMessage name, file;
  const std::string graph =
      nodes_.bytes() + name.text(2, "noteg").bytes() + tensors_.bytes() + inputs_.bytes() + outputs_.bytes();
  file.whole(1, ir_version).text(2, "noteg").text(6, description).text(7, graph);
  file.message(8, opset_import("", opset)).message(8, opset_import("ai.onnx.ml", ml_opset));
  return file.bytes() + remarks_.bytes();
}
namespace {

using forest::CategorySet;

// A cut of a category as a column of its own: 1 where the category goes left. Sets that send the same categories left
// share one.
struct Membership {
  std::map<std::vector<bool>, std::size_t> places;  // per category and, last, for what is missing

  std::size_t place_of(const CategorySet& set, bool missing_left, std::size_t categories) {
    std::vector<bool> left;
    for (std::size_t c = 0; c < categories; ++c) left.push_back(((set[c >> 6] >> (c & 63)) & 1) != 0);
    left.push_back(missing_left);
    return places.emplace(std::move(left), places.size()).first->second;
  }
};

// Attributes of TreeEnsembleRegressor: one entry for each node, one for each leaf and target.
struct Ensemble {
  std::vector<std::int64_t> trees, nodes, features, when_true, when_false, missing_true;
  std::vector<double> cuts;
  std::vector<std::string_view> modes;
  std::vector<std::int64_t> weight_trees, weight_nodes, weight_targets;
  std::vector<double> weights;
};

class Exporter {
 public:
  explicit Exporter(const Model& model) : model_(model) {}

  Result<std::string> run() {
    graph_.input("features", OnnxType::f64, width(), "a column per feature, see the metadata");
    for (std::size_t p = 0; p < model_.parts.size(); ++p)
      if (Diagnostics errors = add_part(p); !errors.empty()) return errors;
    nlohmann::json features = nlohmann::json::array();
    for (const Feature& feature : model_.features)
      features.push_back(
          {{"name", feature.column.name}, {"unit", feature.column.unit}, {"categories", feature.categories}});
    graph_.remark("features", features.dump());
    graph_.remark("trained_on", model_.trained_on.hash);
    return graph_.model("A forest trained by noteg; see docs/learning.md.");
  }

 private:
  [[nodiscard]] std::int64_t width() const { return static_cast<std::int64_t>(model_.features.size()); }

  Diagnostics add_part(std::size_t p) {
    const Part& part = model_.parts[p];
    memberships_.assign(model_.features.size(), {});
    for (const forest::Tree& tree : part.forest.trees) collect_sets(tree);
    const std::string columns = fmt::format("columns_{}", p), raw = fmt::format("trees_{}", p);
    add_columns(p, columns);
    add_trees(part, columns, raw);
    for (std::size_t t = 0; t < part.targets.size(); ++t)
      if (Diagnostics errors = add_target(part.targets[t], t, raw); !errors.empty()) return errors;
    return {};
  }

  void collect_sets(const forest::Tree& tree) {
    for (const forest::TreeNode& node : tree.nodes)
      if (!node.is_leaf() && node.set >= 0) (void)set_place(tree, node);
  }

  std::size_t set_place(const forest::Tree& tree, const forest::TreeNode& node) {
    return memberships_[node.feature].place_of(tree.sets[static_cast<std::size_t>(node.set)], node.missing_left,
                                               model_.features[node.feature].categories.size());
  }

  // The features, and behind them the memberships of each category feature that a tree cuts.
  void add_columns(std::size_t p, const std::string& name) {
    std::vector<std::string> parts{"features"};
    std::int64_t next = width();
    first_member_.assign(model_.features.size(), 0);
    for (std::size_t f = 0; f < model_.features.size(); ++f) {
      if (memberships_[f].places.empty()) continue;
      first_member_[f] = next;
      next += static_cast<std::int64_t>(memberships_[f].places.size());
      parts.push_back(add_memberships(fmt::format("category_{}_{}", p, f), f));
    }
    graph_.node("Concat", parts, name, OnnxAttributes().whole("axis", 1));
  }

  std::string add_memberships(const std::string& name, std::size_t feature) {
    const std::size_t categories = model_.features[feature].categories.size();
    const Membership& members = memberships_[feature];
    const std::size_t across = members.places.size();
    std::vector<double> table((categories + 1) * across);
    for (const auto& [left, place] : members.places)
      for (std::size_t c = 0; c <= categories; ++c) table[c * across + place] = left[c] ? 1 : 0;
    graph_.constant(name + "_table", std::span<const double>(table),
                    {static_cast<std::int64_t>(categories + 1), static_cast<std::int64_t>(across)});
    const double missing = static_cast<double>(categories);
    graph_.constant(name + "_missing", std::span<const double>(&missing, 1), {});
    column_of(feature, name + "_code");
    graph_.node("IsNaN", {name + "_code"}, name + "_is_missing");
    graph_.node("Where", {name + "_is_missing", name + "_missing", name + "_code"}, name + "_place");
    graph_.node("Cast", {name + "_place"}, name + "_index",
                OnnxAttributes().whole("to", static_cast<int>(OnnxType::i64)));
    graph_.node("Gather", {name + "_table", name + "_index"}, name, OnnxAttributes().whole("axis", 0));
    return name;
  }

  void column_of(std::size_t feature, const std::string& name) {
    graph_.constant(name + "_at", static_cast<std::int64_t>(feature));
    graph_.node("Gather", {"features", name + "_at"}, name, OnnxAttributes().whole("axis", 1));
  }

  void add_trees(const Part& part, const std::string& columns, const std::string& name) {
    Ensemble all;
    for (std::size_t t = 0; t < part.forest.trees.size(); ++t) add_tree(part, t, all);
    std::vector<double> means;
    for (const forest::Scale& scale : part.forest.scales) means.push_back(scale.mean);
    OnnxAttributes a;
    a.whole("n_targets", static_cast<std::int64_t>(part.targets.size()));
    a.text("aggregate_function", "SUM").text("post_transform", "NONE").numbers("base_values_as_tensor", means);
    a.wholes("nodes_treeids", all.trees).wholes("nodes_nodeids", all.nodes);
    a.wholes("nodes_featureids", all.features).texts("nodes_modes", all.modes);
    a.wholes("nodes_truenodeids", all.when_true).wholes("nodes_falsenodeids", all.when_false);
    a.wholes("nodes_missing_value_tracks_true", all.missing_true).numbers("nodes_values_as_tensor", all.cuts);
    a.wholes("target_treeids", all.weight_trees).wholes("target_nodeids", all.weight_nodes);
    a.wholes("target_ids", all.weight_targets).numbers("target_weights_as_tensor", all.weights);
    graph_.node("TreeEnsembleRegressor", {columns}, name, a, "ai.onnx.ml");
  }

  void add_tree(const Part& part, std::size_t index, Ensemble& all) {
    const forest::Tree& tree = part.forest.trees[index];
    const std::vector<std::uint32_t> children = first_children(tree);
    const std::vector<std::int32_t> leaves = leaf_numbers(tree);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const forest::TreeNode& node = tree.nodes[i];
      all.trees.push_back(static_cast<std::int64_t>(index));
      all.nodes.push_back(static_cast<std::int64_t>(i));
      all.missing_true.push_back(node.missing_left ? 1 : 0);
      all.when_true.push_back(children[i]);
      all.when_false.push_back(node.is_leaf() ? 0 : children[i] + 1);
      add_cut(part, tree, node, all);
      if (node.is_leaf()) add_leaf(part, tree, index, i, static_cast<std::size_t>(leaves[i]), all);
    }
  }

  void add_cut(const Part& part, const forest::Tree& tree, const forest::TreeNode& node, Ensemble& all) {
    if (node.is_leaf()) {
      all.features.push_back(0);
      all.modes.emplace_back("LEAF");
      all.cuts.push_back(0);
    } else if (node.set >= 0) {
      all.features.push_back(first_member_[node.feature] + static_cast<std::int64_t>(set_place(tree, node)));
      all.modes.emplace_back("BRANCH_GT");
      all.cuts.push_back(0.5);
    } else {
      const std::vector<double>& edges = part.forest.features[node.feature].edges;
      all.features.push_back(node.feature);
      all.modes.emplace_back("BRANCH_LEQ");
      all.cuts.push_back(node.bin < edges.size() ? edges[node.bin] : std::numeric_limits<double>::max());
    }
  }

  static void add_leaf(const Part& part, const forest::Tree& tree, std::size_t index, std::size_t node,
                       std::size_t leaf, Ensemble& all) {
    const double share = 1.0 / static_cast<double>(part.forest.trees.size());
    for (std::size_t t = 0; t < part.targets.size(); ++t) {
      all.weight_trees.push_back(static_cast<std::int64_t>(index));
      all.weight_nodes.push_back(static_cast<std::int64_t>(node));
      all.weight_targets.push_back(static_cast<std::int64_t>(t));
      all.weights.push_back(share * part.forest.scales[t].deviation *
                            static_cast<double>(tree.values[leaf * part.targets.size() + t]));
    }
  }

  Diagnostics add_target(const Target& target, std::size_t t, const std::string& raw) {
    graph_.output(target.name, OnnxType::f32, target.unit);
    const std::string name = target.name + "_";
    graph_.constant(name + "at", static_cast<std::int64_t>(t));
    const OnnxAttributes across = OnnxAttributes().whole("axis", 1);
    if (!target.log) {
      graph_.node("Gather", {raw, name + "at"}, target.name, across);
      return {};
    }
    graph_.node("Gather", {raw, name + "at"}, name + "log", across);
    graph_.node("Exp", {name + "log"}, name + "ratio");
    if (target.shrink != 1)
      return {{"", 0, 0, "--onnx", "a model of trees alone", target.name + " of a model that noteg adapt made"}};
    const auto smearing = static_cast<float>(target.smearing);
    graph_.constant(name + "smearing", std::span<const float>(&smearing, 1), {});
    if (target.anchor.empty()) {
      graph_.node("Mul", {name + "ratio", name + "smearing"}, target.name);
      return {};
    }
    const auto anchor =
        std::ranges::find(model_.features, target.anchor, [](const Feature& f) { return f.column.name; });
    if (anchor == model_.features.end())
      return {{"", 0, 0, "--onnx", "targets whose anchors are features", target.name + " over " + target.anchor}};
    graph_.node("Mul", {name + "ratio", name + "smearing"}, name + "unbiased");
    column_of(static_cast<std::size_t>(anchor - model_.features.begin()), name + "anchor_f64");
    graph_.node("Cast", {name + "anchor_f64"}, name + "anchor",
                OnnxAttributes().whole("to", static_cast<int>(OnnxType::f32)));
    graph_.node("Mul", {name + "unbiased", name + "anchor"}, target.name);
    return {};
  }

  const Model& model_;
  OnnxGraph graph_;
  std::vector<Membership> memberships_;     // per feature, of the part at hand
  std::vector<std::int64_t> first_member_;  // per feature: its first column behind the features
};

}  // namespace

Result<std::string> to_onnx(const Model& model) { return Exporter(model).run(); }

}  // namespace noteg::learn
