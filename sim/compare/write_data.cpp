#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/compare/write.hpp"
#include "sim/report/write.hpp"
#include "sim/support/csv.hpp"

namespace noteg::compare {
namespace {

using Json = nlohmann::ordered_json;

Json rows_of(const std::vector<std::string>& labels, const std::vector<arch::Difference>& differences) {
  Json rows = Json::array();
  for (const arch::Difference& difference : differences) {
    Json values = Json::object();
    for (std::size_t i = 0; i < labels.size(); ++i)
      values[labels[i]] = arch::format_value(*difference.field, difference.values[i]);
    rows.push_back({{"key", difference.field->key},
                    {"group", arch::name_of(arch::group_of(*difference.field))},
                    {"values", std::move(values)}});
  }
  return rows;
}

std::vector<std::string> labels_of(const Comparison& comparison) {
  std::vector<std::string> labels;
  for (const Contestant& one : comparison.contestants) labels.push_back(one.label);
  return labels;
}

Json waterfall_json(const Waterfall& w) {
  Json steps = Json::array();
  for (const Step& step : w.steps)
    steps.push_back({{"group", step.group},
                     {"keys_changed", step.fields_changed},
                     {"time_us", step.time_us},
                     {"ratio", step.ratio}});
  return {{"from", w.from},        {"to", w.to},         {"from_time_us", w.from_us},
          {"to_time_us", w.to_us}, {"ratio", w.ratio()}, {"steps", std::move(steps)}};
}

}  // namespace

std::string differences_json(const std::vector<std::string>& labels, const std::vector<arch::Difference>& differences) {
  return Json{{"gpus", labels}, {"differences", rows_of(labels, differences)}}.dump(2) + "\n";
}

std::string differences_csv(const std::vector<std::string>& labels, const std::vector<arch::Difference>& differences) {
  std::vector<std::string> row{"key", "group"};
  row.insert(row.end(), labels.begin(), labels.end());
  std::string text = csv_line(row);
  for (const arch::Difference& difference : differences) {
    row = {std::string(difference.field->key), std::string(arch::name_of(arch::group_of(*difference.field)))};
    for (const arch::Value& value : difference.values) row.push_back(arch::format_value(*difference.field, value));
    text += csv_line(row);
  }
  return text;
}

std::string to_json(const Comparison& comparison) {
  Json gpus = Json::array();
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    Json one{{"label", comparison.contestants[i].label}, {"what_if", comparison.contestants[i].what_if}};
    one.update(Json::parse(report::to_json(comparison.reports[i])));
    gpus.push_back(std::move(one));
  }
  Json waterfalls = Json::array();
  for (const Waterfall& one : comparison.waterfalls) waterfalls.push_back(waterfall_json(one));
  return Json{{"gpus", std::move(gpus)},
              {"differences", rows_of(labels_of(comparison), comparison.differences)},
              {"waterfalls", std::move(waterfalls)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string to_csv(const Comparison& comparison) {
  std::string text;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    const std::string lines = report::to_csv({comparison.reports[i]});
    const std::size_t end = lines.find('\n') + 1;
    if (i == 0) text += "label,what_if," + lines.substr(0, end);
    std::string first = csv_line({comparison.contestants[i].label, comparison.contestants[i].what_if});
    first.back() = ',';
    text += first + lines.substr(end);
  }
  return text;
}

}  // namespace noteg::compare
