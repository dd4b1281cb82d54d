#include <fmt/format.h>

#include <set>

#include "arch/field.hpp"
#include "sim/validate/host_time.hpp"
#include "sim/validate/markdown_parts.hpp"
#include "sim/validate/measured_set.hpp"
#include "sim/validate/write.hpp"

namespace noteg::validate {
namespace {

std::string section(const Validation& validation, std::string_view title, const std::vector<std::string>& by) {
  std::string text = fmt::format("\n## {}\n\n|", title);
  std::string rule = "|";
  for (const std::string& column : by) {
    text += fmt::format(" {} |", column);
    rule += " --- |";
  }
  text += " rows | time MAPE | median | 90 % below | bias | in 90 % interval |\n" + rule +
          " ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const Group& group : group_rows(validation.data, validation.outcomes, by)) {
    text += "|";
    for (const std::string& key : group.keys) text += fmt::format(" {} |", escaped(key));
    text += fmt::format(" {} | {} | {} | {} | {} | {} |\n", group.rows, percent(group.time, &Metrics::mape),
                        percent(group.time, &Metrics::median_ape), percent(group.time, &Metrics::p90_ape),
                        group.time ? fmt::format("{:.3f}", group.time->bias) : "-", share_text(group.coverage_90));
  }
  return text;
}

// Values of a column, in the order of their letters.
std::set<std::string> values_of(const Validation& validation, std::string_view name, bool predicted_only) {
  std::set<std::string> values;
  const std::optional<std::size_t> column = validation.data.column(name);
  for (std::size_t i = 0; column && i < validation.outcomes.size(); ++i)
    if (!predicted_only || validation.outcomes[i].fate == Fate::predicted)
      values.insert(validation.data.rows[i].fields[*column]);
  return values;
}

std::string sources_section(const Validation& validation) {
  std::string text = "\n## The data\n\n| source | how it was measured |\n| --- | --- |\n";
  for (const std::string& source : values_of(validation, "source", false))
    text += fmt::format("| {} | {} |\n", source.empty() ? "(blank)" : escaped(source), measured_set_of(source).note);
  return text;
}

std::string reasons_section(const Validation& validation, Fate fate, std::string_view title, std::string_view none) {
  std::string text = fmt::format("\n## {}\n\n", title);
  const std::vector<ReasonCount> counts = reasons(validation, fate);
  if (counts.empty()) return text + std::string(none) + "\n";
  text += "| rows | reason |\n| ---: | --- |\n";
  for (const ReasonCount& reason : counts) text += fmt::format("| {} | {} |\n", reason.rows, escaped(reason.reason));
  return text;
}

// Host times belong to the measurement and not to a GPU's file, but they were fitted all the same.
std::string host_rows(const Validation& validation) {
  std::string rows;
  const std::set<std::string> sources = values_of(validation, "source", true);
  const std::set<std::string> gpus = values_of(validation, "gpu", true);
  for (const HostTimeRow& row : host_times())
    if (sources.contains(std::string(row.source)) && gpus.contains(std::string(row.gpu)))
      rows += fmt::format(
          "| {}, {}, {} | host floor {} us, lead {} us{} | short rows of {}, the half of the shapes called fitted |\n",
          row.source, row.op, row.gpu, row.time.floor_us, row.time.lead_us,
          row.time.second_launch_us > 0 ? fmt::format(", second launch {} us", row.time.second_launch_us) : "",
          row.source);
  return rows;
}

std::string fitted_section(const Validation& validation) {
  std::string rows = host_rows(validation);
  std::set<std::string> seen;
  for (const std::string& gpu : values_of(validation, "gpu", true)) {
    const Result<arch::SourcedGpu> sourced = arch::load_sourced_gpu(gpu);
    for (std::size_t i = 0; sourced && i < sourced->provenance.size(); ++i) {
      const std::string& data = sourced->provenance[i].fitted;
      if (data.empty()) continue;
      const arch::Field& field = arch::fields()[i];
      const std::string owner = field.of_sm() ? sourced->gpu.sm.name : sourced->gpu.id;
      if (seen.insert(owner + " " + std::string(field.key)).second)
        rows += fmt::format("| {} | `{}` | {} |\n", owner, field.key, escaped(data));
    }
  }
  const std::string head =
      "\n## Constants that were fitted\n\nAn error on data that a constant was fitted on shows how well the fit holds, "
      "not how well the model predicts.\n\n";
  return head + (rows.empty() ? "None.\n" : "| of | what | fitted on |\n| --- | --- | --- |\n" + rows);
}

}  // namespace

std::string to_markdown(const Validation& validation) {
  std::string text =
      "# Validation\n\nMade by `./dev validate`; do not edit. Mean absolute percentage error (MAPE) is the mean of "
      "|predicted / measured - 1|, bias the\n"
      "geometric mean of predicted / measured.\n\n";
  text += fmt::format("{} rows: {} predicted, {} skipped, {} set aside as asked.", validation.data.rows.size(),
                      validation.predicted, validation.skipped, validation.filtered);
  if (validation.all)
    text +=
        fmt::format(" Over all predicted rows the error of the time is {} (median {}).",
                    percent(validation.all->time, &Metrics::mape), percent(validation.all->time, &Metrics::median_ape));
  text += "\n" + sources_section(validation);
  const bool has_source = validation.data.column("source").has_value();
  text += section(validation, "By source and GPU",
                  has_source ? std::vector<std::string>{"source", "gpu"} : std::vector<std::string>{"gpu"});
  text += section(validation, "By GPU and kernel family", {"gpu", "family"});
  text += section(validation, "By measured time", {"time_decade"});
  text += section(validation, "By waves", {"waves"});
  text += section(validation, "By GPU and waves", {"gpu", "waves"});
  text += section(validation, "By GPU and measured time", {"gpu", "time_decade"});
  text += bad_slices_section(validation);
  text += intervals_section();
  text += halves_section(validation);
  text += reasons_section(validation, Fate::skipped, "Skipped rows", "None.");
  text += reasons_section(validation, Fate::filtered, "Rows set aside", "None.");
  return text + fitted_section(validation);
}

}  // namespace noteg::validate
