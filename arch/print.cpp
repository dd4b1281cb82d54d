#include "arch/print.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "arch/field.hpp"
#include "sim/support/csv.hpp"

namespace noteg::arch {

namespace {

using Json = nlohmann::ordered_json;

struct ListRow {
  std::string id;
  std::optional<GpuSpec> gpu;
  std::string mistake;
};

std::vector<ListRow> list_rows() {
  std::vector<ListRow> rows;
  for (const std::string& id : list_gpu_ids()) {
    Result<GpuSpec> gpu = load_gpu(id);
    if (gpu) {
      rows.push_back({id, std::move(*gpu), {}});
    } else {
      rows.push_back({id, std::nullopt, gpu.errors().front().to_string()});
    }
  }
  return rows;
}

// FMA counts as two.
double fp32_tflops(const GpuSpec& gpu) {
  return gpu.sms * gpu.sm.sub_cores * gpu.sm.pipes.fma.lanes * 2.0 * gpu.clock.boost.value / 1e12;
}

// How far the value can be trusted, in one word.
std::string_view mark_of(const Field& field, const Provenance& from) {
  if (!field.needs_source()) return "";
  if (!from.fitted.empty()) return "fitted";
  if (!from.guess.empty()) return "guess";
  return "source";
}

std::string_view unit_name(const Field& field) { return field.has_unit() ? base_text(field.unit) : ""; }

Json json_of(const Value& value) {
  return std::visit(
      [](const auto& v) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, double>) {
          // Integers without a decimal point, as they stand in the files.
          if (v == static_cast<double>(static_cast<long long>(v))) return static_cast<long long>(v);
        }
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<NamedEnergy>>) {
          Json table = Json::object();
          for (const NamedEnergy& one : v) table[one.name] = one.energy.value;
          return table;
        } else if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<TensorFormSpec>>) {
          Json table = Json::object();
          for (const TensorFormSpec& one : v)
            table[one.name] = {{"latency", one.latency.value}, {"interval", one.interval.value}};
          return table;
        } else {
          return v;
        }
      },
      value);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string list_text(const ValidatedGpus& validated) {
  constexpr std::size_t columns = 10, words = 2;  // the first ones, which begin where their column does
  using Cells = std::array<std::string, columns>;
  std::vector<Cells> lines{{"id", "base", "SMs", "boost", "L2", "memory", "type", "GB/s", "FP32", "error (rows)"}};
  const std::vector<ListRow> rows = list_rows();
  for (const ListRow& row : rows) {
    if (!row.gpu) continue;
    const GpuSpec& gpu = *row.gpu;
    const auto known = validated.find(row.id);
    const std::string error =
        known == validated.end() ? "-" : fmt::format("{:.1f} % ({})", 100 * known->second.mape, known->second.rows);
    lines.push_back({row.id, gpu.sm.name, std::to_string(gpu.sms), format_quantity(gpu.clock.boost),
                     format_quantity(gpu.l2.size), format_quantity(gpu.dram.size), gpu.dram.type,
                     fmt::format("{:.0f}", gpu.dram.bandwidth.value / 1e9), fmt::format("{:.1f}", fp32_tflops(gpu)),
                     error});
  }
  std::array<std::size_t, columns> widths{};
  for (const Cells& cells : lines)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], cells[i].size());
  std::string out;
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < columns; ++i)
      out += i < words ? fmt::format("{:<{}}  ", cells[i], widths[i])
                       : fmt::format("{:>{}}{}", cells[i], widths[i], i + 1 < columns ? "  " : "\n");
  }
  for (const ListRow& row : rows)
    if (!row.gpu) out += fmt::format("{:<{}}  cannot be loaded: {}\n", row.id, widths.front(), row.mistake);
  return out + "FP32: peak at the boost clock in TFLOP/s. error: mean of |predicted / measured - 1| of the time.\n";
}

