// Where shipped files lie: the user's own folders, the source tree, and beside an installed program.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace noteg {

// In the order of search: the folders that the environment variable lists (with colons between), so that a shipped
// file can be replaced; the source folder; <folder of the program>/../share/noteg/<installed>. Each of them is followed
// by those of its subfolders that are named.
[[nodiscard]] std::vector<std::filesystem::path> search_path(const char* environment_variable,
                                                             const std::filesystem::path& source_folder,
                                                             const std::string& installed,
                                                             std::initializer_list<const char*> subfolders);

// A regular file that can be seen; never throws.
[[nodiscard]] bool is_file(const std::filesystem::path& path);

}  // namespace noteg
