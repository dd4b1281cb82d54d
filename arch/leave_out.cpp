#include "arch/leave_out.hpp"

#include <algorithm>

#include "arch/find.hpp"
#include "sim/support/nearest_name.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::arch {
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
