// CSV text: a table or diagnostics, and a table written out reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/support/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const auto table = noteg::parse_csv(text, "fuzz.csv");
  if (!table) return 0;
  std::string again = noteg::csv_line(table->columns);
  for (const auto& row : table->rows) again += noteg::csv_line(row);
  const auto second = noteg::parse_csv(again, "again.csv");
  if (!second || second->columns != table->columns || second->rows != table->rows) std::abort();
  return 0;
}
