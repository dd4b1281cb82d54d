#include "sim/support/search_path.hpp"

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace noteg {

namespace fs = std::filesystem;

std::vector<fs::path> search_path(const char* environment_variable, const fs::path& source_folder,
                                  const std::string& installed, std::initializer_list<const char*> subfolders) {
  std::vector<fs::path> directories;
  if (const char* listed = std::getenv(environment_variable)) {
    std::string_view rest = listed;
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (colon != 0) directories.emplace_back(rest.substr(0, colon));
      if (colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
  }
  directories.push_back(source_folder);
  std::error_code failed;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) directories.push_back(executable.parent_path().parent_path() / "share" / "noteg" / installed);
  std::vector<fs::path> with_subfolders;
  for (const fs::path& directory : directories) {
    with_subfolders.push_back(directory);
    for (const char* subfolder : subfolders) with_subfolders.push_back(directory / subfolder);
  }
  return with_subfolders;
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

}  // namespace noteg
