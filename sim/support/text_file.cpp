#include "sim/support/text_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

#include "sim/support/text.hpp"

namespace noteg {

namespace {

Diagnostic wrong_file(const std::string& name, std::string expected, std::string found) {
  return {name, 0, 0, "", std::move(expected), std::move(found)};
}

std::string at_most(std::size_t bytes) { return "at most " + std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t most) {
  const std::string name = path.string();
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status)) return wrong_file(name, "a file", "none");
  if (std::filesystem::is_directory(status)) return wrong_file(name, "a file", "a directory");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return wrong_file(name, "a file that can be read", "one that cannot be opened");
  // Read with a bound instead of asking for the size: a pipe or device has none. Most files are small.
  std::string text;
  for (std::size_t piece = std::size_t{1} << 15; stream && text.size() <= most; piece *= 2) {
    const std::size_t there = text.size();
    piece = std::min(piece, most + 1 - there);
    text.resize(there + piece);
    stream.read(text.data() + there, static_cast<std::streamsize>(piece));
    text.resize(there + static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return wrong_file(name, "a file that can be read", "a read error");
  if (text.size() > most) return wrong_file(name, "a file of " + at_most(most), "a larger one");
  return text;
}

Result<std::string> read_text_file(const std::filesystem::path& path) {
  Result<std::string> text = read_file(path, largest_text_file);
  if (!text) return text;
  if (std::optional<Diagnostic> wrong = check_text(*text, path.string())) return std::move(*wrong);
  return text;
}

std::optional<Diagnostic> check_text(std::string_view text, const std::string& name) {
  if (text.size() > largest_text_file)
    return wrong_file(name, "a file of " + at_most(largest_text_file), "a larger one");
  const std::size_t at = first_non_text(text);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
  const auto column = static_cast<int>(at - (before.rfind('\n') + 1)) + 1;  // npos + 1 is 0
  return Diagnostic{name, line, column, "", "text in UTF-8", describe_byte(text, at)};
}

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
