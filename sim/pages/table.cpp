#include "sim/pages/table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/support/number_text.hpp"

namespace noteg::pages {
namespace {

// The JSON library knows what is UTF-8; a text that is goes through unchanged.
std::string valid(std::string_view text) {
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

// A column of figures is set to the right, blanks in it too.
std::vector<bool> number_columns(const Table& table) {
  std::vector<bool> out(table.head.size());
  for (const std::vector<Cell>& row : table.rows)
    for (std::size_t i = 1; i < row.size(); ++i) out[i] = out[i] || row[i].value;
  return out;
}

std::string cell_html(const Cell& cell, bool first, bool number) {
  const std::string_view tag = first ? "th" : "td";
  const std::string_view attributes = first ? " scope=\"row\"" : number ? " class=\"number\"" : "";
  const std::string inside =
      cell.value ? fmt::format("<data value=\"{}\">{}</data>", format_number(*cell.value), escaped(cell.text))
                 : escaped(cell.text);
  return fmt::format("<{}{}>{}</{}>", tag, attributes, inside, tag);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : valid(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string to_html(const Table& table) {
  const std::vector<bool> numbers = number_columns(table);
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", numbers[i] ? " class=\"number\"" : "", escaped(table.head[i]));
  }
  out += "</tr></thead><tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) out += cell_html(row[i], i == 0, numbers[i]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>";
}

}  // namespace noteg::pages
