// Small text files: read whole, with the mistakes of a path or of a wrong file told as diagnostics.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace noteg
