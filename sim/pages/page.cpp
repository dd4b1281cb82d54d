#include "sim/pages/page.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/pages/assets.hpp"

namespace noteg::pages {
namespace {

// Data may hold "</script>": inside a JSON text "<" may be written as an escape.
std::string in_script(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string filled(std::string_view text, const std::array<std::pair<std::string_view, std::string_view>, 6>& parts) {
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = text.find("{{");
    const std::size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    out += text.substr(0, std::min(begin, text.size()));
    if (end == std::string_view::npos) break;
    const std::string_view name = text.substr(begin + 2, end - begin - 2);
    for (const auto& [key, value] : parts)
      if (key == name) out += value;
    text.remove_prefix(end + 2);
  }
  return out;
}

}  // namespace

Page::Page(std::string_view kicker, std::string_view title, std::string_view lead) : title_(title) {
  header_ = fmt::format("<p class=\"kicker\">{}</p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escaped(kicker),
                        escaped(title), escaped(lead));
}

void Page::verdict(std::string_view text) { header_ += fmt::format("<p class=\"verdict\">{}</p>\n", escaped(text)); }

void Page::tiles(const std::vector<Tile>& tiles) {
  close_cards();
  main_ += "<ul class=\"tiles\">\n";
  for (const Tile& tile : tiles)
    main_ += fmt::format(
        "<li><span class=\"name\">{}</span><span class=\"figure\">{}</span><span class=\"more\">{}</span></li>\n",
        escaped(tile.name), escaped(tile.figure), escaped(tile.more));
  main_ += "</ul>\n";
}

void Page::section(std::string_view title, std::string_view text) {
  close_cards();
  main_ += fmt::format("<h2>{}</h2>\n", escaped(title));
  if (!text.empty()) main_ += fmt::format("<p>{}</p>\n", escaped(text));
}

void Page::add(const Chart& chart) {
  open_cards();
  main_ += to_html(chart);
  charts_ += (charts_.empty() ? "" : ",\n") + to_json(chart);
}

void Page::add(std::string_view title, const Table& table, bool open, std::string_view note) {
  open_cards();
  const std::string said = note.empty() ? "" : fmt::format("<p>{}</p>", escaped(note));
  main_ += open
               ? fmt::format("<div class=\"card wide\"><h3>{}</h3>{}\n{}</div>\n", escaped(title), said, to_html(table))
               : fmt::format(
                     "<div class=\"card wide\"><h3>{}</h3>{}\n<details><summary>Show all {} "
                     "rows</summary>{}</details></div>\n",
                     escaped(title), said, table.rows.size(), to_html(table));
}

void Page::footer(std::string_view text) { footer_ += fmt::format("<p>{}</p>\n", escaped(text)); }

void Page::open_cards() {
  if (!in_cards_) main_ += "<div class=\"cards\">\n";
  in_cards_ = true;
}

void Page::close_cards() {
  if (in_cards_) main_ += "</div>\n";
  in_cards_ = false;
}

std::string Page::take() const {
  const std::string without =
      chart_library().empty() ? "<p>This program was built without a chart library: the report holds tables only.</p>\n"
                              : "";
  const std::string body = fmt::format("<header>\n{}</header>\n<main>\n{}{}</main>\n<footer>\n{}{}</footer>", header_,
                                       main_, in_cards_ ? "</div>\n" : "", without, footer_);
  const std::string title = escaped(title_) + " - NoteG", charts = in_script("[" + charts_ + "]");
  return filled(page_template(), {{{"title", title},
                                   {"style", style_sheet()},
                                   {"body", body},
                                   {"charts", charts},
                                   {"library", chart_library()},
                                   {"script", script()}}});
}

}  // namespace noteg::pages
