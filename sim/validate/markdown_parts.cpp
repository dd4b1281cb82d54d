#include "sim/validate/markdown_parts.hpp"

#include <fmt/format.h>

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
