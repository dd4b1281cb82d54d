#include "sim/learn/exports.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace noteg::learn {
namespace {

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(-1, ' ', true); }

// Numbers of a list with every digit, some to a line.
template <class List, class Text>
std::string list_text(const List& list, const Text& text_of) {
  std::string text;
  std::size_t line = 0;
  for (const auto& value : list) {
    const std::string one = text_of(value) + ",";
    if (line + one.size() > 118) text += '\n', line = 0;
    text += one;
    line += one.size();
  }
  return text.empty() ? "0" : text;
}

// Bits of a cut: 31: missing goes left, 30: a category, below: feature (12) and bin (8), or feature and set (18).
std::uint32_t cut_of(const forest::TreeNode& node, std::uint32_t first_set) {
  const std::uint32_t what = node.set < 0 ? node.bin : first_set + static_cast<std::uint32_t>(node.set);
  return (node.missing_left ? 1U << 31 : 0) | (node.set < 0 ? 0 : 1U << 30) | std::uint32_t{node.feature} << 18 | what;
}

// The lists of one part, one tree behind the other.
struct Lists {
  std::vector<std::uint32_t> roots, cuts, children;  // child 0: a leaf, whose cut is its number
  std::vector<forest::CategorySet> sets;
  std::vector<float> values;
  std::vector<std::uint32_t> first_edge;
  std::vector<double> edges;
};

Result<Lists> lists_of(const Part& part) {
  Lists all;
  for (const forest::Tree& tree : part.forest.trees) {
    const auto first = static_cast<std::uint32_t>(all.cuts.size());
    auto leaf = static_cast<std::uint32_t>(all.values.size() / part.targets.size());
    const auto first_set = static_cast<std::uint32_t>(all.sets.size());
    if (first_set + tree.sets.size() >= 1U << 18)
      return Diagnostic{"", 0, 0, "--out", "a model with at most 262,144 cuts of categories", "more"};
    const std::vector<std::uint32_t> children = first_children(tree);
    all.roots.push_back(first);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const bool is_leaf = tree.nodes[i].is_leaf();
      all.cuts.push_back(is_leaf ? leaf++ : cut_of(tree.nodes[i], first_set));
      all.children.push_back(is_leaf ? 0 : first + children[i]);
    }
    all.sets.insert(all.sets.end(), tree.sets.begin(), tree.sets.end());
    all.values.insert(all.values.end(), tree.values.begin(), tree.values.end());
  }
  for (const forest::FeatureBins& feature : part.forest.features) {
    all.first_edge.push_back(static_cast<std::uint32_t>(all.edges.size()));
    all.edges.insert(all.edges.end(), feature.edges.begin(), feature.edges.end());
  }
  all.first_edge.push_back(static_cast<std::uint32_t>(all.edges.size()));
  return all;
}

constexpr std::string_view walk = R"(
static uint8_t noteg_bin(const double* edges, uint32_t count, uint32_t categories, double value) {
  uint32_t low = 0, high = count;
  if (isnan(value)) return 255;
  if (categories > 0) return value >= 0 && value < categories ? (uint8_t)value : 255;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (edges[middle] < value) low = middle + 1; else high = middle;
  }
  return (uint8_t)low;
}

/* Means over the trees, as they were trained. */
static void noteg_walk(const struct noteg_part* p, const double* x, double* out) {
  uint8_t bins[NOTEG_FEATURES];
  uint32_t f, t, k;
  for (f = 0; f < NOTEG_FEATURES; ++f)
    bins[f] = noteg_bin(p->edges + p->first_edge[f], p->first_edge[f + 1] - p->first_edge[f], noteg_categories[f], x[f]);
  for (k = 0; k < p->targets; ++k) out[k] = 0;
  for (t = 0; t < p->trees; ++t) {
    uint32_t at = p->roots[t];
    while (p->children[at] != 0) {
      const uint32_t cut = p->cuts[at], what = cut & 0x3ffff;
      const uint8_t bin = bins[cut >> 18 & 0xfff];
      int left;
      if (bin == 255) left = (int)(cut >> 31);
      else if ((cut >> 30 & 1) != 0) left = (int)(p->sets[what * 4 + (bin >> 6)] >> (bin & 63) & 1);
      else left = bin <= what;
      at = p->children[at] + (left ? 0 : 1);
    }
    for (k = 0; k < p->targets; ++k) out[k] += (double)p->values[p->cuts[at] * p->targets + k];
  }
  for (k = 0; k < p->targets; ++k) out[k] = p->mean[k] + p->deviation[k] / p->trees * out[k];
}
)";

