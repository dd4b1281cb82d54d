#include <algorithm>
#include <system_error>

#include "kernels/config/config_file.hpp"
#include "sim/support/nearest_name.hpp"
#include "sim/support/search_path.hpp"

namespace noteg::kernels {
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
  return Diagnostic{"", 0, 0, "kernel", "the path of a kernel file or the name of a shipped one", std::move(found)};
}

}  // namespace noteg::kernels
