#include "arch/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "arch/field.hpp"
#include "arch/load.hpp"
#include "arch/read_spec.hpp"
#include "sim/support/text.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::arch {

std::vector<Difference> differences(std::span<const GpuSpec* const> gpus) {
  std::vector<Difference> out;
  for (const Field& field : fields()) {
    Difference difference{&field, {}};
    for (const GpuSpec* gpu : gpus) difference.values.push_back(field.get(*gpu));
    const auto differs = [&](const Value& value) { return value != difference.values.front(); };
    if (std::ranges::any_of(difference.values, differs)) out.push_back(std::move(difference));
  }
  return out;
}

std::string_view name_of(FieldGroup group) {
  switch (group) {
    case FieldGroup::sm_core: return "SM core";
    case FieldGroup::sm_count: return "SM count";
    case FieldGroup::clock: return "clock";
    case FieldGroup::l2: return "L2";
    case FieldGroup::dram: return "DRAM";
    case FieldGroup::power: return "power";
    case FieldGroup::count_: break;
  }
  return "";
}

FieldGroup group_of(const Field& field) {
  const std::string_view key = field.key;
  // A clock has no meaning without the voltage that it needs: half of a curve would be a machine that nobody can build.
  if (key.starts_with("clock.") || key.starts_with("power.voltage_") || key == "power.floor_clock")
    return FieldGroup::clock;
  if (key.starts_with("power.") || key.starts_with("sm.energy.")) return FieldGroup::power;
  if (key.starts_with("sm.")) return FieldGroup::sm_core;
  if (key.starts_with("l2.")) return FieldGroup::l2;
  if (key.starts_with("dram.")) return FieldGroup::dram;
  return FieldGroup::sm_count;
}

void take_group(GpuSpec& gpu, const GpuSpec& other, FieldGroup group) {
  for (const Field& field : fields())
    if (group_of(field) == group) field.set(gpu, field.get(other));
  if (group == FieldGroup::sm_core) gpu.sm.name = other.sm.name;
}

namespace {

// What becomes of a key: multiplied, divided, or a count of something that is multiplied.
struct ScaleRule {
  std::string_view key;
  double (*value)(const GpuSpec& gpu, double factor);
  std::string_view how;
};

double whole(double value) { return std::max(1.0, std::round(value)); }

constexpr std::array scale_rules{
    ScaleRule{"sms", [](const GpuSpec& g, double f) { return g.sms * f; }, "SMs in proportion"},
    ScaleRule{"gpcs", [](const GpuSpec& g, double f) { return std::ceil(g.gpcs * f); }, "in proportion, rounded up"},
    ScaleRule{"l2.size", [](const GpuSpec& g, double f) { return g.l2.size.value * f; }, "in proportion"},
    ScaleRule{"l2.partitions", [](const GpuSpec& g, double f) { return whole(g.l2.partitions * f); },
              "in proportion, at least one"},
    ScaleRule{"l2.far_latency",
              [](const GpuSpec& g, double f) {
                return whole(g.l2.partitions * f) > 1 ? g.l2.far_latency.value : g.l2.latency.value;
              },
              "l2.latency where one partition is left"},
    ScaleRule{"l2.read_bandwidth", [](const GpuSpec& g, double f) { return g.l2.read_bandwidth.value * f; },
              "slices in proportion"},
    ScaleRule{"l2.write_bandwidth", [](const GpuSpec& g, double f) { return g.l2.write_bandwidth.value * f; },
              "slices in proportion"},
    ScaleRule{"dram.size", [](const GpuSpec& g, double f) { return g.dram.size.value * f; }, "channels in proportion"},
    ScaleRule{"dram.bus_bits", [](const GpuSpec& g, double f) { return g.dram.bus_bits * f; },
              "channels in proportion"},
    ScaleRule{"dram.bandwidth", [](const GpuSpec& g, double f) { return g.dram.bandwidth.value * f; },
              "channels in proportion"},
    ScaleRule{"power.limit", [](const GpuSpec& g, double f) { return g.power.limit.value * f; }, "in proportion"},
    ScaleRule{"power.idle", [](const GpuSpec& g, double f) { return g.power.idle.value * f; }, "in proportion"},
    ScaleRule{"power.leakage", [](const GpuSpec& g, double f) { return g.power.leakage.value * f; },
              "in proportion to the area"},
    ScaleRule{"power.thermal_resistance",
              [](const GpuSpec& g, double f) { return g.power.thermal_resistance.value / f; },
              "as warm at the power limit"},
};

bool is_whole(double value) { return std::abs(value - std::round(value)) < 1e-9; }

// Something that a factor must leave whole.
Diagnostic fraction_of(std::string_view what, double count, const Factor& factor) {
  const double scaled = count * factor.value;
  const auto near = [&](double n) { return fmt::format("{:.0f}/{:.0f}", n, count); };
  return {"",
          0,
          0,
          "--by",
          fmt::format("a factor that leaves whole {}: {} or {} of {:.0f}", what,
                      near(std::max(1.0, std::floor(scaled))), near(std::ceil(scaled)), count),
          fmt::format("{} ({:.6g} {})", factor.text, scaled, what)};
}

Diagnostics broken_rules(const GpuSpec& gpu) {
  Diagnostics errors;
  for (const Rule& rule : rules()) {
    if (rule.holds(gpu)) continue;
    const Field& field = fields()[*find_field(rule.keys.front())];
    errors.push_back(
        {"", 0, 0, "--by", fmt::format("{} {}", field.key, rule.sentence), format_value(field, field.get(gpu))});
  }
  return errors;
}

}  // namespace

