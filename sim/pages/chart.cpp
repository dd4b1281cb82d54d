#include "sim/pages/chart.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/support/text.hpp"

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
  const std::string attributes = first ? " scope=\"row\""
                                 : cell.shade
                                     ? fmt::format(" class=\"number shade\" style=\"--share:{:.3f}\"", *cell.shade)
                                 : number ? " class=\"number\""
                                          : "";
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

namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::bars: return "bars";
    case Kind::stacked: return "stacked";
    case Kind::xy: return "xy";
  }
  return "";
}

std::string_view name_of(Mark mark) {
  switch (mark) {
    case Mark::points: return "points";
    case Mark::line: return "line";
    case Mark::dashes: return "dashes";
    case Mark::marked: return "marked";
    case Mark::band: return "band";
  }
  return "";
}

double finite(double value) { return std::isfinite(value) ? value : 0; }

Json json_of(const Axis& axis) {
  const auto bound = [](const std::optional<double>& value) { return value ? Json(finite(*value)) : Json(nullptr); };
  return {{"title", axis.title},
          {"log", axis.log},
          {"min", bound(axis.min)},
          {"max", bound(axis.max)},
          {"unit", axis.unit}};
}

Json json_of(const Series& series) {
  Json bars = Json::array(), dots = Json::array();
  for (const Bar& bar : series.bars)
    bars.push_back(
        {{"value", finite(bar.value)}, {"text", bar.text}, {"colour", bar.colour}, {"from", finite(bar.from)}});
  for (const Dot& dot : series.dots)
    dots.push_back({{"x", finite(dot.x)},
                    {"y", finite(dot.y)},
                    {"x_text", dot.x_text},
                    {"y_text", dot.y_text},
                    {"label", dot.label}});
  return {{"name", series.name},           {"colour", series.colour},
          {"mark", name_of(series.mark)},  {"labelled", series.labelled},
          {"reference", series.reference}, {"legend", series.legend && !series.reference},
          {"bars", std::move(bars)},       {"dots", std::move(dots)}};
}

Table table_of_dots(const Chart& chart) {
  Table table{{"series", "point", chart.x.title, chart.value.title}, {}};
  for (const Series& series : chart.series) {
    if (series.reference) continue;
    for (const Dot& dot : series.dots)
      table.rows.push_back({{series.name}, {dot.label}, {dot.x_text, dot.x}, {dot.y_text, dot.y}});
  }
  return table;
}

}  // namespace

Table table_of(const Chart& chart) {
  if (chart.kind == Kind::xy) return table_of_dots(chart);
  Table table;
  table.head.push_back(chart.label_head);
  for (const Series& series : chart.series)
    table.head.push_back(series.name.empty() ? chart.value.title.empty() ? "value" : chart.value.title : series.name);
  for (std::size_t i = 0; i < chart.labels.size(); ++i) {
    std::vector<Cell> row{{chart.labels[i]}};
    for (const Series& series : chart.series) row.push_back({series.bars[i].text, series.bars[i].value});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string to_json(const Chart& chart) {
  Json series = Json::array();
  for (const Series& one : chart.series) series.push_back(json_of(one));
  return Json{{"id", chart.id},
              {"kind", name_of(chart.kind)},
              {"title", chart.title},
              {"labels", chart.labels},
              {"value", json_of(chart.value)},
              {"x", json_of(chart.x)},
              {"series", std::move(series)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_html(const Chart& chart) {
  const std::string note = chart.note.empty() ? "" : fmt::format("<p>{}</p>", escaped(chart.note));
  return fmt::format(
      "<figure class=\"card{}\" id=\"{}\"><figcaption><h3>{}</h3>{}</figcaption>\n<div class=\"plot\"><canvas "
      "role=\"img\" aria-label=\"{}. The figures are in the table below.\"></canvas></div>\n"
      "<details><summary>The figures as a table</summary>{}</details></figure>\n",
      chart.wide ? " wide" : "", chart.id, escaped(chart.title), note, escaped(chart.title), to_html(table_of(chart)));
}

}  // namespace noteg::pages
