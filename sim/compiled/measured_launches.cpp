#include "sim/compiled/measured_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/support/text.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::compiled {
namespace {

constexpr std::array<std::string_view, 6> needed{"launch", "kernel", "listing", "grid", "block", "args"};

// FILE as it stands, or with the endings that listings have, beside the table.
std::optional<std::filesystem::path> find_listing(const std::filesystem::path& folder, const std::string& name) {
  for (const std::string_view ending : {"", ".sass", ".sass.gz", ".gz", ".txt"}) {
    const std::filesystem::path path = folder / (name + std::string(ending));
    if (!name.empty() && std::filesystem::is_regular_file(path)) return path;
  }
  return std::nullopt;
}

struct Errors {
  double mape = 0, median = 0, p90 = 0, bias = 0;
  std::size_t rows = 0;
};

Errors errors_of(std::vector<double> ratios) {
  Errors out;
  out.rows = ratios.size();
  if (ratios.empty()) return out;
  double logs = 0;
  std::vector<double> off;
  for (const double ratio : ratios) {
    off.push_back(std::abs(ratio - 1));
    out.mape += off.back();
    logs += std::log(std::max(ratio, 1e-9));
  }
  std::ranges::sort(off);
  const auto n = static_cast<double>(ratios.size());
  out.mape /= n;
  out.median = off[off.size() / 2];
  out.p90 = off[std::min(off.size() - 1, static_cast<std::size_t>(0.9 * n))];
  out.bias = std::exp(logs / n);
  return out;
}

std::map<std::string, std::vector<double>> ratios_by_kernel(const LaunchValidation& validation) {
  std::map<std::string, std::vector<double>> out;
  for (const LaunchOutcome& each : validation.outcomes)
    if (each.run && each.measured_ms) out[each.kernel].push_back(each.run->report.time_us / 1e3 / *each.measured_ms);
  return out;
}

class Reader {
 public:
  Reader(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}
  [[nodiscard]] std::string_view operator()(std::string_view name) const {
    const auto at = table_.column(name);
    return at ? table_.rows.at(row_, *at) : std::string_view{};
  }
  [[nodiscard]] std::optional<double> number(std::string_view name) const { return noteg::parse_number((*this)(name)); }

 private:
  const CsvTable& table_;
  std::size_t row_;
};

}  // namespace

bool holds_launches(const CsvTable& table) {
  return std::ranges::all_of(needed, [&](std::string_view name) { return table.column(name).has_value(); });
}

Result<LaunchValidation> validate_launches(const std::string& path, const LaunchOptions& options) {
  Result<CsvTable> table = read_csv(path);
  if (!table) return table.errors();
  if (!holds_launches(*table))
    return Diagnostic{path, 1, 0, "", "the columns launch, kernel, listing, grid, block and args", "others"};
  LaunchValidation out;
  out.table = std::move(*table);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::map<std::string, Result<Listing>> listings;
  for (std::size_t i = 0; i < out.table.rows.size(); ++i) {
    const std::string name(Reader(out.table, i)("listing"));
    if (listings.contains(name)) continue;
    const auto file = find_listing(folder, name);
    listings.emplace(name, file ? read_listing(*file)
                                : Result<Listing>(Diagnostic{path, out.table.lines[i], 0, "listing",
                                                             "a listing beside the file", name}));
  }
  out.outcomes.resize(out.table.rows.size());
  share_work(out.outcomes.size(), options.jobs, {}, [&](std::size_t i) {
    const Reader row(out.table, i);
    LaunchOutcome& outcome = out.outcomes[i];
    outcome.line = out.table.lines[i];
    outcome.launch = row("launch");
    outcome.kernel = row("kernel");
    outcome.measured_ms = row.number("time_ms");
    const Result<Listing>& listing = listings.at(std::string(row("listing")));
    const auto skip = [&](const Diagnostics& errors) { outcome.skipped = errors.front().to_string(); };
    if (!listing) return skip(listing.errors());
    const Result<Launch> launch = launch_from_row({row("kernel"), row("grid"), row("block"), row("dynamic_shared"),
                                                   row("args"), row("static_shared"), row("regs"), row("cluster")},
                                                  path, outcome.line);
    if (!launch) return skip(launch.errors());
    CompiledRequest request;
    request.listing = &*listing;
    request.launch = *launch;
    request.gpu = options.gpu;
    request.options.exact = options.exact;
    request.options.sm_clock_mhz = row.number("sm_clock_mhz");
    Result<CompiledRun> run = simulate_compiled(request);
    if (!run) return skip(run.errors());
    outcome.run = std::move(*run);
  });
  return out;
}

