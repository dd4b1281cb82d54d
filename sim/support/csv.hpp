// Comma-separated tables: RFC 4180 quoting, LF or CRLF, a header line, plain or gzip. Every row has as many fields as
// the header. A field keeps its blanks; a leading byte-order mark is dropped; empty lines are skipped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"

namespace noteg {

struct CsvTable {
  std::string file;  // as shown in errors
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<int> lines;  // where each row begins, from 1

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

inline constexpr std::size_t largest_csv = std::size_t{1} << 30;  // bytes, unpacked

// Errors: missing, unreadable, a damaged gzip stream, over 1 GiB unpacked, and what parse_csv finds.
[[nodiscard]] Result<CsvTable> read_csv(const std::filesystem::path& path);

// Errors, each with its line and, as column, the number of the field: no header, a column without name or named twice,
// a row with too many or too few fields, an open quote, text after a closing quote, a zero byte. At most 20 of them.
[[nodiscard]] Result<CsvTable> parse_csv(std::string_view text, std::string name);

// Fields joined by commas, quoted where needed, ending in a newline.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

}  // namespace noteg