std::optional<Factor> factor_from(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<double> above = parse_number(text.substr(0, slash));
  const std::optional<double> below = slash == std::string_view::npos ? 1.0 : parse_number(text.substr(slash + 1));
  if (!above || !below || *below <= 0) return std::nullopt;
  const double value = *above / *below;
  if (value < 1.0 / 64 || value > 16) return std::nullopt;
  return Factor{value, std::string(text)};
}

Result<SourcedGpu> scaled_gpu(const SourcedGpu& gpu, const Factor& factor) {
  Diagnostics errors;
  const double channels = static_cast<double>(gpu.gpu.dram.bus_bits) / gpu.gpu.dram.channel_bits;
  if (!is_whole(gpu.gpu.sms * factor.value)) errors.push_back(fraction_of("SMs", gpu.gpu.sms, factor));
  if (!is_whole(channels * factor.value)) errors.push_back(fraction_of("memory channels", channels, factor));
  if (!errors.empty()) return errors;
  SourcedGpu out = gpu;
  for (const ScaleRule& rule : scale_rules) {
    const std::size_t index = *find_field(rule.key);
    const Field& field = fields()[index];
    const double value = rule.value(gpu.gpu, factor.value);
    field.set(out.gpu, Value{field.kind == Kind::count ? std::round(value) : value});
    out.provenance[index] = {
        "", {}, fmt::format("DERIVED: {} of the {}", factor.text, gpu.gpu.name), "", std::string(rule.how)};
  }
  out.gpu.name = fmt::format("{} x {}", gpu.gpu.name, factor.text);
  out.gpu.names = {out.gpu.name};
  out.gpu.file.clear();
  for (std::size_t i = 0; i < fields().size(); ++i)
    if (out.provenance[i].file == gpu.gpu.file || out.provenance[i].file == "--set")
      out.provenance[i].file.clear();  // now numbers of the new file
  errors = broken_rules(out.gpu);
  if (!errors.empty()) return errors;
  return out;
}

namespace {

bool is_of(const YamlNode& number, const std::string& id) {
  const YamlNode* on = number.find("on");
  return on != nullptr &&
         std::ranges::any_of(on->items, [&](const YamlNode& each) { return to_lower(each.text) == id; });
}

// The text of an override: a scalar as it stands, a table of energies as NAME=ENERGY with commas.
std::string override_text(const YamlNode& value) {
  if (!value.is_mapping()) return value.text;
  std::string text;
  for (const YamlEntry& entry : value.entries) text += (text.empty() ? "" : ",") + entry.key + "=" + entry.value.text;
  return text;
}

void collect(const YamlNode& node, const std::string& path, const std::string& id, Overrides& out) {
  if (!node.is_mapping()) return;
  if (const YamlNode* without = node.find("without"); without != nullptr && is_of(node, id)) {
    out.emplace_back(path, override_text(*without));
    return;
  }
  for (const YamlEntry& entry : node.entries)
    collect(entry.value, path.empty() ? entry.key : path + "." + entry.key, id, out);
}

}  // namespace

Result<Overrides> without_own_fits(std::string_view name_or_path) {
  const Result<std::filesystem::path> path = find_gpu_file(name_or_path);
  if (!path) return path.errors();
  const std::string id = to_lower(path->stem().string());
  Overrides out;
  if (const Result<std::filesystem::path> base = base_file_of(path->string())) {
    const Result<YamlDocument> document = read_yaml_file(*base);
    if (!document) return document.errors();
    collect(document->root, "", id, out);
  }
  const Result<YamlDocument> document = read_yaml_file(*path);
  if (!document) return document.errors();
  collect(document->root, "", id, out);
  return out;
}

}  // namespace noteg::arch