std::string predictions_csv(const LaunchValidation& validation) {
  std::vector<std::string> head = validation.table.columns;
  for (const std::string_view name :
       {"predicted_time_ms", "predicted_cycles", "predicted_warp_instructions", "predicted_dram_bytes",
        "predicted_l2_sectors", "predicted_shared_wavefronts", "predicted_dram_read_bytes",
        "predicted_dram_write_bytes", "assumptions", "skipped_reason"})
    head.emplace_back(name);
  std::string out = csv_line(head);
  for (std::size_t i = 0; i < validation.outcomes.size(); ++i) {
    const LaunchOutcome& each = validation.outcomes[i];
    std::vector<std::string> fields = validation.table.rows.row(i);
    if (each.run) {
      const CompiledRun& run = *each.run;
      for (const double v : {run.report.time_us / 1e3, run.report.cycles, run.cold.warp_instructions,
                             run.cold.dram_read_bytes + run.cold.dram_write_bytes, run.cold.l2_sectors,
                             run.cold.shared_wavefronts, run.cold.dram_read_bytes, run.cold.dram_write_bytes})
        fields.push_back(fmt::format("{:.10g}", v));
      std::string assumptions;
      for (const std::string& text : run.assumptions) assumptions += (assumptions.empty() ? "" : "; ") + text;
      fields.push_back(assumptions);
    } else {
      fields.resize(fields.size() + 9);
    }
    fields.push_back(each.skipped);
    out += csv_line(fields);
  }
  return out;
}

std::string to_text(const LaunchValidation& validation) {
  std::string out = fmt::format("{:<40} {:>12} {:>12} {:>8}\n", "launch", "measured us", "predicted us", "off");
  std::vector<double> all;
  for (const LaunchOutcome& each : validation.outcomes) {
    if (!each.run) {
      out += fmt::format("{:<40} skipped: {}\n", each.launch, each.skipped);
      continue;
    }
    const double predicted = each.run->report.time_us;
    if (!each.measured_ms) {
      out += fmt::format("{:<40} {:>12} {:>12.2f}\n", each.launch, "-", predicted);
      continue;
    }
    const double measured = 1e3 * *each.measured_ms;
    all.push_back(predicted / measured);
    out += fmt::format("{:<40} {:>12.2f} {:>12.2f} {:>+7.1f}%\n", each.launch, measured, predicted,
                       100 * (predicted / measured - 1));
  }
  out += fmt::format("\n{:<40} {:>6} {:>8} {:>8} {:>8} {:>8}\n", "kernel", "rows", "MAPE", "median", "90 %", "bias");
  const auto line = [&](const std::string& name, const std::vector<double>& ratios) {
    const Errors e = errors_of(ratios);
    out += fmt::format("{:<40} {:>6} {:>6.1f} % {:>6.1f} % {:>6.1f} % {:>8.3f}\n", name, e.rows, 100 * e.mape,
                       100 * e.median, 100 * e.p90, e.bias);
  };
  for (const auto& [kernel, ratios] : ratios_by_kernel(validation)) line(kernel, ratios);
  line("all", all);
  return out;
}

std::string to_json(const LaunchValidation& validation) {
  using Json = nlohmann::ordered_json;
  Json root = Json::object();
  root["groups"] = Json::array();
  const auto metrics = [](const std::vector<double>& ratios) {
    const Errors e = errors_of(ratios);
    return Json{{"mape", e.mape}, {"median_ape", e.median}, {"p90_ape", e.p90}, {"bias", e.bias}};
  };
  std::vector<double> all;
  for (const auto& [kernel, ratios] : ratios_by_kernel(validation)) {
    root["groups"].push_back({{"kernel", kernel}, {"rows", ratios.size()}, {"time", metrics(ratios)}});
    all.insert(all.end(), ratios.begin(), ratios.end());
  }
  root["all"] = {{"rows", all.size()}, {"time", metrics(all)}};
  root["skipped"] = Json::array();
  for (const LaunchOutcome& each : validation.outcomes)
    if (!each.run) root["skipped"].push_back({{"row", each.line}, {"reason", each.skipped}});
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace noteg::compiled
