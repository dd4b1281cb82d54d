#include "arch/find.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "sim/support/nearest_name.hpp"
#include "sim/support/search_path.hpp"
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

}  // namespace

std::vector<fs::path> search_directories() { return search_path("NOTEG_ARCH_PATH", NOTEG_ARCH_SOURCE_DIR, "arch"); }

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
  if (looks_like_path(name_or_path)) return fs::path(name_or_path);
  const std::string wanted = to_lower(name_or_path);
  const std::vector<KnownGpu> gpus = known_gpus();
  for (const KnownGpu& gpu : gpus) {
    if (to_lower(gpu.id) == wanted) return gpu.file;
  }
  std::vector<std::string> candidates;
  std::set<std::string> suggested;  // RTX4070 beside rtx4070 would say the same twice
  for (const KnownGpu& gpu : gpus) {
    candidates.push_back(gpu.id);
    suggested.insert(to_lower(gpu.id));
  }
  for (const KnownGpu& gpu : gpus) {
    for (const std::string& name : names_in(gpu.file)) {
      if (to_lower(name) == wanted) return gpu.file;
      if (suggested.insert(to_lower(name)).second) candidates.push_back(name);
    }
  }
  const std::vector<std::string> near = nearest_names(name_or_path, candidates, 3);
  Diagnostic error;
  error.key = "--arch " + std::string(name_or_path.substr(0, 60));
  error.expected = "a known GPU or the path of a file";
  error.found = near.empty() ? "neither (`noteg arch list` shows the known ones)"
                             : "neither (did you mean " + join_or(near) + "?)";
  return error;
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
