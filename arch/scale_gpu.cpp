#include "arch/scale_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "arch/field.hpp"
#include "arch/validate.hpp"
#include "sim/support/number_text.hpp"

namespace noteg::arch {
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

}  // namespace noteg::arch
