#include "kernels/config/config_file.hpp"

#include <algorithm>
#include <system_error>

#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::kernels {
namespace {

// Rules between keys need a shape; a power of two meets every alignment, and its work is far from the limit.
constexpr GemmShape rule_shape{4096, 4096, 4096, 1};

class FileReader {
 public:
  FileReader(const YamlDocument& document, const KernelOverrides& overrides)
      : document_(document), overrides_(overrides) {}

  Result<KernelConfig> run() {
    YamlMapping top(document_.file, document_.root, "", errors_);  // reports repeated keys
    for (const KernelKeyDoc& key : kernel_keys()) set(top, key);
    top.report_unknown();
    if (!overridden("tile")) static_cast<void>(top.required("tile", "extents such as 128x128x8"));
    if (!errors_.empty()) return sorted(errors_);
    Result<KernelConfig> config = apply_overrides(config_, overrides_);
    if (!config) return config.errors();
    if (const Result<KernelConfig> resolved = resolve(*config, rule_shape); !resolved) return placed(resolved.errors());
    return config;
  }

 private:
  void set(YamlMapping& top, const KernelKeyDoc& key) {
    const YamlNode* value = top.optional(key.key);
    if (value == nullptr) return;
    if (value->is_scalar() && !set_kernel_key(config_, key.key, value->text)) return;
    top.report(*value, key.key, key.accepts, value->describe());
  }

  bool overridden(std::string_view key) const {
    return std::any_of(overrides_.begin(), overrides_.end(), [&](const auto& pair) { return pair.first == key; });
  }

  // A rule's error goes to the line of the key it names, where the file gave that key its value.
  Diagnostics placed(Diagnostics errors) const {
    for (Diagnostic& error : errors) {
      if (overridden(error.key)) continue;  // the command line's mistake
      const YamlNode* value = document_.root.find(error.key);
      const YamlNode& at = value != nullptr ? *value : document_.root;
      error.file = document_.file;
      error.line = at.position.line;
      error.column = at.position.column;
    }
    return sorted(std::move(errors));
  }

  static Diagnostics sorted(Diagnostics errors) {
    std::stable_sort(errors.begin(), errors.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return errors;
  }

  const YamlDocument& document_;
  const KernelOverrides& overrides_;
  KernelConfig config_;
  Diagnostics errors_;
};

Result<KernelConfig> read(const Result<YamlDocument>& document, const KernelOverrides& overrides) {
  if (!document) return document.errors();
  return FileReader(*document, overrides).run();
}

}  // namespace

Result<KernelConfig> load_kernel_file(std::string_view name_or_path, const KernelOverrides& overrides) {
  const Result<std::filesystem::path> file = find_kernel_file(name_or_path);
  if (!file) return file.errors();
  Result<KernelConfig> config = read(read_yaml_file(*file), overrides);
  if (config && config->name.empty()) config->name = file->stem().string();
  return config;
}

Result<KernelConfig> read_kernel_text(std::string_view text, std::string name, const KernelOverrides& overrides) {
  return read(read_yaml_text(text, std::move(name)), overrides);
}

Result<KernelConfig> apply_overrides(KernelConfig config, const KernelOverrides& overrides) {
  Diagnostics errors;
  for (const auto& [key, value] : overrides)
    if (std::optional<Diagnostic> error = set_kernel_key(config, key, value)) errors.push_back(*std::move(error));
  if (!errors.empty()) return errors;
  return config;
}

namespace {

namespace fs = std::filesystem;

// The user's own folders first, so that a shipped kernel can be replaced.
std::vector<fs::path> search_directories() {
  return search_path("NOTEG_KERNEL_PATH", NOTEG_KERNEL_SOURCE_DIR, "kernels", {"library"});
}

}  // namespace

std::vector<std::string> shipped_kernels() {
  std::vector<std::string> names;
  for (const fs::path& directory : search_directories()) {
    std::error_code failed;
    for (fs::directory_iterator file(directory, failed), end; !failed && file != end; file.increment(failed))
      if (file->path().extension() == ".yaml") names.push_back(file->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<fs::path> find_kernel_file(std::string_view name_or_path) {
  const fs::path given(name_or_path);
  std::error_code failed;
  if (fs::exists(given, failed)) return given;  // a folder is refused by whoever reads it
  // kernels/NAME.yaml: where the shipped files lay once, which scripts still give.
  if (const fs::path moved = given.parent_path() / "library" / given.filename(); is_file(moved)) return moved;
  if (name_or_path.find('/') == std::string_view::npos && !name_or_path.empty()) {
    for (const fs::path& directory : search_directories())
      for (const char* ending : {"", ".yaml"})
        if (const fs::path file = directory / (std::string(name_or_path) + ending); is_file(file)) return file;
  }
  const std::string shown(name_or_path.substr(0, 80));
  const std::string stem = given.stem().string();
  const std::vector<std::string> near = nearest_names(stem, shipped_kernels(), 3);
  std::string found = "neither: \"" + shown + "\"";
  if (!near.empty()) found += " (did you mean " + join_or(near) + "?)";
  constexpr std::size_t long_name = 24;  // longer than those of files
  if (near.empty() && stem.size() > long_name && name_or_path.find('/') == std::string_view::npos)
    found += " (names that profilers print: --kernel-name)";
  return Diagnostic{"", 0, 0, "kernel", "the path of a kernel file or the name of a shipped one", std::move(found)};
}

}  // namespace noteg::kernels
