// Sweep files. Every value is checked where it stands; what a combination of values means to a kernel is found out when
// its row runs, and recorded with the row.
#include "sim/dataset/sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "arch/field.hpp"
#include "arch/load.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/items.hpp"
#include "sim/dataset/sweep_parts.hpp"
#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::dataset {

namespace {

constexpr double largest_factor = 100;
constexpr std::size_t most_unknown = 20;  // for each, every GPU file is searched for a name like it

class SweepReader {
 public:
  SweepReader(const YamlDocument& document, Diagnostics& errors)
      : file_(document.file), top_(document.file, document.root, "", errors), errors_(errors) {}

  Sweep read() {
    sweep_.file = file_;
    read_method();
    read_gpus();
    if (top_.has("perturb")) read_perturbation();
    read_shapes();
    read_kernels();
    if (top_.has("labels")) {
      if (auto labels = top_.texts("labels"); labels && !labels->empty()) sweep_.labels = std::move(*labels);
      Distinct<std::string> distinct(top_, "labels");
      for (const Scalar& label : scalars_of(top_, "labels", *top_.optional("labels")))
        distinct.add(label.text, *label.node);
    }
    if (top_.has("run")) {
      if (std::optional<YamlMapping> run = top_.mapping("run")) sweep_.runs = read_run_options(*run);
    }
    top_.report_unknown();
    if (errors_.empty()) check_rows();
    return std::move(sweep_);
  }

 private:
  void read_method() {
    const auto methods = {Method::grid, Method::random, Method::latin_hypercube, Method::sobol};
    if (top_.has("method")) {
      std::vector<std::string> names;
      for (const Method method : methods) names.emplace_back(name_of(method));
      const std::optional<std::string> word = top_.choice("method", names);
      for (const Method method : methods)
        if (word == name_of(method)) sweep_.method = method;
    }
    if (sweep_.method == Method::grid) {
      if (const YamlNode* rows = top_.optional("rows"))
        top_.report(*rows, "rows", "no such key with method grid: its rows follow from the axes", rows->describe());
    } else {
      sweep_.rows = static_cast<std::size_t>(top_.integer("rows", 1, largest_sweep).value_or(1));
    }
    if (top_.has("seed"))
      sweep_.seed = static_cast<std::uint64_t>(top_.integer("seed", 0, 9'000'000'000'000'000'000).value_or(1));
  }

  void read_gpus() {
    const YamlNode* node = top_.required("gpus", "a GPU or a sequence of them");
    if (node == nullptr) return;
    Distinct<std::string> distinct(top_, "gpus");
    for (const Scalar& name : scalars_of(top_, "gpus", *node, most_named)) {
      if (errors_.size() >= most_unknown) return;
      const Result<arch::GpuSpec> gpu = arch::load_gpu(name.text);
      if (!gpu)
        report_at(*name.node, "gpus", gpu.errors());
      else if (distinct.add(gpu->id, *name.node))
        sweep_.gpus.push_back(*gpu);
    }
  }

  // What the errors of another reader say, at the value that asked for it.
  void report_at(const YamlNode& node, std::string_view key, const Diagnostics& errors) {
    for (const Diagnostic& error : errors) {
      if (error.file.empty())
        top_.report(node, key, error.expected,
                    error.found.empty() ? node.describe() : node.describe() + ": " + error.found);
      else
        errors_.push_back(error);
    }
  }

