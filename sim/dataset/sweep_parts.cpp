#include "sim/dataset/sweep_parts.hpp"

#include "kernels/config_file.hpp"
#include "kernels/config_keys.hpp"
#include "sim/support/number_text.hpp"
#include "sim/support/quantity_text.hpp"

namespace noteg::dataset {
namespace {

constexpr std::int64_t largest_extent = 2147483647;
constexpr std::size_t largest_axis = 100'000;

void add_canonical(const YamlNode& node, const std::string& path, std::string& text) {
  switch (node.kind) {
    case YamlNode::Kind::nothing: text += path + " =\n"; break;
    case YamlNode::Kind::scalar: text += path + " = " + node.text + "\n"; break;
    case YamlNode::Kind::mapping:
      for (const YamlEntry& entry : node.entries)
        add_canonical(entry.value, path.empty() ? entry.key : path + "." + entry.key, text);
      break;
    case YamlNode::Kind::sequence: {
      std::string list;
      bool flat = true;
      for (const YamlNode& item : node.items) {
        flat = flat && item.is_scalar();
        list += (list.empty() ? "" : ", ") + item.text;
      }
      if (flat) {
        text += path + " = [" + list + "]\n";
        break;
      }
      for (std::size_t i = 0; i < node.items.size(); ++i)
        add_canonical(node.items[i], path + "[" + std::to_string(i) + "]", text);
    }
  }
}

// Between from and to: each `times` the last, or each last plus `step`.
std::vector<std::int64_t> stepped(std::int64_t from, std::int64_t to, double times, std::int64_t step) {
  std::vector<std::int64_t> values;
  for (double value = static_cast<double>(from); value <= static_cast<double>(to) && values.size() < largest_axis;
       value = times > 1 ? value * times : value + static_cast<double>(step))
    values.push_back(static_cast<std::int64_t>(value));
  return values;
}

ExtentAxis read_range(YamlMapping& range, bool spans) {
  ExtentAxis axis;
  const std::int64_t from = range.integer("from", 1, largest_extent).value_or(1);
  const std::int64_t to = range.integer("to", from, largest_extent).value_or(from);
  const bool by_times = range.has("times"), by_step = range.has("step");
  if (by_times || by_step) {
    const double times = by_times ? range.number("times", 1.0001, 1e9).value_or(2) : 1;
    const std::int64_t step = by_step ? range.integer("step", 1, largest_extent).value_or(1) : 1;
    if (by_times && by_step) range.report(range.node(), "", "times or step", "both");
    axis.values = stepped(from, to, times, step);
  } else if (spans) {
    Span span{from, to};
    if (range.has("scale")) span.logarithmic = range.choice("scale", {"linear", "log"}) == "log";
    if (range.has("multiple_of")) span.multiple_of = range.integer("multiple_of", 1, largest_extent).value_or(1);
    axis.span = span;
  } else {
    range.report(range.node(), "", "times or step with method grid: a grid needs numbers, not a span", "neither");
  }
  range.report_unknown();
  return axis;
}

// The kernels that an axis `file` or `kernel_name` names.
void read_bases(YamlMapping& mapping, std::string_view key, KernelBlock& block, Diagnostics& errors) {
  const YamlNode* node = mapping.optional(key);
  if (node == nullptr) return;
  for (const Scalar& name : scalars_of(mapping, key, *node)) {
    const bool is_file = key == "file";
    const Result<kernels::KernelConfig> base =
        is_file ? kernels::load_kernel_file(name.text) : kernels::config_from_name(name.text);
    if (base) {
      block.bases.push_back(*base);
      if (!is_file) block.bases.back().name = name.text;
      continue;
    }
    for (const Diagnostic& error : base.errors()) {
      if (error.line > 0)
        errors.push_back(error);  // a mistake in the kernel's own file
      else
        mapping.report(*name.node, key, error.expected, error.found);
    }
  }
}

void read_axis(YamlMapping& mapping, const kernels::KernelKeyDoc& doc, KernelBlock& block) {
  const YamlNode* node = mapping.optional(doc.key);
  if (node == nullptr) return;
  KernelAxis axis{doc.key, {}};
  for (const Scalar& value : scalars_of(mapping, doc.key, *node)) {
    kernels::KernelConfig probe;
    if (const auto wrong = kernels::set_kernel_key(probe, doc.key, value.text))
      mapping.report(*value.node, doc.key, wrong->expected, wrong->found);
    else
      axis.values.push_back(value.text);
  }
  if (!axis.values.empty()) block.axes.push_back(std::move(axis));
}

}  // namespace

std::vector<Scalar> scalars_of(YamlMapping& mapping, std::string_view key, const YamlNode& node) {
  if (node.is_scalar()) return {{node.text, &node}};
  std::vector<Scalar> all;
  if (node.is_sequence()) {
    for (const YamlNode& item : node.items) {
      if (item.is_scalar())
        all.push_back({item.text, &item});
      else
        mapping.report(item, key, "a value", item.describe());
    }
  }
  if (all.empty() && (!node.is_sequence() || node.items.empty()))
    mapping.report(node, key, "a value or a sequence of values",
                   node.is_sequence() ? "an empty sequence" : node.describe());
  return all;
}

ExtentAxis read_extent(YamlMapping& shape, std::string_view key, bool spans) {
  ExtentAxis axis;
  const YamlNode* node = shape.required(key, "a number, a sequence of numbers, or {from, to, ...}");
  if (node == nullptr) return axis;
  if (node->is_mapping()) {
    std::optional<YamlMapping> range = shape.mapping(key);
    return read_range(*range, spans);
  }
  for (const Scalar& value : scalars_of(shape, key, *node)) {
    const std::optional<long long> number = parse_integer(value.text);
    if (number && *number >= 1 && *number <= largest_extent)
      axis.values.push_back(*number);
    else
      shape.report(*value.node, key, "a whole number from 1 to 2147483647", value.node->describe());
  }
  return axis;
}

KernelBlock read_kernel_block(YamlMapping& mapping, Diagnostics& errors) {
  KernelBlock block;
  read_bases(mapping, "file", block, errors);
  read_bases(mapping, "kernel_name", block, errors);
  if (block.bases.empty()) block.bases.emplace_back();
  // The order of the table, so that `dtype` comes before `dtype_out` and axes do not depend on how a file is written.
  for (const kernels::KernelKeyDoc& doc : kernels::kernel_keys()) read_axis(mapping, doc, block);
  (void)mapping.has("gpus");
  mapping.report_unknown();
  return block;
}

chip::SimOptions read_run_options(YamlMapping& run) {
  chip::SimOptions options;
  if (run.has("clock_mode")) {
    const std::optional<std::string> mode = run.choice("clock_mode", {"sustained", "cool", "burst"});
    if (mode == "cool") options.clock_mode = power::ClockMode::cool;
    if (mode == "burst") options.clock_mode = power::ClockMode::burst;
  }
  if (const YamlNode* clock = run.optional("clock")) {
    const Result<Hertz> value = parse_quantity_as<Hertz>(clock->text);
    if (value && value->value >= 1e6 && value->value <= 1e10)
      options.sm_clock_mhz = value->value * 1e-6;
    else
      run.report(*clock, "clock", "a clock such as 1.4 GHz, from 1 MHz to 10 GHz", clock->describe());
  }
  if (run.has("operands") && run.choice("operands", {"random", "zeros"}) == "zeros") options.operands.activity = 0;
  if (run.has("l2") && run.choice("l2", {"warm", "cold"}) == "cold") options.l2 = chip::L2State::cold;
  // Thousands of rows share engine runs, unless the file asks for each kernel's own.
  options.share_runs = !run.has("engine") || run.choice("engine", {"shared", "periodic"}) != "periodic";
  run.report_unknown();
  return options;
}

std::string canonical_text(const YamlNode& root) {
  std::string text;
  add_canonical(root, "", text);
  return text;
}

}  // namespace noteg::dataset
