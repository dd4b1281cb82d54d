#include <nlohmann/json.hpp>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "sim/validate/write.hpp"

namespace noteg::validate {

namespace {

std::string field_of(const std::optional<double>& value) { return value ? format_number(*value) : ""; }

void append_metrics(std::vector<std::string>& row, const std::optional<Metrics>& m) {
  if (!m) {
    row.insert(row.end(), 6, "");
    return;
  }
  for (const std::optional<double>& value :
       {std::optional(m->mape), std::optional(m->median_ape), std::optional(m->p90_ape), std::optional(m->bias),
        m->r2_log, m->rank_corr})
    row.push_back(field_of(value));
}

std::vector<std::string> group_row(const Group& group, std::size_t keys) {
  std::vector<std::string> row = group.keys;
  row.resize(keys, "(all)");
  row.push_back(std::to_string(group.rows));
  row.push_back(field_of(group.coverage_90));
  for (const std::optional<Metrics>& metrics : {group.time, group.power, group.energy}) append_metrics(row, metrics);
  return row;
}

std::vector<std::string> predicted_fields(const Outcome& outcome) {
  if (outcome.status != Status::predicted) {
    std::vector<std::string> blank(8);
    blank.push_back(outcome.reason);
    return blank;
  }
  const Prediction& p = outcome.prediction;
  return {format_number(p.time_ms),
          field_of(p.power_w),
          field_of(p.energy_j),
          format_number(p.sm_clock_mhz),
          format_number(p.dram_bytes),
          format_number(p.warp_instructions),
          outcome.has_interval() ? format_number(p.time_low_ms) : "",
          outcome.has_interval() ? format_number(p.time_high_ms) : "",
          ""};
}

}  // namespace

std::string to_csv(const Validation& validation, const std::vector<std::string>& by) {
  std::vector<std::string> header = by;
  header.emplace_back("rows");
  header.emplace_back("coverage_90");
  for (const std::string quantity : {"time", "power", "energy"})
    for (const std::string metric : {"mape", "median_ape", "p90_ape", "bias", "r2_log", "rank_corr"})
      header.push_back(quantity + "_" + metric);
  std::string text = csv_line(header);
  for (const Group& group : validation.groups) text += csv_line(group_row(group, by.size()));
  if (validation.all) text += csv_line(group_row(*validation.all, by.size()));
  return text;
}

std::string predictions_csv(const Validation& validation) {
  std::vector<std::string> header = validation.data.columns;
  for (const char* added : {"predicted_time_ms", "predicted_power_w", "predicted_energy_j", "predicted_sm_clock_mhz",
                            "predicted_dram_bytes", "predicted_warp_instructions", "predicted_time_low_ms",
                            "predicted_time_high_ms", "skipped_reason"})
    header.emplace_back(added);
  std::string text = csv_line(header);
  for (std::size_t i = 0; i < validation.outcomes.size(); ++i) {
    std::vector<std::string> row = validation.data.rows[i].fields;
    for (std::string& field : predicted_fields(validation.outcomes[i])) row.push_back(std::move(field));
    text += csv_line(row);
  }
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const std::optional<Metrics>& metrics) {
  if (!metrics) return nullptr;
  return {{"mape", metrics->mape}, {"median_ape", metrics->median_ape},  {"p90_ape", metrics->p90_ape},
          {"bias", metrics->bias}, {"r2_log", json_of(metrics->r2_log)}, {"rank_corr", json_of(metrics->rank_corr)}};
}

Json json_of(const Group& group, const std::vector<std::string>& by) {
  Json object = Json::object();
  for (std::size_t i = 0; i < by.size() && i < group.keys.size(); ++i) object[by[i]] = group.keys[i];
  object["rows"] = group.rows;
  object["time"] = json_of(group.time);
  object["coverage_90"] = json_of(group.coverage_90);
  object["power"] = json_of(group.power);
  object["energy"] = json_of(group.energy);
  return object;
}

Json skipped_rows(const Validation& validation) {
  Json list = Json::array();
  for (std::size_t i = 0; i < validation.outcomes.size(); ++i) {
    if (validation.outcomes[i].status != Status::skipped) continue;
    const MeasuredRow& row = validation.data.rows[i];
    Json entry = {{"row", row.row}, {"line", row.line}, {"reason", validation.outcomes[i].reason}};
    if (validation.data.files.size() > 1) entry["file"] = validation.data.files[row.file];
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string to_json(const Validation& validation, const std::vector<std::string>& by) {
  Json root;
  root["groups"] = Json::array();
  for (const Group& group : validation.groups) root["groups"].push_back(json_of(group, by));
  root["all"] = validation.all ? json_of(*validation.all, {}) : Json(nullptr);
  root["rows"] = {{"read", validation.data.rows.size()},
                  {"predicted", validation.predicted},
                  {"skipped", validation.skipped},
                  {"set_aside", validation.filtered}};
  root["set_aside"] = Json::array();
  for (const ReasonCount& reason : reasons(validation, Status::filtered))
    root["set_aside"].push_back({{"reason", reason.reason}, {"rows", reason.rows}});
  root["skipped"] = skipped_rows(validation);
  root["wall_s"] = validation.wall_s;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace noteg::validate
