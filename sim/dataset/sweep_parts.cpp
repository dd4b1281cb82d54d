#include "sim/dataset/sweep_parts.hpp"

#include <algorithm>

#include "kernels/config/config_file.hpp"
#include "sim/support/arithmetic.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/text.hpp"

namespace noteg::dataset {
namespace {

constexpr std::int64_t largest_extent = 2147483647;

// As it is, or in quotes where that would read as a list, as two values or as another line.
std::string canonical_scalar(const std::string& text) {
  const bool is_plain = !text.empty() && text.find_first_of("[]\",=\\\n\r") == std::string::npos &&
                        text.front() != ' ' && text.back() != ' ';
  if (is_plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "\"";
}

void add_canonical(const YamlNode& node, const std::string& path, std::string& text) {
  switch (node.kind) {
    case YamlNode::Kind::nothing: text += path + " =\n"; break;
    case YamlNode::Kind::scalar: text += path + " = " + canonical_scalar(node.text) + "\n"; break;
    case YamlNode::Kind::mapping:
      for (const YamlEntry& entry : node.entries)
        add_canonical(entry.value, path.empty() ? entry.key : path + "." + entry.key, text);
      break;
    case YamlNode::Kind::sequence: {
      std::string list;
      bool flat = true;
      for (const YamlNode& item : node.items) {
        flat = flat && item.is_scalar();
        list += (list.empty() ? "" : ", ") + canonical_scalar(item.text);
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

// Between from and to: each `times` the last, or each last plus `step`; integers, and each of them once. Nothing:
// more than an axis holds.
std::optional<std::vector<std::int64_t>> stepped(std::int64_t from, std::int64_t to, double times, std::int64_t step) {
  std::vector<std::int64_t> values;
  for (auto value = static_cast<double>(from); value <= static_cast<double>(to);
       value = times > 1 ? value * times : value + static_cast<double>(step)) {
    const auto whole = static_cast<std::int64_t>(value);
    if (!values.empty() && values.back() == whole) continue;
    if (values.size() == largest_axis) return std::nullopt;
    values.push_back(whole);
  }
  return values;
}

// The bounds move inwards to multiples of the step.
Span read_span(YamlMapping& range, std::int64_t from, std::int64_t to) {
  Span span{from, to};
  if (range.has("scale")) span.logarithmic = range.choice("scale", {"linear", "log"}) == "log";
  if (!range.has("multiple_of")) return span;
  const std::int64_t step = range.integer("multiple_of", 1, largest_extent).value_or(1);
  span = {ceil_div(from, step) * step, to / step * step, step, span.logarithmic};
  if (span.low > span.high)
    range.report(range.node(), "multiple_of", "a number with a multiple between from and to", std::to_string(step));
  return span;
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
    if (std::optional<std::vector<std::int64_t>> values = stepped(from, to, times, step))
      axis.values = std::move(*values);
    else
      range.report(range.node(), "", "at most " + std::to_string(largest_axis) + " values", "more");
  } else if (spans) {
    axis.span = read_span(range, from, to);
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
  Distinct<std::string> distinct(mapping, std::string(key));
  for (const Scalar& name : scalars_of(mapping, key, *node, most_named)) {
    if (errors.size() >= most_told) return;
    if (!distinct.add(name.text, *name.node)) continue;
    const bool is_file = key == "file";
    const Result<kernels::KernelConfig> base =
        is_file ? kernels::load_kernel_file(name.text) : kernels::config_from_name(name.text);
    if (base) {
      block.bases.push_back(*base);
      if (!is_file) block.bases.back().name = name.text;
      if (!is_file && base->split_k_mode != kernels::SplitKMode::none && mapping.optional("split_k") == nullptr)
        mapping.report(*name.node, key, "a key split_k beside a name that splits K (no name says into how many)",
                       "none");
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
  std::vector<kernels::KernelConfig> meant;  // 08 is 8 once more
  for (const Scalar& value : scalars_of(mapping, doc.key, *node, most_named)) {
    kernels::KernelConfig probe;
    if (const auto wrong = kernels::set_kernel_key(probe, doc.key, value.text))
      mapping.report(*value.node, doc.key, wrong->expected, wrong->found);
    else if (std::ranges::find(meant, probe) != meant.end())
      mapping.report(*value.node, doc.key, "each value once", value.node->describe() + " again");
    else
      axis.values.push_back(value.text);
    meant.push_back(std::move(probe));
  }
  if (!axis.values.empty()) block.axes.push_back(std::move(axis));
}

}  // namespace

std::vector<Scalar> scalars_of(YamlMapping& mapping, std::string_view key, const YamlNode& node, std::size_t most) {
  if (node.is_scalar()) return {{node.text, &node}};
  if (node.items.size() > most) {
    mapping.report(node, key, "at most " + std::to_string(most) + " values", std::to_string(node.items.size()));
    return {};
  }
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
  Distinct<std::int64_t> distinct(shape, std::string(key));
  for (const Scalar& value : scalars_of(shape, key, *node)) {
    const std::optional<long long> number = parse_integer(value.text);
    if (number && *number >= 1 && *number <= largest_extent) {
      if (distinct.add(*number, *value.node)) axis.values.push_back(*number);
    } else
      shape.report(*value.node, key, "an integer from 1 to 2147483647", value.node->describe());
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

gpu::SimOptions read_run_options(YamlMapping& run) {
  gpu::SimOptions options;
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
  if (run.has("l2")) {
    const std::vector<std::string> names(memory::l2_state_names.begin(), memory::l2_state_names.end());
    options.l2 = memory::l2_state_from(run.choice("l2", names).value_or("warm")).value_or(options.l2);
  }
  options.many_shapes = true;
  run.report_unknown();
  return options;
}

std::string canonical_text(const YamlNode& root) {
  std::string text;
  add_canonical(root, "", text);
  return text;
}

}  // namespace noteg::dataset
