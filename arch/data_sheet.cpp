#include "arch/data_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "arch/field.hpp"
#include "arch/read_spec.hpp"

namespace noteg::arch {
namespace {

constexpr std::array entries{
    SheetEntry{"from", "SM", "", "sm_89", "SM generation: sm_80, sm_86, sm_89 or sm_90", true},
    SheetEntry{"name", "TEXT", "", "\"My GPU\"", "name of the product", true},
    SheetEntry{"chip", "TEXT", "", "AD104", "the die"},
    SheetEntry{"sms", "N", "sms", "58", "SMs that the product enables", true},
    SheetEntry{"gpcs", "N", "gpcs", "5", "GPCs with at least one enabled SM"},
    SheetEntry{"boost", "HZ", "clock.boost", "2.5 GHz", "boost clock", true},
    SheetEntry{"sustained", "HZ", "clock.sustained", "2.5 GHz", "highest clock under load, if you know it"},
    SheetEntry{"tensor_tflops", "T", "", "148.5", "TFLOP/s of dense f16 that adds in f32, at the boost clock"},
    SheetEntry{"l2", "SIZE", "l2.size", "48 MiB", "L2 cache", true},
    SheetEntry{"dram_type", "TEXT", "dram.type", "GDDR6", "memory technology"},
    SheetEntry{"dram_size", "SIZE", "dram.size", "24 GiB", "memory"},
    SheetEntry{"dram_bus", "BITS", "dram.bus_bits", "192", "width of the memory bus"},
    SheetEntry{"dram_bandwidth", "RATE", "dram.bandwidth", "300 GB/s", "memory bandwidth", true},
    SheetEntry{"power", "W", "power.limit", "150 W", "board power limit", true},
    SheetEntry{"idle", "W", "power.idle", "40 W", "board power at load clocks with nothing to do, if you know it"},
    SheetEntry{"max_temperature", "C", "power.slowdown", "87 C", "GPU temperature at which the clock falls"},
};

// The boards of each generation whose power was measured over the widest range of clocks.
struct Relative {
  std::string_view base, id;
};
constexpr std::array relatives{Relative{"sm_80", "a100-sxm4-40gb"}, Relative{"sm_86", "a40"}, Relative{"sm_89", "l40s"},
                               Relative{"sm_90", "h100-sxm5-80gb"}};

// A number that scales with what the data sheet says: from the relative's spec and the new one, in which all that this
// rule reads is set already.
struct Scaling {
  std::string_view key;
  double (*value)(const GpuSpec& relative, const GpuSpec& gpu);
  std::string_view how;
};

double sms_ratio(const GpuSpec& r, const GpuSpec& g) { return static_cast<double>(g.sms) / r.sms; }
double bus_ratio(const GpuSpec& r, const GpuSpec& g) { return static_cast<double>(g.dram.bus_bits) / r.dram.bus_bits; }

// What follows from the memory technology; one that is not known is taken to be the relative's.
struct MemoryTechnology {
  std::string_view name;
  double channel_bits, tile_efficiency;
};
constexpr std::array memories{MemoryTechnology{"HBM3", 32, 0.92}, MemoryTechnology{"HBM", 64, 0.92},
                              MemoryTechnology{"GDDR", 16, 0.83}};

MemoryTechnology of_memory(const GpuSpec& r, const GpuSpec& g) {
  for (const MemoryTechnology& known : memories)
    if (g.dram.type.starts_with(known.name)) return known;
  return {"", static_cast<double>(r.dram.channel_bits), r.dram.tile_efficiency};
}

double whole_steps(double value, double step) { return step * std::max(1.0, std::round(value / step)); }

constexpr std::array scaled{
    Scaling{"gpcs", [](const GpuSpec& r, const GpuSpec& g) { return std::ceil(r.gpcs * sms_ratio(r, g)); },
            "in proportion to the SMs"},
    Scaling{"clock.sustained", [](const GpuSpec&, const GpuSpec& g) { return g.clock.boost.value; }, "the boost clock"},
    Scaling{"dram.bus_bits",
            [](const GpuSpec& r, const GpuSpec& g) {
              return whole_steps(r.dram.bus_bits * (g.dram.bandwidth / r.dram.bandwidth), 32);
            },
            "in proportion to the bandwidth"},
    Scaling{"dram.size", [](const GpuSpec& r, const GpuSpec& g) { return r.dram.size.value * bus_ratio(r, g); },
            "in proportion to the bus"},
    Scaling{"dram.channel_bits", [](const GpuSpec& r, const GpuSpec& g) { return of_memory(r, g).channel_bits; },
            "usual for the memory technology"},
    Scaling{"dram.tile_efficiency", [](const GpuSpec& r, const GpuSpec& g) { return of_memory(r, g).tile_efficiency; },
            "usual for the memory technology"},
    Scaling{"l2.read_bandwidth",
            [](const GpuSpec& r, const GpuSpec& g) {
              return std::max(r.l2.sm_bandwidth.value, r.l2.read_bandwidth.value * bus_ratio(r, g));
            },
            "in proportion to the bus"},
    Scaling{"l2.write_bandwidth",
            [](const GpuSpec& r, const GpuSpec& g) { return r.l2.write_bandwidth.value * bus_ratio(r, g); },
            "in proportion to the bus"},
    Scaling{"power.idle", [](const GpuSpec& r, const GpuSpec& g) { return r.power.idle.value * sms_ratio(r, g); },
            "in proportion to the SMs"},
    Scaling{"power.leakage",
            [](const GpuSpec& r, const GpuSpec& g) { return g.power.idle.value * (r.power.leakage / r.power.idle); },
            "the same share of power.idle"},
    Scaling{"power.thermal_resistance",
            [](const GpuSpec& r, const GpuSpec& g) {
              return r.power.thermal_resistance.value * (r.power.limit / g.power.limit);
            },
            "as warm at the power limit"},
    Scaling{
        "power.floor_clock",
        [](const GpuSpec& r, const GpuSpec& g) { return r.power.floor_clock.value * (g.clock.boost / r.clock.boost); },
        "the same share of the boost clock"},
};

std::string option_of(std::string_view name) {
  std::string text = "--" + std::string(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

// Null where the entry is absent or empty.
const std::string* text_of(const Sheet& sheet, std::string_view name) {
  const auto found = std::ranges::find(sheet, name, &std::pair<std::string, std::string>::first);
  return found == sheet.end() || found->second.empty() ? nullptr : &found->second;
}

// Four digits: no data sheet carries more.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

// Multiply-accumulates of f16 in f32 per clock and SM, as mma.sync makes them; 0: not in the table.
double f16_macs(const SmSpec& sm) {
  const auto found = std::ranges::find(sm.tensor.mma, "m16n8k16_f16_f32", &TensorFormSpec::name);
  return found == sm.tensor.mma.end() ? 0 : 16.0 * 8 * 16 / found->interval.value * sm.sub_cores;
}

// Fills one GPU from a sheet; the mistakes of all entries are collected.
class Maker {
 public:
  Maker(const Sheet& sheet, SourcedGpu relative) : sheet_(sheet), relative_(std::move(relative)), out_(relative_) {
    out_.gpu.file.clear();
    for (std::size_t i = 0; i < fields().size(); ++i)
      if (out_.provenance[i].file == relative_.gpu.file) out_.provenance[i] = derived("as on the");
  }

  Result<SourcedGpu> make() {
    take_words();
    for (const SheetEntry& entry : entries) take(entry);
    if (!errors_.empty()) return errors_;
    for (const Scaling& rule : scaled) scale(rule);
    take_tensor_rate();
    check();
    if (!errors_.empty()) return errors_;
    return out_;
  }

 private:
  [[nodiscard]] Provenance derived(std::string_view how) const {
    const std::string& name = relative_.gpu.name;
    return {"", {}, "DERIVED: from the file of the " + name, "", fmt::format("{} {}", how, name)};
  }

  static Provenance given(const SheetEntry& entry) {
    return {"", {}, "OWN: data sheet, " + std::string(entry.name), "", ""};
  }

  void take_words() {
    const std::string* name = text_of(sheet_, "name");
    const std::string* chip = text_of(sheet_, "chip");
    out_.gpu.name = name != nullptr ? *name : "";
    out_.gpu.names = {out_.gpu.name};
    out_.gpu.chip = chip != nullptr ? *chip : "not given";
  }

  void take(const SheetEntry& entry) {
    const std::string* text = text_of(sheet_, entry.name);
    if (text == nullptr && entry.required)
      errors_.push_back({"", 0, 0, option_of(entry.name), std::string(entry.help), "nothing"});
    if (text == nullptr || entry.key.empty()) return;
    const std::size_t index = *find_field(entry.key);
    const Field& field = fields()[index];
    Result<Value> value = parse_scalar(field, *text);
    if (!value) {
      errors_.push_back({"", 0, 0, option_of(entry.name), expectation(field), "\"" + *text + "\""});
      return;
    }
    field.set(out_.gpu, *value);
    out_.provenance[index] = given(entry);
    given_[index] = true;
  }

  void scale(const Scaling& rule) {
    const std::size_t index = *find_field(rule.key);
    if (given_[index]) return;
    const Field& field = fields()[index];
    const double value = std::clamp(rule.value(relative_.gpu, out_.gpu), field.low, field.high);
    field.set(out_.gpu, Value{field.kind == Kind::count ? std::round(value) : rounded(value)});
    out_.provenance[index] = derived(std::string(rule.how) + ", as on the");
  }

  // GeForce parts add in f32 at half rate: the data sheet's peak tells.
  void take_tensor_rate() {
    const std::string* text = text_of(sheet_, "tensor_tflops");
    const double full = f16_macs(out_.gpu.sm) * 2 * out_.gpu.sms * out_.gpu.clock.boost.value * 1e-12;
    if (text == nullptr || full == 0) return;
    const std::size_t index = *find_field("sm.tensor.f32_accumulate_slowdown");
    const Field& field = fields()[index];
    Field rate = field;
    rate.low = full / field.high, rate.high = 1e6;
    const Result<Value> peak = parse_scalar(rate, *text);
    if (!peak) {
      errors_.push_back({"", 0, 0, "--tensor-tflops", fmt::format("a number of TFLOP/s from {:.4g} on", rate.low),
                         "\"" + *text + "\""});
      return;
    }
    const double slowdown = std::round(full / std::get<double>(*peak));
    if (slowdown <= 1) return;
    field.set(out_.gpu, Value{slowdown});
    const std::string how =
        fmt::format("{} of {:.4g} TFLOP/s that {} SMs have at the boost clock", *text, full, out_.gpu.sms);
    out_.provenance[index] = {"", {}, "DERIVED: " + how, "", ""};
  }

  void check() {
    for (const Rule& rule : rules()) {
      if (rule.holds(out_.gpu)) continue;
      const std::size_t index = *find_field(rule.keys.front());
      const Field& field = fields()[index];
      const auto entry = std::ranges::find(entries, rule.keys.front(), &SheetEntry::key);
      const std::string key = entry != entries.end() ? option_of(entry->name) : std::string(rule.keys.front());
      std::string found = format_value(field, field.get(out_.gpu));
      if (!given_[index]) {  // nobody wrote it
        found += ", which was not given but derived: " + out_.provenance[index].guess;
        if (entry != entries.end()) found += " (" + key + " says otherwise)";
      }
      errors_.push_back({"", 0, 0, key, std::string(rule.sentence), std::move(found)});
    }
  }

  const Sheet& sheet_;
  SourcedGpu relative_, out_;
  std::vector<bool> given_ = std::vector<bool>(fields().size());
  Diagnostics errors_;
};

}  // namespace

std::span<const SheetEntry> sheet_entries() { return entries; }

std::string sheet_template() {
  std::string text =
      "# The numbers of a data sheet, for `noteg arch new FILE --out my-gpu.yaml`.\n"
      "# What begins with '#' may be left out and is then derived from a measured board of the generation.\n";
  for (const SheetEntry& entry : entries) {
    const std::string line = fmt::format("{}{}: {}", entry.required ? "" : "# ", entry.name, entry.example);
    text += fmt::format("{:<28}  # {}\n", line, entry.help);
  }
  return text;
}

Result<Sheet> read_sheet(const std::string& path) {
  const Result<YamlDocument> document = read_yaml_file(path);
  if (!document) return document.errors();
  Diagnostics errors;
  YamlMapping top(document->file, document->root, "", errors);
  Sheet sheet;
  for (const SheetEntry& entry : entries) {
    if (!top.has(entry.name)) continue;
    if (const std::optional<std::string> text = top.text(entry.name)) sheet.emplace_back(entry.name, *text);
  }
  top.report_unknown();
  if (!errors.empty()) return errors;
  return sheet;
}

Result<SourcedGpu> gpu_of_sheet(const Sheet& sheet) {
  const std::string* base = text_of(sheet, "from");
  const auto found = std::ranges::find(relatives, base != nullptr ? std::string_view(*base) : "", &Relative::base);
  if (found == relatives.end())
    return Diagnostic{
        "", 0, 0, "--from", "sm_80, sm_86, sm_89 or sm_90", base != nullptr ? "\"" + *base + "\"" : "nothing"};
  Result<SourcedGpu> relative = load_sourced_gpu(found->id);
  if (!relative) return relative.errors();
  return Maker(sheet, std::move(*relative)).make();
}

}  // namespace noteg::arch
