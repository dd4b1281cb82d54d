#include <nlohmann/json.hpp>

#include "sim/validate/write.hpp"

namespace noteg::validate {
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
    if (validation.outcomes[i].fate != Fate::skipped) continue;
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
  for (const ReasonCount& reason : reasons(validation, Fate::filtered))
    root["set_aside"].push_back({{"reason", reason.reason}, {"rows", reason.rows}});
  root["skipped"] = skipped_rows(validation);
  root["wall_s"] = validation.wall_s;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace noteg::validate
