#include "sim/pages/chart.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace noteg::pages {
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
