// Takes a report apart: its chart descriptions, and the exact figures of the table behind each chart.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace noteg::test {

inline std::string between(const std::string& text, const std::string& begin, const std::string& end,
                           std::size_t from = 0) {
  const std::size_t first = text.find(begin, from);
  if (first == std::string::npos) return "";
  const std::size_t start = first + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

inline nlohmann::json charts_of(const std::string& page) {
  return nlohmann::json::parse(between(page, "id=\"charts\">", "</script>"));
}

// In the order of the table's cells.
inline std::vector<double> table_figures(const std::string& page, const std::string& id) {
  const std::string figure = between(page, "id=\"" + id + "\">", "</figure>");
  std::vector<double> out;
  const std::string mark = "<data value=\"";
  for (std::size_t at = figure.find(mark); at != std::string::npos; at = figure.find(mark, at + 1))
    out.push_back(std::stod(figure.substr(at + mark.size())));
  return out;
}

// The figures of a chart in the order of its table: row by row for bars, x and y of each dot for points.
inline std::vector<double> chart_figures(const nlohmann::json& chart) {
  std::vector<double> out;
  if (chart["kind"] == "xy") {
    for (const auto& series : chart["series"])
      if (!series["reference"])
        for (const auto& dot : series["dots"]) {
          out.push_back(dot["x"]);
          out.push_back(dot["y"]);
        }
    return out;
  }
  for (std::size_t row = 0; row < chart["labels"].size(); ++row)
    for (const auto& series : chart["series"]) out.push_back(series["bars"][row]["value"]);
  return out;
}

// What the page itself says, without the chart library, whose licence notice names an address.
inline std::string without_library(std::string page) {
  const std::size_t begin = page.find("</script>", page.find("id=\"charts\">"));
  const std::size_t end = page.find("</script>", begin + 1);
  return page.erase(begin, end - begin);
}

}  // namespace noteg::test
