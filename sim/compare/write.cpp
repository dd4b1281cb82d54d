#include "sim/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/report/counters.hpp"
#include "sim/report/write.hpp"
#include "sim/support/csv.hpp"

namespace noteg::compare {
namespace {

using report::three_digits;

constexpr std::size_t label_width = 18;
constexpr std::size_t stalls_shown = 7;

std::string kernel_text(const kernels::KernelConfig& k) {
  std::string text = k.name;
  if (text.empty()) text = fmt::format("{} {}x{}x{}", name_of(k.family), k.tile.m, k.tile.n, k.tile.k);
  if (k.split_k > 1) text += fmt::format(", split K {}", k.split_k);
  return text;
}

std::string head(const Comparison& c) {
  const gpu::SimReport& first = c.reports.front();
  const kernels::GemmShape& s = first.shape;
  std::string text = fmt::format("problem  {}x{}x{}{}, {}, layout {}\n", s.m, s.n, s.k,
                                 s.batch > 1 ? fmt::format(", batch {}", s.batch) : "", name_of(first.kernel.dtype_in),
                                 name_of(first.kernel.layout));
  const auto same = [&](const gpu::SimReport& r) { return kernel_text(r.kernel) == kernel_text(first.kernel); };
  if (std::ranges::all_of(c.reports, same)) {
    text += fmt::format("kernel   {}\n", kernel_text(first.kernel));
  } else {
    for (std::size_t i = 0; i < c.reports.size(); ++i)
      text += fmt::format("{:<8} {:<{}} {}\n", i == 0 ? "kernels" : "", c.variants[i].label, label_width,
                          kernel_text(c.reports[i].kernel));
  }
  for (const Variant& one : c.variants)
    if (!one.what_if.empty()) text += fmt::format("what if  {}: {}\n", one.label, one.what_if);
  return text;
}

std::string results(const Comparison& c) {
  std::string text = fmt::format("\n{:<{}}{:>10}{:>9}{:>8}{:>7}{:>6}{:>11}{:>11}{:>8}\n", "GPU", label_width, "time",
                                 "TFLOP/s", "% peak", "MHz", "W", "energy", "TFLOP/s/W", "speed");
  for (std::size_t i = 0; i < c.reports.size(); ++i) {
    const gpu::SimReport& r = c.reports[i];
    text +=
        fmt::format("{:<{}}{:>10}{:>9}{:>8.1f}{:>7.0f}{:>6.0f}{:>11}{:>11.3f}{:>8}\n", c.variants[i].label, label_width,
                    report::figure(r.time_us, report::Unit::microseconds), three_digits(r.tflops), r.pct_of_peak,
                    r.sm_clock_mhz, r.power_w, report::figure(r.energy_mj, report::Unit::millijoules), r.tflops_per_w,
                    three_digits(c.reports.front().time_us / r.time_us) + "x");
  }
  text += fmt::format("\n{:<{}}{:<20}{:>8}{:>13}{:>8}{:>8}  {:<14}{}\n", "GPU", label_width, "limited by", "without",
                      "of roof", "L2 hits", "waves", "CTAs x warps", "limiter");
  for (std::size_t i = 0; i < c.reports.size(); ++i) {
    const gpu::SimReport& r = c.reports[i];
    const int ctas = std::max(1, r.occupancy.ctas_per_sm);
    const gpu::Bottleneck& b = r.bottleneck;
    text += fmt::format("{:<{}}{:<20}{:>8}{:>13}{:>7.0f}%{:>8}  {:<14}{}\n", c.variants[i].label, label_width,
                        b.name.substr(0, 19), three_digits(b.speedup_if_removed) + "x",
                        fmt::format("{:.0f}% {}", b.share_of_roof_pct, b.roof), 100 * r.memory.l2_hit_rate,
                        three_digits(r.occupancy.waves), fmt::format("{} x {}", ctas, r.occupancy.warps_per_sm / ctas),
                        name_of(r.occupancy.limiter));
  }
  return text;
}

// How far each time can be trusted, and why.
std::string intervals(const Comparison& c) {
  constexpr std::size_t interval_width = 24, why_width = 100 - label_width - interval_width;
  std::string text = fmt::format("\n{:<{}}{:<{}}{}\n", "GPU", label_width, "90 % interval", interval_width, "why");
  for (std::size_t i = 0; i < c.reports.size(); ++i) {
    std::string label = c.variants[i].label, interval = report::interval_text(c.reports[i]);
    for (const std::string& line : report::wrap(c.reports[i].confidence.because, why_width)) {
      text += fmt::format("{:<{}}{:<{}}{}\n", label, label_width, interval, interval_width, line);
      label = interval = "";
    }
  }
  return text;
}

// Columns in blocks, so that a page of many GPUs does not run out of its margin.
template <class Row>
std::string in_blocks(const std::vector<std::string>& labels, std::size_t first_width, std::size_t width,
                      std::string_view title, std::size_t rows, const Row& row) {
  constexpr std::size_t page = 100;
  const std::size_t per_block = std::max<std::size_t>(1, (page - first_width) / width);
  std::string text;
  for (std::size_t begin = 0; begin < labels.size(); begin += per_block) {
    const std::size_t end = std::min(begin + per_block, labels.size());
    text += fmt::format("\n{:<{}}", title, first_width);
    for (std::size_t i = begin; i < end; ++i) text += fmt::format("{:>{}}", labels[i].substr(0, width - 1), width);
    text += "\n";
    for (std::size_t r = 0; r < rows; ++r) text += row(r, begin, end);
  }
  return text;
}

std::string stalls(const Comparison& c, const std::vector<std::string>& labels) {
  struct Reason {
    std::string name;
    std::vector<double> shares;
    double most = 0;
  };
  std::vector<Reason> reasons;
  for (std::size_t s = 0; s < sm::stall_count; ++s) {
    Reason reason{std::string(sm::name_of(static_cast<sm::Stall>(s))), {}, 0};
    for (const gpu::SimReport& r : c.reports) {
      reason.shares.push_back(r.stalls[s]);
      reason.most = std::max(reason.most, r.stalls[s]);
    }
    reasons.push_back(std::move(reason));
  }
  std::ranges::stable_sort(reasons, std::greater{}, &Reason::most);
  const std::size_t shown = std::min(stalls_shown, reasons.size());
  Reason rest{"others", std::vector<double>(c.reports.size()), 0};
  for (std::size_t k = shown; k < reasons.size(); ++k)
    for (std::size_t i = 0; i < rest.shares.size(); ++i) rest.shares[i] += reasons[k].shares[i];
  reasons.resize(shown);
  reasons.push_back(std::move(rest));
  return in_blocks(labels, 22, 17, "warps (% of cycles)", reasons.size(),
                   [&](std::size_t r, std::size_t begin, std::size_t end) {
                     std::string line = fmt::format("  {:<20}", reasons[r].name);
                     for (std::size_t i = begin; i < end; ++i)
                       line += fmt::format("{:>17.1f}", 100 * reasons[r].shares[i]);
                     return line + "\n";
                   });
}

std::string one_waterfall(const Waterfall& w) {
  std::string text = fmt::format("\nfrom {} to {}: {} x the time\n", w.from, w.to, three_digits(w.ratio()));
  const auto line = [&](std::string_view name, double us, const std::string& ratio, const std::string& note) {
    text += fmt::format("  {:<26}{:>10}  {:>8}  {}", name, report::figure(us, report::Unit::microseconds), ratio, note);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  };
  line(w.from, w.from_us, "", "");
  for (const Step& step : w.steps) {
    const std::string note =
        step.group == "kernel" ? "the other side's kernel"
                               : fmt::format("{} key{} differ{}", step.fields_changed,
                                             step.fields_changed == 1 ? "" : "s", step.fields_changed == 1 ? "s" : "");
    line("+ " + step.group, step.time_us, fmt::format("x {:.3f}", step.ratio), note);
  }
  return text;
}

}  // namespace

std::string differences_text(const std::vector<std::string>& labels, const std::vector<arch::Difference>& differences) {
  if (differences.empty()) return "\nno key of the files differs\n";
  constexpr std::size_t width = 15;
  return in_blocks(labels, 40, width, "what differs in the files", differences.size(),
                   [&](std::size_t d, std::size_t begin, std::size_t end) {
                     std::string line = fmt::format("{:<40}", differences[d].field->key);
                     for (std::size_t i = begin; i < end; ++i) {
                       const std::string value = arch::format_value(*differences[d].field, differences[d].values[i]);
                       line += fmt::format("{:>{}}", value.size() < width ? value : value.substr(0, width - 3) + "..",
                                           width);
                     }
                     return line + "\n";
                   });
}

std::string to_text(const Comparison& comparison) {
  std::vector<std::string> labels;
  for (const Variant& one : comparison.variants) labels.push_back(one.label);
  std::string text = head(comparison) + results(comparison) + intervals(comparison) + stalls(comparison, labels);
  if (labels.size() > 1) text += differences_text(labels, comparison.differences);
  for (const Waterfall& one : comparison.waterfalls) text += one_waterfall(one);
  return text;
}

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
  for (const Variant& one : comparison.variants) labels.push_back(one.label);
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
    Json one{{"label", comparison.variants[i].label}, {"what_if", comparison.variants[i].what_if}};
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
    std::string first = csv_line({comparison.variants[i].label, comparison.variants[i].what_if});
    first.back() = ',';
    text += first + lines.substr(end);
  }
  return text;
}

}  // namespace noteg::compare
