#include "arch/read_spec.hpp"

#include <algorithm>
#include <set>

namespace noteg::arch {
namespace {

// The next component of key below prefix ("l2" of "l2.size" below ""), or empty where key is not below prefix.
std::string_view component(std::string_view key, std::string_view prefix) {
  if (!prefix.empty()) {
    if (!key.starts_with(prefix) || key.size() <= prefix.size() || key[prefix.size()] != '.') return {};
    key.remove_prefix(prefix.size() + 1);
  }
  return key.substr(0, key.find('.'));
}

class FileReader {
 public:
  FileReader(PartialSpec& spec, Diagnostics& errors) : spec_(&spec), errors_(&errors) {}

  // Reads all keys below the mapping's path. complete: absent keys are errors.
  void read_section(YamlMapping& mapping, bool complete) {
    const std::string prefix = mapping.path_of("");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < fields().size(); ++i) {
      const Field& field = fields()[i];
      const std::string_view name = component(field.key, prefix);
      if (name.empty() || !seen.insert(name).second) continue;
      const std::string path = mapping.path_of(name);
      if (path == field.key) {
        read_field(mapping, name, i, complete);
      } else if (path != "sm") {  // the SM section has rules of its own
        if ((!complete || field.optional) && !mapping.has(name)) continue;
        std::optional<YamlMapping> section = mapping.mapping(name);
        if (section) read_section(*section, complete);
      }
    }
    if (!prefix.empty()) mapping.report_unknown();
  }

  // At most `most` numbers of this file may be fitted.
  void check_fitted(const YamlDocument& document, int most) {
    if (fitted_ <= most) return;
    errors_->push_back(
        {document.file, 1, 1, "", "at most " + std::to_string(most) + " fitted numbers", std::to_string(fitted_)});
  }

 private:
  // An optional key may be missing beside others that may not; where all of a section are optional, the section may.
  static bool may_be_missing(const Field& field) {
    const std::string_view section = std::string_view(field.key).substr(0, field.key.rfind('.') + 1);
    return field.optional && std::ranges::any_of(fields(), [&](const Field& other) {
             return !other.optional && std::string_view(other.key).starts_with(section);
           });
  }

  // What a field expects is put into words where it is missing only.
  static const YamlNode* required(YamlMapping& mapping, std::string_view name, const Field& field) {
    const YamlNode* node = mapping.optional(name);
    return node != nullptr ? node : mapping.required(name, expectation(field));
  }

  void read_field(YamlMapping& mapping, std::string_view name, std::size_t index, bool complete) {
    const Field& field = fields()[index];
    const YamlNode* node = complete && !may_be_missing(field) ? required(mapping, name, field) : mapping.optional(name);
    if (node == nullptr) return;
    if (!field.needs_source()) {
      const std::optional<std::string> text = mapping.text(name);
      if (text) keep(index, Value{*text}, {mapping.file(), node->position, {}, {}, {}});
      return;
    }
    if (!node->is_mapping()) {
      mapping.report(*node, name, "{value: ..., source: ...}", node->describe());
      return;
    }
    YamlMapping number(mapping.file(), *node, mapping.path_of(name), *errors_);
    const std::optional<Value> value = read_value(number, field);
    const std::optional<Provenance> provenance = read_provenance(number, *node);
    number.report_unknown();
    if (value && provenance) keep(index, *value, *provenance);
  }

  std::optional<Value> read_value(YamlMapping& number, const Field& field) {
    const YamlNode* node = required(number, "value", field);
    if (node == nullptr) return std::nullopt;
    if (field.kind == Kind::sizes) return read_sizes(number, *node, field);
    if (field.kind == Kind::energies) return read_energies(number, *node, field);
    if (field.kind == Kind::forms) return read_forms(number, *node, field);
    if (!node->is_scalar()) {
      number.report(*node, "", expectation(field), node->describe());
      return std::nullopt;
    }
    return read_scalar(number, *node, field);
  }

  std::optional<Value> read_scalar(YamlMapping& number, const YamlNode& node, const Field& field) {
    Result<Value> value = parse_scalar(field, node.text);
    if (value) return *value;
    number.report(node, "", value.errors().front().expected, value.errors().front().found);
    return std::nullopt;
  }

  std::optional<Value> read_sizes(YamlMapping& number, const YamlNode& node, const Field& field) {
    if (!node.is_sequence() || node.items.empty()) {
      number.report(node, "", expectation(field), node.is_sequence() ? "an empty sequence" : node.describe());
      return std::nullopt;
    }
    std::vector<double> sizes;
    for (const YamlNode& item : node.items) {
      if (!item.is_scalar()) {
        number.report(item, "", expectation(field), item.describe() + " in it");
        continue;
      }
      if (const std::optional<Value> size = read_scalar(number, item, field)) sizes.push_back(std::get<double>(*size));
    }
    if (sizes.size() != node.items.size()) return std::nullopt;
    return Value{sizes};
  }

  // An empty table is allowed: a generation of which no form was measured.
  std::optional<Value> read_energies(YamlMapping& number, const YamlNode& node, const Field& field) {
    if (!node.is_mapping()) {
      number.report(node, "", expectation(field), node.describe());
      return std::nullopt;
    }
    const YamlMapping repeated_keys(number.file(), node, number.path_of("value"), *errors_);  // reports them
    std::vector<NamedEnergy> energies;
    for (const YamlEntry& entry : node.entries) {
      if (!entry.value.is_scalar()) {
        number.report(entry.value, entry.key, expectation(field), entry.value.describe());
        continue;
      }
      if (const std::optional<Value> energy = read_scalar(number, entry.value, field))
        energies.push_back({entry.key, Joules{std::get<double>(*energy)}});
    }
    if (energies.size() != node.entries.size()) return std::nullopt;
    return Value{energies};
  }

