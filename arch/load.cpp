#include "arch/load.hpp"

#include <algorithm>
#include <filesystem>

#include "arch/field.hpp"
#include "arch/read_spec.hpp"
#include "sim/support/text.hpp"

namespace noteg::arch {
namespace {

void append(Diagnostics& errors, const Diagnostics& more) { errors.insert(errors.end(), more.begin(), more.end()); }

// The base is read before the GPU file, so that what the GPU file writes under sm: wins.
void read_base(const std::string& base, const YamlDocument& gpu_file, PartialSpec& spec, Diagnostics& errors) {
  Result<std::filesystem::path> path = find_base_file(base, gpu_file.file);
  if (!path) {
    Diagnostic error = path.errors().front();
    const YamlPosition at = gpu_file.root.find("base")->position;
    error.file = gpu_file.file;
    error.line = at.line;
    error.column = at.column;
    errors.push_back(std::move(error));
    return;
  }
  Result<YamlDocument> document = read_yaml_file(*path);
  if (!document) return append(errors, document.errors());
  read_sm_file(*document, spec, errors);
}

PartialSpec read_gpu(const YamlDocument& document, Diagnostics& errors) {
  PartialSpec spec;
  const YamlNode* base = document.root.find("base");
  if (base != nullptr && base->is_scalar() && !base->text.empty()) read_base(base->text, document, spec, errors);
  read_gpu_file(document, spec, errors);
  spec.gpu.sm.name = spec.base;
  spec.gpu.file = document.file;
  spec.gpu.shipped = is_shipped(document.file);
  spec.gpu.id = to_lower(std::filesystem::path(document.file).stem().string());
  return spec;
}

// f16_f32=1.6 pJ,s8_s32=0.5 pJ
Result<Value> parse_energies(const Field& field, std::string_view text) {
  std::vector<NamedEnergy> energies;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return Diagnostic{"", 0, 0, "", "NAME=ENERGY, separated by commas", "\"" + std::string(item) + "\""};
    Result<Value> energy = parse_scalar(field, item.substr(equals + 1));
    if (!energy) return energy.errors();
    energies.push_back({std::string(item.substr(0, equals)), Joules{std::get<double>(*energy)}});
  }
  return Value{energies};
}

// m16n8k16_f16_f32=24/8 cycles,m16n8k8_f16_f32=17/4 cycles: latency, then interval
Result<Value> parse_forms(const Field& field, std::string_view text) {
  std::vector<TensorFormSpec> forms;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t equals = item.find('=');
    const std::size_t slash = item.find('/');
    if (equals == std::string_view::npos || equals == 0 || slash == std::string_view::npos || slash < equals)
      return Diagnostic{
          "", 0, 0, "", "FORM=LATENCY/INTERVAL cycles, separated by commas", "\"" + std::string(item) + "\""};
    Result<Value> interval = parse_scalar(field, item.substr(slash + 1));
    Result<Value> latency = parse_scalar(field, std::string(item.substr(equals + 1, slash - equals - 1)) + " cycles");
    if (!latency) return latency.errors();
    if (!interval) return interval.errors();
    forms.push_back(
        {std::string(item.substr(0, equals)), Cycles{std::get<double>(*latency)}, Cycles{std::get<double>(*interval)}});
  }
  return Value{forms};
}

Result<Value> parse_override(const Field& field, std::string_view text) {
  if (field.kind == Kind::energies) return parse_energies(field, text);
  if (field.kind == Kind::forms) return parse_forms(field, text);
  if (field.kind != Kind::sizes) return parse_scalar(field, text);
  std::vector<double> sizes;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    Result<Value> size = parse_scalar(field, item);
    if (!size) return size.errors();
    sizes.push_back(std::get<double>(*size));
    if (comma == std::string_view::npos) return Value{sizes};
    text.remove_prefix(comma + 1);
  }
}