  void read_perturbation() {
    std::optional<YamlMapping> perturb = top_.mapping("perturb");
    if (!perturb) return;
    sweep_.copies = static_cast<std::size_t>(perturb->integer("copies", 1, 100'000).value_or(1));
    std::optional<YamlMapping> factors = perturb->mapping("factors");
    if (factors) {
      for (const YamlEntry& entry : factors->node().entries) read_factor(*factors, entry);
    }
    perturb->report_unknown();
  }

  void read_factor(YamlMapping& factors, const YamlEntry& entry) {
    std::vector<std::string> known{"all"};
    for (const RunColumn& column : arch_columns()) known.push_back(column.column.name.substr(5));
    const YamlNode& node = entry.value;
    const bool all = entry.key == "all";
    if (std::ranges::find(known, entry.key) == known.end()) {
      if (errors_.size() >= most_told) return;
      const std::vector<std::string> near = nearest_names(entry.key, known, 2);
      errors_.push_back(
          {file_, entry.key_position.line, entry.key_position.column, factors.path_of(entry.key),
           "all, or a number of a GPU that data sets hold as a column (docs/reference/dataset-reference.md)",
           near.empty() ? "another key" : "another key (did you mean " + join_or(near) + "?)"});
      return;
    }
    const std::optional<std::pair<double, double>> bounds = bounds_of(node);
    if (!bounds) {
      factors.report(node, entry.key, "[LOW, HIGH]: two factors from 0.01 to 100, the smaller one first",
                     node.describe());
      return;
    }
    for (const std::string& key : all ? known : std::vector<std::string>{entry.key}) set_factor(key, *bounds, all);
  }

  static std::optional<std::pair<double, double>> bounds_of(const YamlNode& node) {
    if (!node.is_sequence() || node.items.size() != 2) return std::nullopt;
    const std::optional<double> low = parse_number(node.items[0].text), high = parse_number(node.items[1].text);
    if (!low || !high || *low < 1 / largest_factor || *low > *high || *high > largest_factor) return std::nullopt;
    return std::pair{*low, *high};
  }

  // "all" is every number that is no count, and gives way to a key's own bounds.
  void set_factor(const std::string& key, std::pair<double, double> bounds, bool all) {
    const std::optional<std::size_t> at = arch::find_field(key);
    if (!at) return;
    const arch::Kind kind = arch::fields()[*at].kind;
    if (all && kind != arch::Kind::quantity && kind != arch::Kind::fraction) return;
    const auto same = std::ranges::find(sweep_.jitter, *at, &Jitter::field);
    if (same == sweep_.jitter.end())
      sweep_.jitter.push_back({*at, bounds.first, bounds.second});
    else if (!all)
      *same = {*at, bounds.first, bounds.second};
  }

  void read_shapes() {
    const YamlNode* list = top_.optional("shapes");
    const YamlNode* axes = top_.optional("shape");
    if ((list == nullptr) == (axes == nullptr)) {
      top_.report(top_.node(), "", "either shapes: [MxNxK, ...] or shape: {m: ..., n: ..., k: ...}",
                  list == nullptr ? "neither" : "both");
      return;
    }
    if (list != nullptr) return read_shape_list(*list);
    std::optional<YamlMapping> shape = top_.mapping("shape");
    if (!shape) return;
    const bool spans = sweep_.method != Method::grid;
    sweep_.shapes.m = read_extent(*shape, "m", spans);
    if (shape->has("layers")) sweep_.shapes.layers = read_share(*shape, "layers");
    if (shape->has("convolutions")) sweep_.shapes.convolutions = read_share(*shape, "convolutions");
    if (sweep_.shapes.layers + sweep_.shapes.convolutions > 1)
      shape->report(shape->node(), "convolutions", "shares that add up to at most 1", "more");
    sweep_.shapes.n = read_extent(*shape, "n", spans);
    sweep_.shapes.k = read_extent(*shape, "k", spans);
    if (shape->has("batch"))
      sweep_.shapes.batch = read_extent(*shape, "batch", spans);
    else
      sweep_.shapes.batch.values = {1};
    shape->report_unknown();
  }

  // Of the rows; a grid has none to share out.
  double read_share(YamlMapping& shape, std::string_view key) {
    if (sweep_.method == Method::grid) shape.report(*shape.optional(key), key, "no such key with method grid", "one");
    return shape.number(key, 0, 1).value_or(0);
  }

  void read_shape_list(const YamlNode& node) {
    Distinct<std::array<std::int64_t, 3>> distinct(top_, "shapes");
    for (const Scalar& text : scalars_of(top_, "shapes", node)) {
      const std::optional<kernels::GemmShape> shape = kernels::shape_from(text.text);
      if (shape && kernels::check_shape(*shape).empty()) {
        if (distinct.add({shape->m, shape->n, shape->k}, *text.node)) sweep_.shapes.list.push_back(*shape);
      } else
        top_.report(*text.node, "shapes", "MxNxK such as 4096x4096x1024, each at least 1", text.node->describe());
    }
  }

  void read_kernels() {
    const YamlNode* list = top_.required("kernels", "a sequence of mappings, each a set of kernels");
    if (list == nullptr) return;
    if (!list->is_sequence() || list->items.empty()) {
      top_.report(*list, "kernels", "a sequence of mappings, each a set of kernels", list->describe());
      return;
    }
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      const YamlNode& item = list->items[i];
      const std::string path = "kernels[" + std::to_string(i) + "]";
      if (!item.is_mapping()) {
        top_.report(item, path, "a mapping of kernel keys", item.describe());
        continue;
      }
      YamlMapping mapping(file_, item, path, errors_);
      KernelBlock block = read_kernel_block(mapping, errors_);
      read_block_gpus(mapping, block);
      sweep_.kernels.push_back(std::move(block));
    }
  }

  void read_block_gpus(YamlMapping& mapping, KernelBlock& block) {
    const YamlNode* node = mapping.optional("gpus");
    if (node == nullptr) {
      for (std::size_t g = 0; g < sweep_.gpus.size(); ++g) block.gpus.push_back(g);
      return;
    }
    Distinct<std::string> distinct(mapping, "gpus");
    for (const Scalar& name : scalars_of(mapping, "gpus", *node, most_named)) {
      if (errors_.size() >= most_unknown) return;
      const Result<arch::GpuSpec> gpu = arch::load_gpu(name.text);
      const auto known = std::ranges::find(sweep_.gpus, gpu ? gpu->id : "", &arch::GpuSpec::id);
      if (known == sweep_.gpus.end())
        mapping.report(*name.node, "gpus", "one of the GPUs listed at the top", name.node->describe());
      else if (distinct.add(known->id, *name.node))
        block.gpus.push_back(static_cast<std::size_t>(known - sweep_.gpus.begin()));
    }
  }

  void check_rows() {
    if (sweep_.method != Method::grid) return;
    const std::optional<std::size_t> rows = grid_rows(sweep_);
    if (rows)
      sweep_.rows = *rows;
    else
      top_.report(top_.node(), "", "a grid of at most " + std::to_string(largest_sweep) + " rows", "more");
  }

  std::string file_;
  YamlMapping top_;
  Diagnostics& errors_;
  Sweep sweep_;
};

Result<Sweep> read_document(const Result<YamlDocument>& document, std::string_view text) {
  if (!document) return document.errors();
  Diagnostics errors;
  Sweep sweep = SweepReader(*document, errors).read();
  if (!errors.empty()) return errors;
  sweep.text = std::string(text);
  sweep.canonical = canonical_text(document->root);
  return sweep;
}

}  // namespace

Result<Sweep> read_sweep_text(std::string_view text, std::string name) {
  return read_document(read_yaml_text(text, std::move(name)), text);
}

Result<Sweep> load_sweep(const std::filesystem::path& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.errors();
  return read_sweep_text(*text, path.string());
}

std::string_view name_of(Method method) {
  switch (method) {
    case Method::grid: return "grid";
    case Method::random: return "random";
    case Method::latin_hypercube: return "latin_hypercube";
    case Method::sobol: return "sobol";
  }
  return "";
}

std::int64_t Span::at(double share) const {
  const auto from = static_cast<double>(low), to = static_cast<double>(high);
  const double value = logarithmic ? from * std::pow(to / from, share) : from + (to - from) * share;
  const auto step = static_cast<double>(multiple_of);
  return std::clamp(static_cast<std::int64_t>(std::llround(value / step) * multiple_of), low, high);
}

}  // namespace noteg::dataset
