// Small text files: read whole, with the mistakes of a path or of a wrong file told as diagnostics.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sim/support/result.hpp"

namespace noteg {

inline constexpr std::size_t largest_text_file = std::size_t{1} << 20;  // bytes

// Errors: missing, a directory, unreadable, over 1 MiB.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

// Why this cannot be a text file written by a person: too large, holds control characters, or is not UTF-8. nullopt: it
// can.
[[nodiscard]] std::optional<Diagnostic> check_text(std::string_view text, const std::string& name);

}  // namespace noteg
