#include "arch/load.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::arch {
namespace {

namespace fs = std::filesystem;

bool looks_like_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

// Names as written in a file; a file that cannot be read has none here, and tells why when it is asked for by id.
std::vector<std::string> names_in(const fs::path& file) {
  std::vector<std::string> names;
  const Result<YamlDocument> document = read_yaml_file(file);
  if (!document) return names;
  if (const YamlNode* name = document->root.find("name")) names.push_back(name->text);
  if (const YamlNode* list = document->root.find("names")) {
    for (const YamlNode& item : list->items) names.push_back(item.text);
  }
  return names;
}

// A name without what people leave out or write in their own way: case, the maker, spaces and dashes.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : to_lower(name))
    if (c != ' ' && c != '-' && c != '_') text += c;
  for (const std::string_view maker : {"nvidia", "tesla", "geforce"})
    if (text.starts_with(maker) && text.size() > maker.size()) text.erase(0, maker.size());
  return text;
}

// The id, then the names: of names that are one in plain form the first.
std::vector<std::string> all_names(const KnownGpu& gpu) {
  std::vector<std::string> names{gpu.id};
  for (std::string& name : names_in(gpu.file)) names.push_back(std::move(name));
  return names;
}

Diagnostic unknown_gpu(std::string_view name, std::string found) {
  return {"", 0, 0, "--arch " + std::string(name.substr(0, 60)), "a known GPU or the path of a file", std::move(found)};
}

// Products that people ask for, of generations whose SMs are not modelled.
std::optional<std::string_view> not_modelled(const std::string& plain_name) {
  constexpr std::string_view turing =
      "sm_75 (Turing) is not modelled: no asynchronous copies, tensor cores of 8 values a step, and no measured rows "
      "here to judge it by; the nearest that is: a10 or rtx3060 of sm_86";
  constexpr std::string_view volta =
      "sm_70 (Volta) is not modelled: tensor instructions of four threads (m8n8k4), no ldmatrix, no asynchronous "
      "copies, and no measured rows here to judge it by; the nearest that is: a100-pcie-40gb of sm_80";
  for (const std::string_view name : {"t4", "t4g", "rtx2080ti", "rtx2080", "rtx2070", "rtx2060", "quadrortx8000",
                                      "quadrortx6000", "titanrtx", "t1000"})
    if (plain_name == name) return turing;
  if (plain_name.starts_with("v100") || plain_name == "titanv" || plain_name == "gv100") return volta;
  return std::nullopt;
}

std::vector<std::string> names_to_suggest(const std::vector<KnownGpu>& gpus) {
  std::vector<std::string> suggestions;
  std::set<std::string> suggested;  // RTX4070 beside rtx4070 would say the same twice
  for (const KnownGpu& gpu : gpus) {
    suggestions.push_back(gpu.id);
    suggested.insert(plain(gpu.id));
  }
  for (const KnownGpu& gpu : gpus)
    for (const std::string& name : all_names(gpu))
      if (suggested.insert(plain(name)).second) suggestions.push_back(name);
  return suggestions;
}

std::vector<fs::path> search_directories(const char* variable) {
  return search_path(variable, NOTEG_ARCH_SOURCE_DIR, "arch", {"gpus", "generations"});
}

// One GPU, or the several that the name may mean.
Result<fs::path> the_one(std::string_view name, const std::vector<const KnownGpu*>& meant) {
  if (meant.size() == 1) return meant.front()->file;
  std::vector<std::string> ids;
  for (const KnownGpu* gpu : meant) ids.push_back(gpu->id);
  return unknown_gpu(name, "one that may be " + join_or(ids));
}

}  // namespace

std::vector<fs::path> search_directories() { return search_directories("NOTEG_ARCH_PATH"); }

std::vector<KnownGpu> known_gpus() {
  std::vector<KnownGpu> gpus;
  std::set<std::string> seen;
  for (const fs::path& directory : search_directories()) {
    std::error_code failed;
    for (fs::directory_iterator file(directory, failed), end; !failed && file != end; file.increment(failed)) {
      const fs::path& path = file->path();
      const std::string id = path.stem().string();
      if (path.extension() != ".yaml" || id.starts_with("sm_") || !is_file(path)) continue;
      if (seen.insert(id).second) gpus.push_back({id, path});
    }
  }
  std::sort(gpus.begin(), gpus.end(), [](const KnownGpu& a, const KnownGpu& b) { return a.id < b.id; });
  return gpus;
}

Result<fs::path> find_gpu_file(std::string_view name_or_path) {
  if (looks_like_path(name_or_path)) {
    const fs::path given(name_or_path);
    // arch/NAME.yaml: where the shipped files lay once, which scripts still give.
    for (const char* folder : {"gpus", "generations"})
      if (const fs::path moved = given.parent_path() / folder / given.filename(); !is_file(given) && is_file(moved))
        return moved;
    return given;
  }
  const std::string id = to_lower(name_or_path), wanted = plain(name_or_path);
  const std::vector<KnownGpu> gpus = known_gpus();
  std::vector<const KnownGpu*> meant, alike;
  for (const KnownGpu& gpu : gpus)  // ids first: names are in the files, which take their time to read
    if (to_lower(gpu.id) == id) return gpu.file;
  for (const KnownGpu& gpu : gpus) {
    const std::vector<std::string> names = all_names(gpu);
    if (std::ranges::any_of(names, [&](const std::string& each) { return plain(each) == wanted; }))
      meant.push_back(&gpu);
    if (wanted.size() > 1 &&
        std::ranges::any_of(names, [&](const std::string& each) { return plain(each).starts_with(wanted); }))
      alike.push_back(&gpu);
  }
  if (!meant.empty()) return the_one(name_or_path, meant);
  if (alike.size() > 1) return the_one(name_or_path, alike);
  if (const auto why = not_modelled(wanted)) return unknown_gpu(name_or_path, std::string(*why));
  const std::vector<std::string> near = nearest_names(name_or_path, names_to_suggest(gpus), 3);
  return unknown_gpu(name_or_path, near.empty() ? "neither (`noteg arch list` shows the known ones)"
                                                : "neither (did you mean " + join_or(near) + "?)");
}

bool is_shipped(const fs::path& file) {
  std::error_code failed;
  const fs::path folder = fs::weakly_canonical(file, failed).parent_path();
  constexpr const char* no_variable = "";  // no folders of the user's
  return std::ranges::any_of(search_directories(no_variable),
                             [&](const fs::path& own) { return fs::weakly_canonical(own, failed) == folder; });
}

Result<fs::path> find_base_file(const std::string& base, const fs::path& gpu_file) {
  std::vector<fs::path> directories = search_directories();
  directories.insert(directories.begin(), gpu_file.parent_path());
  std::set<std::string> bases;
  for (const fs::path& directory : directories) {
    const fs::path file = directory / (base + ".yaml");
    if (base.find('/') == std::string::npos && is_file(file)) return file;
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
      const std::string stem = entry->path().stem().string();
      if (stem.starts_with("sm_") && entry->path().extension() == ".yaml") bases.insert(stem);
    }
  }
  Diagnostic error;
  error.key = "base";
  error.expected = "an SM generation (" + join_or({bases.begin(), bases.end()}) + ")";
  error.found = "\"" + base + "\"";
  return error;
}

}  // namespace noteg::arch
