#include "arch/load.hpp"

#include <algorithm>
#include <map>
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

// Names as written in a file; a file that cannot be read has none here, and tells why when it is asked for by id. Nor
// has one without a base: data sheets lie beside the files that are made of them.
std::vector<std::string> names_in(const fs::path& file) {
  std::vector<std::string> names;
  const Result<YamlDocument> document = read_yaml_file(file);
  if (!document || document->root.find("base") == nullptr) return names;
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

// Adds the YAML files of a folder; with a recursive iterator, of all folders in it too.
template <class Iterator>
void add_files(const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code failed, unseen;
  for (Iterator entry(folder, fs::directory_options::skip_permission_denied, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (entry->path().extension() == ".yaml" && entry->is_regular_file(unseen)) files.push_back(entry->path());
}

// Those anywhere below the gpus/ and generations/ of a place of the search path.
void add_files_below(const fs::path& place, std::vector<fs::path>& files) {
  for (const char* folder : {"gpus", "generations"}) add_files<fs::recursive_directory_iterator>(place / folder, files);
}

// All of a place: these, and those in the place itself, as in a folder of the user's own. In the order of their paths,
// since a directory has none.
std::vector<fs::path> files_of(const fs::path& place) {
  std::vector<fs::path> files;
  add_files<fs::directory_iterator>(place, files);
  add_files_below(place, files);
  std::ranges::sort(files, {}, [](const fs::path& file) -> const std::string& { return file.native(); });
  return files;
}

std::vector<fs::path> places(const char* variable = "NOTEG_ARCH_PATH") {
  return search_path(variable, NOTEG_ARCH_SOURCE_DIR, "arch", {});
}

Diagnostic more_than_one(std::string_view name, const std::vector<std::string>& meant) {
  return unknown_gpu(name, "one that may be " + join_or(meant));
}

// The file of an id; where several of a place bear it, nobody can tell which is meant.
Result<fs::path> the_file(std::string_view name, const KnownGpu& gpu) {
  if (gpu.others.empty()) return gpu.file;
  std::vector<std::string> files{gpu.file.string()};
  for (const fs::path& other : gpu.others) files.push_back(other.string());
  return more_than_one(name, files);
}

// One GPU, or the several that the name may mean.
Result<fs::path> the_one(std::string_view name, const std::vector<const KnownGpu*>& meant) {
  if (meant.size() == 1) return the_file(name, *meant.front());
  std::vector<std::string> ids;
  for (const KnownGpu* gpu : meant) ids.push_back(gpu->id);
  return more_than_one(name, ids);
}

// arch/NAME.yaml and arch/gpus/NAME.yaml: where the shipped files lay once, which scripts still give.
std::optional<fs::path> moved(const fs::path& given) {
  const fs::path folder = given.parent_path();
  std::vector<fs::path> files;
  for (const fs::path& place : {folder, folder.parent_path()}) add_files_below(place, files);
  std::ranges::sort(files);  // of several the same one everywhere
  const auto file = std::ranges::find(files, given.filename(), &fs::path::filename);
  return file == files.end() ? std::nullopt : std::optional(*file);
}

}  // namespace

std::vector<KnownGpu> known_gpus() {
  std::map<std::string, KnownGpu> known;
  for (const fs::path& place : places()) {
    std::map<std::string, KnownGpu> here;
    for (const fs::path& file : files_of(place)) {
      const std::string id = file.stem().string();
      if (id.starts_with("sm_")) continue;
      const auto [gpu, first] = here.try_emplace(id, KnownGpu{id, file, {}});
      if (!first) gpu->second.others.push_back(file);
    }
    known.merge(here);  // what an earlier place has stays
  }
  std::vector<KnownGpu> gpus;
  for (auto& [id, gpu] : known) gpus.push_back(std::move(gpu));
  return gpus;
}

Result<fs::path> find_gpu_file(std::string_view name_or_path) {
  if (looks_like_path(name_or_path)) {
    const fs::path given(name_or_path);
    return is_file(given) ? given : moved(given).value_or(given);
  }
  const std::string id = to_lower(name_or_path), wanted = plain(name_or_path);
  const std::vector<KnownGpu> gpus = known_gpus();
  std::vector<const KnownGpu*> meant, alike;
  for (const KnownGpu& gpu : gpus)  // ids first: names are in the files, which take their time to read
    if (to_lower(gpu.id) == id) return the_file(name_or_path, gpu);
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
  const fs::path whole = fs::weakly_canonical(file, failed);
  constexpr const char* no_variable = "";  // no places of the user's
  return std::ranges::any_of(places(no_variable), [&](const fs::path& place) {
    const fs::path own = fs::weakly_canonical(place, failed);
    return std::ranges::mismatch(own, whole).in1 == own.end();
  });
}

Result<fs::path> find_base_file(const std::string& base, const fs::path& gpu_file) {
  const fs::path beside = gpu_file.parent_path() / (base + ".yaml");
  if (base.find('/') == std::string::npos && is_file(beside)) return beside;
  std::vector<fs::path> seen;
  for (const fs::path& place : places()) {
    std::vector<std::string> same;
    for (fs::path& file : files_of(place)) {
      if (file.stem() == base) same.push_back(file.string());
      seen.push_back(std::move(file));
    }
    if (same.size() == 1) return fs::path(same.front());
    if (!same.empty()) return Diagnostic{"", 0, 0, "base", "one file of this name", "one that may be " + join_or(same)};
  }
  add_files<fs::directory_iterator>(gpu_file.parent_path(), seen);
  std::set<std::string> bases;
  for (const fs::path& file : seen)
    if (std::string stem = file.stem().string(); stem.starts_with("sm_")) bases.insert(std::move(stem));
  Diagnostic error;
  error.key = "base";
  error.expected = "an SM generation (" + join_or({bases.begin(), bases.end()}) + ")";
  error.found = "\"" + base + "\"";
  return error;
}

}  // namespace noteg::arch
