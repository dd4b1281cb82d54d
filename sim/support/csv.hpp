// Comma-separated tables: RFC 4180 quoting, LF or CRLF, a header line, plain or gzip. Every row has as many fields as
// the header. A field keeps its blanks; a leading byte-order mark is dropped; empty lines are skipped.
//
// Spreadsheets run a text that begins with = + - @ as a formula. What is written here begins with an apostrophe instead
// ('=A1), which spreadsheets do not show; numbers stay as they are. Reading takes that apostrophe away again, so that a
// table that was written reads back the same.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"
#include "sim/support/text_rows.hpp"

namespace noteg {

struct CsvTable {
  std::string file;  // as shown in errors
  std::vector<std::string> columns;
  TextRows rows;
  std::vector<int> lines;  // where each row begins, from 1

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

inline constexpr std::size_t largest_csv = TextRows::most_bytes;  // bytes, unpacked
inline constexpr std::size_t most_csv_columns = 4096;

// Errors: missing, unreadable, a damaged gzip stream, over 256 MiB unpacked, and what parse_csv finds.
[[nodiscard]] Result<CsvTable> read_csv(const std::filesystem::path& path);

// Errors, each with its line and, as column, the number of the field: no header, a column without name or named twice,
// a row with too many or too few fields, an open quote, text after a closing quote, bytes that are no text in UTF-8,
// more than most_csv_columns columns, more fields than TextRows hold. At most 20 of them.
[[nodiscard]] Result<CsvTable> parse_csv(std::string_view text, std::string name);

// A field as it stands in a line: quoted where needed, a formula made a text, control characters shown.
[[nodiscard]] std::string csv_field(std::string_view text);

// Such fields joined by commas, ending in a newline.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

}  // namespace noteg
