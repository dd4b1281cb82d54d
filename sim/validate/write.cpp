#include "sim/validate/write.hpp"
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

namespace noteg::validate {
namespace {

using Table = std::vector<std::vector<std::string>>;

// Columns as wide as their widest cell; the first `left` columns to the left, figures to the right.
std::string aligned(const Table& table, std::size_t left) {
  std::vector<std::size_t> widths(table.front().size());
  for (const std::vector<std::string>& row : table)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const std::vector<std::string>& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i < left ? fmt::format("{:<{}}  ", row[i], widths[i]) : fmt::format("{:>{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string plain(const std::optional<Metrics>& metrics, const std::optional<double> Metrics::*member) {
  return metrics && (*metrics).*member ? fmt::format("{:.3f}", *((*metrics).*member)) : "-";
}

std::string coverage_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "-";
}

std::vector<std::string> row_of(const Group& group, std::size_t keys, const std::optional<Metrics>& m) {
  std::vector<std::string> row = group.keys;
  row.resize(keys);
  if (group.keys.empty()) row.front() = "all";
  for (std::string& cell : row)
    if (cell.size() > 48) cell = cell.substr(0, 45) + "...";
  row.push_back(std::to_string(group.rows));
  row.push_back(percent(m, &Metrics::mape));
  row.push_back(percent(m, &Metrics::median_ape));
  row.push_back(percent(m, &Metrics::p90_ape));
  row.push_back(m ? fmt::format("{:.3f}", m->bias) : "-");
  row.push_back(plain(m, &Metrics::r2_log));
  row.push_back(plain(m, &Metrics::rank_corr));
  return row;
}

std::string table_of(const Validation& validation, const std::vector<std::string>& by,
                     const std::optional<Metrics> Group::*which) {
  std::vector<std::string> header = by;
  header.resize(std::max<std::size_t>(by.size(), 1));
  for (const char* name : {"rows", "MAPE", "median", "p90", "bias", "R2(log)", "rank"}) header.emplace_back(name);
  if (which == &Group::time) header.emplace_back("in 90 %");
  Table table{header};
  const std::size_t keys = std::max<std::size_t>(by.size(), 1);
  const auto add = [&](const Group& group) {
    table.push_back(row_of(group, keys, group.*which));
    if (which == &Group::time) table.back().push_back(coverage_text(group.coverage_90));
  };
  for (const Group& group : validation.groups)
    if (!by.empty() && group.*which) add(group);
  if (validation.all) add(*validation.all);
  return aligned(table, keys);
}

std::string reason_lines(const Validation& validation, Status status, std::string_view heading) {
  const std::vector<ReasonCount> counts = reasons(validation, status);
  if (counts.empty()) return "";
  constexpr std::size_t most = 12;
  std::string text = fmt::format("\n{}\n", heading);
  for (std::size_t i = 0; i < std::min(counts.size(), most); ++i) {
    const std::string& reason = counts[i].reason;
    text += fmt::format("{:>7}  {}\n         first: {}\n", counts[i].rows,
                        reason.size() > 100 ? reason.substr(0, 97) + "..." : reason, counts[i].first);
  }
  if (counts.size() > most)
    text += fmt::format("         and {} further reasons (--format json lists every row)\n", counts.size() - most);
  return text;
}

}  // namespace

std::string percent(const std::optional<Metrics>& metrics, double Metrics::*member) {
  return metrics ? fmt::format("{:.1f} %", 100 * (*metrics).*member) : "-";
}

std::vector<ReasonCount> reasons(const Validation& validation, Status status) {
  std::map<std::string, ReasonCount> counts;
  for (std::size_t i = 0; i < validation.outcomes.size(); ++i) {
    const Outcome& outcome = validation.outcomes[i];
    if (outcome.status != status) continue;
    const std::string reason = outcome.reason.substr(0, outcome.reason.find(", found "));
    const MeasuredRow& row = validation.data.rows[i];
    ReasonCount& count = counts[reason];
    if (count.rows++ == 0) count = {reason, 1, fmt::format("{}:{}", validation.data.files[row.file], row.line)};
  }
  std::vector<ReasonCount> list;
  for (auto& [reason, count] : counts) list.push_back(std::move(count));
  std::ranges::stable_sort(list, std::greater{}, &ReasonCount::rows);
  return list;
}

std::string to_text(const Validation& validation, const std::vector<std::string>& by) {
  std::string text =
      fmt::format("{} rows: {} predicted, {} skipped, {} set aside, in {:.1f} s\n\ntime\n", validation.data.rows.size(),
                  validation.predicted, validation.skipped, validation.filtered, validation.wall_s);
  text += table_of(validation, by, &Group::time);
  if (validation.all && validation.all->power) text += "\npower\n" + table_of(validation, by, &Group::power);
  if (validation.all && validation.all->energy) text += "\nenergy\n" + table_of(validation, by, &Group::energy);
  text += reason_lines(validation, Status::skipped, "skipped rows, by reason");
  text += reason_lines(validation, Status::filtered, "rows set aside, as asked");
  return text;
}

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