std::string nearest_field(std::string_view key) {
  std::vector<std::string> keys;
  for (const Field& field : fields()) keys.emplace_back(field.key);
  const std::vector<std::string> near = nearest_names(key, keys, 2);
  return near.empty() ? "" : " (did you mean " + join_or(near) + "?)";
}

void apply(const std::pair<std::string, std::string>& override, PartialSpec& spec, Diagnostics& errors) {
  std::string_view key = override.first;
  if (key.starts_with("arch.")) key.remove_prefix(5);
  const std::string shown = "--set arch." + std::string(key);
  const std::optional<std::size_t> index = find_field(key);
  if (!index) {
    errors.push_back({"", 0, 0, shown, "a key of an architecture file", "an unknown one" + nearest_field(key)});
    return;
  }
  const Field& field = fields()[*index];
  Result<Value> value = parse_override(field, override.second);
  if (!value) {
    for (Diagnostic error : value.errors()) {
      error.key = shown;
      errors.push_back(std::move(error));
    }
    return;
  }
  if (!spec.known[*index] || field.get(spec.gpu) != *value) spec.gpu.changed.emplace_back(field.key);
  field.set(spec.gpu, *value);
  spec.known[*index] = true;
  spec.provenance[*index] = {"--set", {}, "", "", "set on the command line"};
}

}  // namespace

Result<SourcedGpu> load_sourced_gpu(std::string_view name_or_path, const Overrides& overrides) {
  Result<std::filesystem::path> path = find_gpu_file(name_or_path);
  if (!path) return path.errors();
  Result<YamlDocument> document = read_yaml_file(*path);
  if (!document) return document.errors();
  Diagnostics errors;
  PartialSpec spec = read_gpu(*document, errors);
  for (const auto& override : overrides) apply(override, spec, errors);
  check_rules(spec, errors);
  if (!errors.empty()) return errors;
  return SourcedGpu{std::move(spec.gpu), std::move(spec.provenance)};
}

Result<GpuSpec> load_gpu(std::string_view name_or_path, const Overrides& overrides) {
  Result<SourcedGpu> loaded = load_sourced_gpu(name_or_path, overrides);
  if (!loaded) return loaded.errors();
  return std::move(loaded->gpu);
}

Result<std::filesystem::path> base_file_of(const std::string& gpu_file) {
  const Result<YamlDocument> document = read_yaml_file(gpu_file);
  if (!document) return document.errors();
  const YamlNode* base = document->root.find("base");
  if (base == nullptr || !base->is_scalar())
    return Diagnostic{gpu_file, 0, 0, "base", "the file of an SM generation", "none"};
  return find_base_file(base->text, gpu_file);
}

std::vector<std::string> list_gpu_ids() {
  std::vector<std::string> ids;
  for (KnownGpu& gpu : known_gpus()) ids.push_back(std::move(gpu.id));
  return ids;
}

Result<FileSummary> check_file(const std::string& name_or_path) {
  const Result<std::filesystem::path> known = find_gpu_file(name_or_path);
  const std::string path = known ? known->string() : name_or_path;
  Result<YamlDocument> document = read_yaml_file(path);
  if (!document) return document.errors();
  Diagnostics errors;
  FileSummary summary{path, is_gpu_file(*document)};
  PartialSpec spec;
  if (summary.gpu) {
    spec = read_gpu(*document, errors);
  } else {
    read_sm_file(*document, spec, errors);
  }
  check_rules(spec, errors);
  if (!errors.empty()) return errors;
  for (std::size_t i = 0; i < fields().size(); ++i) {
    const Provenance& from = spec.provenance[i];
    if (!spec.known[i] || !fields()[i].needs_source() || from.file != document->file) continue;
    ++summary.numbers;
    if (!from.fitted.empty())
      ++summary.fitted;
    else if (!from.guess.empty())
      ++summary.guessed;
    else
      ++summary.sourced;
  }
  return summary;
}

}  // namespace noteg::arch
