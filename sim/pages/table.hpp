// A table of a report: what is behind every chart, for those who would rather read figures, or have them read out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace noteg::pages {

// What stands in a cell; a number keeps its exact value in the page beside the text that is shown.
struct Cell {
  std::string text;
  std::optional<double> value = std::nullopt;
};

struct Table {
  std::vector<std::string> head;        // the first column names the rows
  std::vector<std::vector<Cell>> rows;  // each as long as the head
};

// Text as it may stand in an element or an attribute. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

[[nodiscard]] std::string to_html(const Table& table);

}  // namespace noteg::pages