class Source {
 public:
  Source(const Model& model, SourceKind kind) : model_(model), is_header_(kind == SourceKind::cpp_header) {}

  Result<std::string> run() {
    text_ = fmt::format(
        "/* A forest trained by noteg on {} rows (fingerprint {}). Made by noteg export; not to be edited. */\n",
        model_.trained_on.rows, model_.trained_on.hash);
    if (is_header_) text_ += "#pragma once\n";
    text_ += "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n";
    text_ += is_header_ ? "namespace noteg_model {\n" : "";
    text_ += fmt::format("enum {{ NOTEG_FEATURES = {}, NOTEG_TARGETS = {} }};\n", model_.features.size(), targets());
    add_names();
    text_ +=
        "struct noteg_part {\n  uint32_t targets, trees;\n  const uint32_t *roots, *cuts, *children, *first_edge;\n"
        "  const uint64_t* sets;\n  const float* values;\n  const double *edges, *mean, *deviation;\n};\n";
    for (std::size_t p = 0; p < model_.parts.size(); ++p)
      if (Diagnostics errors = add_part(p); !errors.empty()) return errors;
    text_ += walk;
    if (Diagnostics errors = add_predict(); !errors.empty()) return errors;
    add_questions();
    if (is_header_) text_ += "}  // namespace noteg_model\n";
    return text_;
  }

 private:
  [[nodiscard]] std::size_t targets() const {
    std::size_t count = 0;
    for (const Part& part : model_.parts) count += part.targets.size();
    return count;
  }

  void add_list(const std::string& type, const std::string& name, const std::string& values) {
    text_ += fmt::format("static const {} {}[] = {{\n{}}};\n", type, name, values);
  }

  void add_names() {
    std::vector<std::string> features, names, words;
    std::vector<std::size_t> counts;
    for (const Feature& feature : model_.features) {
      features.push_back(feature.column.name);
      counts.push_back(
          feature.kind == forest::FeatureKind::category ? std::max<std::size_t>(1, feature.categories.size()) : 0);
      words.insert(words.end(), feature.categories.begin(), feature.categories.end());
      if (feature.kind == forest::FeatureKind::category && feature.categories.empty()) words.emplace_back();
    }
    for (const Part& part : model_.parts)
      for (const Target& target : part.targets) names.push_back(target.name);
    const auto whole = [](std::size_t value) { return std::to_string(value); };
    add_list("char* const", "noteg_feature_names", list_text(features, quoted));
    add_list("char* const", "noteg_target_names", list_text(names, quoted));
    add_list("uint32_t", "noteg_categories", list_text(counts, whole));
    add_list("char* const", "noteg_words", list_text(words, quoted));
  }

