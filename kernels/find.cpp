#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "kernels/config_file.hpp"
#include "sim/support/nearest_name.hpp"

namespace noteg::kernels {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

// The user's own folders first, so that a shipped kernel can be replaced.
std::vector<fs::path> search_directories() {
  std::vector<fs::path> directories;
  if (const char* listed = std::getenv("NOTEG_KERNEL_PATH")) {
    std::string_view rest = listed;
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (colon != 0) directories.emplace_back(rest.substr(0, colon));
      if (colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
  }
  directories.emplace_back(NOTEG_KERNEL_SOURCE_DIR);
  std::error_code failed;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) directories.push_back(executable.parent_path().parent_path() / "share" / "noteg" / "kernels");
  return directories;
}

std::vector<std::string> known_names() {
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

}  // namespace

Result<fs::path> find_kernel_file(std::string_view name_or_path) {
  const fs::path given(name_or_path);
  std::error_code failed;
  if (fs::exists(given, failed)) return given;  // a folder is refused by whoever reads it
  if (name_or_path.find('/') == std::string_view::npos && !name_or_path.empty()) {
    for (const fs::path& directory : search_directories())
      for (const char* ending : {"", ".yaml"})
        if (const fs::path file = directory / (std::string(name_or_path) + ending); is_file(file)) return file;
  }
  const std::string shown(name_or_path.substr(0, 80));
  const std::string stem = given.stem().string();
  const std::vector<std::string> near = nearest_names(stem, known_names(), 3);
  std::string found = "neither: \"" + shown + "\"";
  if (!near.empty()) found += " (did you mean " + join_or(near) + "?)";
  return Diagnostic{"", 0, 0, "kernel", "the path of a kernel file or the name of a shipped one", std::move(found)};
}

}  // namespace noteg::kernels
