#include <fmt/format.h>

#include <map>
#include <set>

#include "arch/field.hpp"
#include "sim/validate/measured_set.hpp"
#include "sim/validate/measured_source.hpp"
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
    if (!predicted_only || validation.outcomes[i].status == Status::predicted)
      values.insert(validation.data.rows[i].fields[*column]);
  return values;
}

std::string sources_section(const Validation& validation) {
  std::string text = "\n## The data\n\n| source | how it was measured |\n| --- | --- |\n";
  for (const std::string& source : values_of(validation, "source", false))
    text += fmt::format("| {} | {} |\n", source.empty() ? "(blank)" : escaped(source), measured_set_of(source).note);
  return text;
}

std::string reasons_section(const Validation& validation, Status status, std::string_view title,
                            std::string_view none) {
  std::string text = fmt::format("\n## {}\n\n", title);
  const std::vector<ReasonCount> counts = reasons(validation, status);
  if (counts.empty()) return text + std::string(none) + "\n";
  text += "| rows | reason |\n| ---: | --- |\n";
  for (const ReasonCount& reason : counts) text += fmt::format("| {} | {} |\n", reason.rows, escaped(reason.reason));
  return text;
}

// Host times belong to the measurement and not to a GPU's file, but they were fitted all the same.
std::string host_time_lines(const Validation& validation) {
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
  std::string rows = host_time_lines(validation);
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
  text += reasons_section(validation, Status::skipped, "Skipped rows", "None.");
  text += reasons_section(validation, Status::filtered, "Rows set aside", "None.");
  return text + fitted_section(validation);
}

namespace {

constexpr std::size_t least_rows = 30;
constexpr double most_error = 0.15;
constexpr double short_ms = 0.2;  // below this the host's time counts

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "-";
}

std::string intervals_section() {
  const std::vector<gpu::Coverage>& all = gpu::shipped_errors().coverage;
  std::string text = fmt::format(
      "\n## Intervals\n\nEvery predicted time has an interval (`sim/confidence/measured_errors.hpp` has the law), made "
      "of {} "
      "measured "
      "runs in\n`sim/confidence/measured_errors.csv`; rows that a constant was fitted on are not among them. Here each "
      "run "
      "was judged "
      "by the others:\nall but those of its shape, of its kernel on every GPU, of its family, or of its GPU, with "
      "factors that "
      "other groups gave.\nThe fifth column counts every group alike, however many rows it has.\n\n"
      "| left out | rows | in 50 % | in 80 % | in 90 % | in 90 %, mean over groups | half the width of 90 %, median |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
      gpu::shipped_errors().errors.rows().size());
  std::map<std::string, std::map<std::string, double>> by_gpu;
  std::map<std::string, int> rows;
  for (const gpu::Coverage& c : all) {
    if (c.of == "all") {
      text +=
          fmt::format("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % | {:.0f} % |\n", c.left_out, c.rows,
                      100 * c.held[0], 100 * c.held[1], 100 * c.held[2], 100 * c.mean_over_groups, 100 * c.half_width);
    } else {
      by_gpu[c.of][c.left_out] = c.held.back();
      rows[c.of] = c.rows;
    }
  }
  text +=
      "\nThe same by GPU, shares in the 90 % interval. A GPU unlike the others keeps less when it is left out "
      "itself.\n\n"
      "| GPU | rows | shape | kernel | family | GPU |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const auto& [gpu, held] : by_gpu)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", gpu, rows[gpu], share_text(held.at("shape")),
                        share_text(held.at("kernel")), share_text(held.at("family")), share_text(held.at("gpu")));
  return text +
         "\nMade by `./dev confidence FILES`, which takes 200 rows of each source, GPU, operation and family, and "
         "cross-validates "
         "them:\nneusight_fp32, gpperf_cutlass_sgemm_rtx4070, gpperf_naive_tile_rtx4070, h200_gemm, vidur_fp16_linear, "
         "aiconfigurator_gemm,\nkerneltuner_xgemm_4096 and published_tables. `validate` says of the rows it is given "
         "which share "
         "lay inside.\n";
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string bad_slices_section(const Validation& validation) {
  const std::vector<std::vector<std::string>> cuts{{"gpu"},           {"family"},          {"waves"},
                                                   {"time_decade"},   {"gpu", "family"},   {"gpu", "waves"},
                                                   {"gpu", "kernel"}, {"family", "waves"}, {"gpu", "time_decade"}};
  std::string rows;
  std::size_t looked_at = 0;
  for (const std::vector<std::string>& by : cuts) {
    for (const Group& group : group_rows(validation.data, validation.outcomes, by)) {
      if (group.rows < least_rows || !group.time) continue;
      ++looked_at;
      if (group.time->mape > most_error)
        rows += fmt::format("| {} | {} | {} | {} | {:.3f} |\n", joined(by), escaped(joined(group.keys)), group.rows,
                            percent(group.time, &Metrics::mape), group.time->bias);
    }
  }
  const std::string head = fmt::format(
      "\n## Slices above 15 %\n\nOf {} slices of at least {} rows (by GPU, family, waves, measured time, and by GPU or "
      "family with\nanother of these), ",
      looked_at, least_rows);
  if (rows.empty()) return head + "none has a mean error above 15 %.\n";
  return head + "these have a mean error above 15 %:\n\n| by | slice | rows | time MAPE | bias |\n" +
         "| --- | --- | ---: | ---: | ---: |\n" + rows;
}

std::string halves_section(const Validation& validation) {
  std::vector<Outcome> short_rows = validation.outcomes;
  for (Outcome& outcome : short_rows)
    if (!outcome.prediction.host_included || !outcome.time_ms || outcome.time_ms->measured >= short_ms)
      outcome.status = Status::filtered;
  std::string rows;
  for (const Group& group : group_rows(validation.data, short_rows, {"gpu", "half"}))
    rows += fmt::format("| {} | {} | {} | {} | {:.3f} |\n", escaped(group.keys[0]), group.keys[1], group.rows,
                        percent(group.time, &Metrics::mape), group.time ? group.time->bias : 1.0);
  if (rows.empty()) return "";
  return "\n## Short rows whose time holds host dispatch\n\nThe host's time (see the constants below) was fitted on "
         "one "
         "half of the shapes, chosen by a hash; the other half\njudges it. Rows below 0.2 ms:\n\n"
         "| gpu | half | rows | time MAPE | bias |\n| --- | --- | ---: | ---: | ---: |\n" +
         rows;
}

}  // namespace noteg::validate
