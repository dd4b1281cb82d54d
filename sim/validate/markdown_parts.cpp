#include "sim/validate/markdown_parts.hpp"

#include <fmt/format.h>

#include <map>

#include "sim/validate/write.hpp"

namespace noteg::validate {
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
         "\nMade by `./dev confidence FILES`, which takes 300 rows of each source, GPU, operation and family, and "
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
      outcome.fate = Fate::filtered;
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
