// Small text files: read whole, with the mistakes of a path or of a wrong file told as diagnostics.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"

namespace noteg {

inline constexpr std::size_t largest_text_file = std::size_t{1} << 20;  // bytes

// A whole file, pipe or device of at most `most` bytes, a multiple of 1 MiB. Errors: missing, a directory, unreadable,
// larger.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::size_t most);

// The same for text files written by a person: at most 1 MiB that check_text accepts.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

// Why this cannot be a text file written by a person: too large, holds control characters, or is not UTF-8, with line
// and column (in bytes). nullopt: it can.
[[nodiscard]] std::optional<Diagnostic> check_text(std::string_view text, const std::string& name);

// Where shipped files lie: the user's own folders, the source tree, and beside an installed program.

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