std::string list_json(const ValidatedGpus& validated) {
  Json gpus = Json::array();
  for (const ListRow& row : list_rows()) {
    Json entry{{"id", row.id}};
    if (row.gpu) {
      const GpuSpec& gpu = *row.gpu;
      entry.update({{"name", gpu.name},
                    {"names", gpu.names},
                    {"chip", gpu.chip},
                    {"base", gpu.sm.name},
                    {"compute_capability", gpu.sm.compute_capability},
                    {"sms", gpu.sms},
                    {"clock_boost_mhz", gpu.clock.boost.value / 1e6},
                    {"l2_bytes", gpu.l2.size.value},
                    {"dram_type", gpu.dram.type},
                    {"dram_bytes", gpu.dram.size.value},
                    {"dram_bandwidth_gb_per_s", gpu.dram.bandwidth.value / 1e9},
                    {"fp32_tflops", fp32_tflops(gpu)},
                    {"file", gpu.file}});
      if (const auto known = validated.find(row.id); known != validated.end())
        entry["validated"] = {{"time_mape", known->second.mape}, {"rows", known->second.rows}};
      else
        entry["validated"] = nullptr;
    } else {
      entry["error"] = row.mistake;
    }
    gpus.push_back(std::move(entry));
  }
  return Json{{"gpus", std::move(gpus)}}.dump(2) + "\n";
}

std::string list_csv(const ValidatedGpus& validated) {
  std::string out =
      "id,name,chip,base,sms,clock_boost_mhz,l2_bytes,dram_type,dram_bytes,dram_bandwidth_gb_per_s,fp32_tflops,"
      "validated_time_mape,validated_rows\n";
  for (const ListRow& row : list_rows()) {
    if (!row.gpu) continue;
    const GpuSpec& gpu = *row.gpu;
    const auto known = validated.find(row.id);
    const std::string error =
        known == validated.end() ? "," : fmt::format("{},{}", known->second.mape, known->second.rows);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.id), csv_field(gpu.name),
                       csv_field(gpu.chip), csv_field(gpu.sm.name), gpu.sms, gpu.clock.boost.value / 1e6,
                       gpu.l2.size.value, csv_field(gpu.dram.type), gpu.dram.size.value, gpu.dram.bandwidth.value / 1e9,
                       fp32_tflops(gpu), error);
  }
  return out;
}

std::string show_text(const SourcedGpu& sourced) {
  const GpuSpec& gpu = sourced.gpu;
  std::string out = fmt::format("{} ({}), chip {}, base {}\nfile   {}\nnames  {}\n\n", gpu.name, gpu.id, gpu.chip,
                                gpu.sm.name, gpu.file, joined(gpu.names));
  std::size_t key_width = 0;
  for (const Field& field : fields()) key_width = std::max(key_width, field.key.size());
  for (std::size_t i = 0; i < fields().size(); ++i) {
    const Field& field = fields()[i];
    if (field.optional && sourced.provenance[i].is_absent()) continue;
    const std::string value = format_value(field, field.get(gpu));
    out += fmt::format("{:<{}}  {:<14}  {}\n", field.key, key_width, value, sourced.provenance[i].to_string());
    // A text has no origin to show; trailing blanks would differ between editors.
    while (out.size() > 1 && out[out.size() - 2] == ' ') out.erase(out.size() - 2, 1);
  }
  return out;
}

std::string show_json(const SourcedGpu& sourced) {
  const GpuSpec& gpu = sourced.gpu;
  Json out{{"id", gpu.id},     {"name", gpu.name},    {"names", gpu.names},
           {"chip", gpu.chip}, {"base", gpu.sm.name}, {"file", gpu.file}};
  Json& all = out["fields"] = Json::object();
  for (std::size_t i = 0; i < fields().size(); ++i) {
    const Field& field = fields()[i];
    const Provenance& from = sourced.provenance[i];
    if (field.optional && from.is_absent()) continue;
    Json entry{{"value", json_of(field.get(gpu))}};
    if (!unit_name(field).empty()) entry["unit"] = unit_name(field);
    if (!from.source.empty()) entry["source"] = from.source;
    if (!from.fitted.empty()) entry["fitted"] = from.fitted;
    if (!from.guess.empty()) entry["guess"] = from.guess;
    all[std::string(field.key)] = std::move(entry);
  }
  return out.dump(2) + "\n";
}

std::string show_csv(const SourcedGpu& sourced) {
  std::string out = "key,value,unit,mark,origin\n";
  for (std::size_t i = 0; i < fields().size(); ++i) {
    const Field& field = fields()[i];
    if (field.optional && sourced.provenance[i].is_absent()) continue;
    const Value value = field.get(sourced.gpu);
    const Json json = json_of(value);
    const std::string text = json.is_string() ? json.get<std::string>() : json.dump();
    out += fmt::format("{},{},{},{},{}\n", field.key, csv_field(text), unit_name(field),
                       mark_of(field, sourced.provenance[i]), csv_field(sourced.provenance[i].to_string()));
  }
  return out;
}

