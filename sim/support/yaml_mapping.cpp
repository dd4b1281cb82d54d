#include <algorithm>
#include <map>

#include "sim/support/text.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg {

YamlMapping::YamlMapping(std::string file, const YamlNode& node, std::string path, Diagnostics& errors)
    : file_(std::move(file)), node_(&node), path_(std::move(path)), errors_(&errors) {
  std::map<std::string_view, YamlPosition> seen;
  for (const YamlEntry& entry : node.entries) {
    const auto [first, fresh] = seen.emplace(entry.key, entry.key_position);
    if (fresh) continue;
    errors_->push_back({file_, entry.key_position.line, entry.key_position.column, path_of(entry.key), "each key once",
                        "it again (first on line " + std::to_string(first->second.line) + ")"});
  }
}

std::string YamlMapping::path_of(std::string_view key) const {
  if (key.empty()) return path_;
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void YamlMapping::report(const YamlNode& at, std::string_view key, std::string expected, std::string found) {
  errors_->push_back(
      {file_, at.position.line, at.position.column, path_of(key), std::move(expected), std::move(found)});
}

const YamlNode* YamlMapping::optional(std::string_view key) {
  known_.emplace(key);
  return node_->find(key);
}

bool YamlMapping::has(std::string_view key) { return optional(key) != nullptr; }

const YamlNode* YamlMapping::required(std::string_view key, std::string_view what) {
  const YamlNode* value = optional(key);
  if (value == nullptr) report(*node_, key, std::string(what), "no such key");
  return value;
}

const YamlNode* YamlMapping::scalar(std::string_view key, std::string_view what) {
  const YamlNode* value = required(key, what);
  if (value == nullptr || value->is_scalar()) return value;
  report(*value, key, std::string(what), value->describe());
  return nullptr;
}

std::optional<std::string> YamlMapping::text(std::string_view key) {
  const YamlNode* value = scalar(key, "a text");
  if (value == nullptr) return std::nullopt;
  if (value->text.empty()) {
    report(*value, key, "a text", "an empty one");
    return std::nullopt;
  }
  return value->text;
}

std::optional<long long> YamlMapping::integer(std::string_view key, long long low, long long high) {
  const std::string what = "an integer from " + std::to_string(low) + " to " + std::to_string(high);
  const YamlNode* value = scalar(key, what);
  if (value == nullptr) return std::nullopt;
  const std::optional<long long> number = parse_integer(value->text);
  if (number && *number >= low && *number <= high) return number;
  report(*value, key, what, value->describe());
  return std::nullopt;
}

std::optional<double> YamlMapping::number(std::string_view key, double low, double high) {
  const std::string what = "a number from " + format_number(low) + " to " + format_number(high);
  const YamlNode* value = scalar(key, what);
  if (value == nullptr) return std::nullopt;
  const std::optional<double> number = parse_number(value->text);
  if (number && *number >= low && *number <= high) return number;
  report(*value, key, what, value->describe());
  return std::nullopt;
}

std::optional<bool> YamlMapping::boolean(std::string_view key) {
  const std::optional<std::string> word = choice(key, {"true", "false"});
  if (!word) return std::nullopt;
  return *word == "true";
}

std::optional<std::string> YamlMapping::choice(std::string_view key, const std::vector<std::string>& choices) {
  const std::string what = join_or(choices);
  const YamlNode* value = scalar(key, what);
  if (value == nullptr) return std::nullopt;
  if (std::find(choices.begin(), choices.end(), value->text) != choices.end()) return value->text;
  report(*value, key, what, value->describe());
  return std::nullopt;
}

std::optional<std::vector<std::string>> YamlMapping::texts(std::string_view key) {
  const YamlNode* value = required(key, "a sequence of texts");
  if (value == nullptr) return std::nullopt;
  if (!value->is_sequence()) {
    report(*value, key, "a sequence of texts", value->describe());
    return std::nullopt;
  }
  std::vector<std::string> all;
  bool good = true;
  for (const YamlNode& item : value->items) {
    if (item.is_scalar() && !item.text.empty()) {
      all.push_back(item.text);
    } else {
      report(item, key, "a sequence of texts", item.describe() + " in it");
      good = false;
    }
  }
  if (!good) return std::nullopt;
  return all;
}

std::optional<YamlMapping> YamlMapping::mapping(std::string_view key) {
  const YamlNode* value = required(key, "a mapping");
  if (value == nullptr) return std::nullopt;
  if (!value->is_mapping()) {
    report(*value, key, "a mapping", value->describe());
    return std::nullopt;
  }
  return YamlMapping(file_, *value, path_of(key), *errors_);
}

void YamlMapping::report_unknown() {
  const std::vector<std::string> names(known_.begin(), known_.end());
  std::set<std::string_view> reported;
  for (const YamlEntry& entry : node_->entries) {
    if (known_.contains(entry.key) || !reported.insert(entry.key).second) continue;
    const bool is_told = errors_->size() < most_told;  // the search for a name takes longer than all the rest
    const std::vector<std::string> near = is_told ? nearest_names(entry.key, names, 1) : std::vector<std::string>{};
    std::string found = "an unknown key";
    if (!near.empty()) found += " (did you mean " + near.front() + "?)";
    errors_->push_back({file_, entry.key_position.line, entry.key_position.column, path_of(entry.key), "a known key",
                        std::move(found)});
  }
}

}  // namespace noteg
