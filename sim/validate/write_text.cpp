#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/validate/write.hpp"

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

}  // namespace noteg::validate