  // An empty table is allowed: a generation without such instructions.
  std::optional<Value> read_forms(YamlMapping& number, const YamlNode& node, const Field& field) {
    if (!node.is_mapping()) {
      number.report(node, "", expectation(field), node.describe());
      return std::nullopt;
    }
    const YamlMapping repeated_keys(number.file(), node, number.path_of("value"), *errors_);  // reports them
    const std::size_t before = errors_->size();
    std::vector<TensorFormSpec> forms;
    for (const YamlEntry& entry : node.entries) {
      if (!entry.value.is_mapping()) {
        number.report(entry.value, entry.key, expectation(field), entry.value.describe());
        continue;
      }
      YamlMapping times(number.file(), entry.value, number.path_of("value") + "." + entry.key, *errors_);
      const auto cycles = [&](std::string_view key) {
        const YamlNode* time = required(times, key, field);
        if (time == nullptr) return Cycles{};
        if (!time->is_scalar()) {
          times.report(*time, key, expectation(field), time->describe());
          return Cycles{};
        }
        const std::optional<Value> value = read_scalar(times, *time, field);
        return value ? Cycles{std::get<double>(*value)} : Cycles{};
      };
      const Cycles latency = cycles("latency");
      forms.push_back({entry.key, latency, cycles("interval")});
      times.report_unknown();
    }
    if (errors_->size() > before) return std::nullopt;
    return Value{forms};
  }

  std::optional<Provenance> read_provenance(YamlMapping& number, const YamlNode& node) {
    Provenance provenance{number.file(), node.position, {}, {}, {}};
    const std::size_t before = errors_->size();
    for (const auto& [key, text] : {std::pair{"source", &provenance.source}, std::pair{"fitted", &provenance.fitted},
                                    std::pair{"guess", &provenance.guess}}) {
      if (number.has(key)) *text = number.text(key).value_or("");
    }
    if (number.has("fitted")) ++fitted_;
    read_what_is_left(number, node);
    if (errors_->size() > before) return std::nullopt;
    if (provenance.source.empty() && provenance.fitted.empty() && provenance.guess.empty()) {
      number.report(node, "", "a source (or fitted: or guess:) beside the value", "none");
    } else if (!provenance.fitted.empty() && !provenance.guess.empty()) {
      number.report(node, "", "either fitted: or guess:", "both");
    } else if (const auto wrong = provenance.source.empty() ? std::nullopt : wrong_source(provenance.source)) {
      number.report(*number.optional("source"), "source", "a known source key in front, such as WP or MICRO25", *wrong);
    }
    if (errors_->size() > before) return std::nullopt;
    return provenance;
  }

  // on: the GPUs whose rows a number was fitted on; without: what it is if these are left out.
  static void read_what_is_left(YamlMapping& number, const YamlNode& node) {
    const bool has_on = number.has("on"), has_without = number.has("without");
    if (!has_on && !has_without) return;
    if (!number.has("fitted"))
      number.report(node, has_on ? "on" : "without", "fitted: beside it", "none");
    else if (has_on != has_without)
      number.report(node, has_on ? "without" : "on", "on: [GPU] and without: VALUE together", "one of them");
    if (has_on && number.texts("on").value_or(std::vector<std::string>{}).empty())
      number.report(node, "on", "a sequence of GPUs", "none");
    if (has_without) (void)number.optional("without");
  }

  void keep(std::size_t index, const Value& value, Provenance provenance) {
    fields()[index].set(spec_->gpu, value);
    spec_->known[index] = true;
    spec_->provenance[index] = std::move(provenance);
  }

  PartialSpec* spec_;
  Diagnostics* errors_;
  int fitted_ = 0;
};

}  // namespace

PartialSpec::PartialSpec() : known(fields().size()), provenance(fields().size()) {}

bool is_gpu_file(const YamlDocument& document) {
  // Chip keys without a base are a GPU file too: one whose base is missing.
  return document.root.find("base") != nullptr || document.root.find("sms") != nullptr ||
         document.root.find("names") != nullptr;
}

void read_sm_file(const YamlDocument& document, PartialSpec& spec, Diagnostics& errors) {
  YamlMapping top(document.file, document.root, "", errors);
  FileReader reader(spec, errors);
  std::optional<YamlMapping> sm = top.mapping("sm");
  if (sm) reader.read_section(*sm, true);
  top.report_unknown();
  reader.check_fitted(document, max_fitted_per_sm);
}

void read_gpu_file(const YamlDocument& document, PartialSpec& spec, Diagnostics& errors) {
  YamlMapping top(document.file, document.root, "", errors);
  spec.base = top.text("base").value_or("");
  spec.gpu.name = top.text("name").value_or("");
  spec.gpu.names = top.texts("names").value_or(std::vector<std::string>{});
  spec.gpu.chip = top.text("chip").value_or("");
  FileReader reader(spec, errors);
  reader.read_section(top, true);
  if (top.has("sm")) {
    std::optional<YamlMapping> sm = top.mapping("sm");
    if (sm) reader.read_section(*sm, false);
  }
  top.report_unknown();
  reader.check_fitted(document, max_fitted_per_gpu);
}

}  // namespace noteg::arch