std::string check_text(const FileSummary& summary) {
  return fmt::format("{}: no mistakes; {} file, {} numbers: {} sourced, {} fitted (at most {}), {} guessed\n",
                     summary.file, summary.gpu ? "GPU" : "SM base", summary.numbers, summary.sourced, summary.fitted,
                     summary.gpu ? max_fitted_per_gpu : max_fitted_per_sm, summary.guessed);
}

std::string check_json(const FileSummary& summary) {
  return Json{{"file", summary.file},       {"kind", summary.gpu ? "gpu" : "sm_base"},
              {"numbers", summary.numbers}, {"sourced", summary.sourced},
              {"fitted", summary.fitted},   {"guessed", summary.guessed}}
             .dump(2) +
         "\n";
}

namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string value_text(const Field& field, const Value& value) {
  Field one = field;
  one.kind = Kind::quantity;
  if (const auto* sizes = std::get_if<std::vector<double>>(&value)) {
    std::vector<std::string> items;
    for (const double size : *sizes) items.push_back(format_value(one, Value{size}));
    return "[" + list_of(items) + "]";
  }
  if (const auto* energies = std::get_if<std::vector<NamedEnergy>>(&value)) {
    std::vector<std::string> items;
    for (const NamedEnergy& energy : *energies)
      items.push_back(energy.name + ": " + format_value(one, Value{energy.energy.value}));
    return "{" + list_of(items) + "}";
  }
  if (const auto* forms = std::get_if<std::vector<TensorFormSpec>>(&value)) {
    std::vector<std::string> items;
    for (const TensorFormSpec& form : *forms)
      items.push_back(fmt::format("{}: {{latency: {}, interval: {}}}", form.name,
                                  format_value(one, Value{form.latency.value}),
                                  format_value(one, Value{form.interval.value})));
    return "{" + list_of(items) + "}";
  }
  return format_value(field, value);
}

std::string entry_text(const Field& field, const Value& value, const Provenance& from) {
  if (!field.needs_source()) return in_quotes(std::get<std::string>(value));
  std::vector<std::string> parts{"value: " + value_text(field, value)};
  if (!from.fitted.empty()) parts.push_back("fitted: " + in_quotes(from.fitted));
  if (!from.guess.empty()) parts.push_back("guess: " + in_quotes(from.guess));
  if (!from.source.empty()) parts.push_back("source: " + in_quotes(from.source));
  return "{" + list_of(parts) + "}";
}

std::vector<std::string_view> split(std::string_view key) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = key.find('.');
    parts.push_back(key.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    key.remove_prefix(dot + 1);
  }
}

// Keys below each other as nested sections; a section is opened where the key before was not in it.
class Sections {
 public:
  void add(std::string_view key, const std::string& entry) {
    const std::vector<std::string_view> parts = split(key);
    std::size_t shared = 0;
    while (shared + 1 < parts.size() && shared < open_.size() && open_[shared] == parts[shared]) ++shared;
    open_.assign(parts.begin(), parts.end() - 1);
    for (std::size_t i = shared; i + 1 < parts.size(); ++i) text_ += fmt::format("{:{}}{}:\n", "", 2 * i, parts[i]);
    text_ += fmt::format("{:{}}{}: {}\n", "", 2 * (parts.size() - 1), parts.back(), entry);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string_view> open_;
};

}  // namespace

std::string to_yaml(const SourcedGpu& sourced, const std::string& comment) {
  const GpuSpec& gpu = sourced.gpu;
  std::string text;
  for (std::size_t begin = 0; begin < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size());
    text += "# " + comment.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  std::vector<std::string> names;
  for (const std::string& name : gpu.names) names.push_back(in_quotes(name));
  text += fmt::format("base: {}\nname: {}\nnames: [{}]\nchip: {}\n", gpu.sm.name, in_quotes(gpu.name), list_of(names),
                      in_quotes(gpu.chip));
  Sections sections;
  for (std::size_t i = 0; i < fields().size(); ++i) {
    const Field& field = fields()[i];
    const Provenance& from = sourced.provenance[i];
    if (field.optional && from.is_absent() && from.source.empty() && from.guess.empty()) continue;
    if (from.file == gpu.file || from.file.empty()) sections.add(field.key, entry_text(field, field.get(gpu), from));
  }
  return text + sections.text();
}

}  // namespace noteg::arch