  Diagnostics add_part(std::size_t p) {
    const Part& part = model_.parts[p];
    if (!part.base.empty()) return {{"", 0, 0, "--out", "a model of trees alone", "one that noteg adapt made"}};
    const Result<Lists> lists = lists_of(part);
    if (!lists) return lists.errors();
    const auto name = [&](const char* what) { return fmt::format("noteg_{}_{}", what, p); };
    const auto whole = [](std::uint32_t value) { return fmt::format("{}u", value); };
    const auto real = [](double value) { return fmt::format("{:.17g}", value); };
    add_list("uint32_t", name("roots"), list_text(lists->roots, whole));
    add_list("uint32_t", name("cuts"), list_text(lists->cuts, whole));
    add_list("uint32_t", name("children"), list_text(lists->children, whole));
    add_list("uint32_t", name("first_edge"), list_text(lists->first_edge, whole));
    add_list("uint64_t", name("sets"), list_text(lists->sets, [](const forest::CategorySet& set) {
               return fmt::format("{:#x}u,{:#x}u,{:#x}u,{:#x}u", set[0], set[1], set[2], set[3]);
             }));
    add_list("float", name("values"),
             list_text(lists->values, [](float value) { return fmt::format("{:.9e}f", value); }));
    add_list("double", name("edges"), list_text(lists->edges, real));
    std::vector<double> means, deviations;
    for (const forest::Scale& scale : part.forest.scales)
      means.push_back(scale.mean), deviations.push_back(scale.deviation);
    add_list("double", name("mean"), list_text(means, real));
    add_list("double", name("deviation"), list_text(deviations, real));
    text_ += fmt::format(
        "static const struct noteg_part noteg_part_{0} = {{{1}, {2}, noteg_roots_{0}, noteg_cuts_{0}, "
        "noteg_children_{0},\n"
        "  noteg_first_edge_{0}, noteg_sets_{0}, noteg_values_{0}, noteg_edges_{0}, noteg_mean_{0}, "
        "noteg_deviation_{0}}};\n",
        p, part.targets.size(), part.forest.trees.size());
    return {};
  }

  // A function that others may call.
  void open_function(const char* type, const std::string& name, const char* arguments) {
    text_ += fmt::format("\n{} {}({}) {{\n", is_header_ ? std::string("inline ") + type : type,
                         (is_header_ ? "" : "noteg_model_") + name, arguments);
  }

  Diagnostics add_predict() {
    open_function("void", "predict", "const double* x, double* out");
    std::size_t place = 0;
    for (std::size_t p = 0; p < model_.parts.size(); ++p) {
      text_ += fmt::format("  noteg_walk(&noteg_part_{}, x, out + {});\n", p, place);
      for (const Target& target : model_.parts[p].targets) {
        std::string value = fmt::format("{:.17g} * out[{}]", target.shrink, place);
        std::string anchor;
        if (!target.anchor.empty()) {
          const auto at =
              std::ranges::find(model_.features, target.anchor, [](const Feature& f) { return f.column.name; });
          if (at == model_.features.end())
            return {{"", 0, 0, "--out", "targets whose anchors are features", target.name + " over " + target.anchor}};
          anchor = fmt::format(" + log(x[{}])", at - model_.features.begin());
        }
        if (target.log) value = fmt::format("exp({} + {:.17g}{})", value, std::log(target.smearing), anchor);
        text_ += fmt::format("  out[{}] = {};\n", place++, value);
      }
    }
    text_ += "}\n";
    return {};
  }

  void add_questions() {
    open_function("int", "feature_count", is_header_ ? "" : "void");
    text_ += "  return NOTEG_FEATURES;\n}\n";
    open_function("int", "target_count", is_header_ ? "" : "void");
    text_ += "  return NOTEG_TARGETS;\n}\n";
    open_function("const char*", "feature_name", "int i");
    text_ += "  return i >= 0 && i < NOTEG_FEATURES ? noteg_feature_names[i] : NULL;\n}\n";
    open_function("const char*", "target_name", "int i");
    text_ += "  return i >= 0 && i < NOTEG_TARGETS ? noteg_target_names[i] : NULL;\n}\n";
    open_function("double", "category", "int i, const char* text");
    text_ +=
        "  uint32_t first = 0, c;\n  int f;\n  if (i < 0 || i >= NOTEG_FEATURES) return (double)NAN;\n"
        "  for (f = 0; f < i; ++f) first += noteg_categories[f];\n"
        "  for (c = 0; c < noteg_categories[i]; ++c)\n"
        "    if (strcmp(noteg_words[first + c], text) == 0) return c;\n  return (double)NAN;\n}\n";
  }

  const Model& model_;
  bool is_header_;
  std::string text_;
};

}  // namespace

Result<std::string> to_source(const Model& model, SourceKind kind) { return Source(model, kind).run(); }

}  // namespace noteg::learn
