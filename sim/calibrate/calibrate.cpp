#include "sim/calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "sim/calibrate/least_squares.hpp"
#include "sim/support/text.hpp"
#include "sim/support/work_sharing.hpp"
#include "sim/validate/measured_source.hpp"
#include "sim/validate/operator_case.hpp"
#include "sim/validate/outcome.hpp"

namespace noteg::calibrate {
namespace {

using Eigen::VectorXd;
using validate::MeasuredCase;
using validate::Outcome;

constexpr std::size_t rows_per_constant = 2;  // fewer say nothing

struct Rows {
  std::vector<MeasuredCase> fitted, held_out;
  std::size_t others = 0;
  std::map<std::string, std::size_t> skipped;
};

bool is_of(const std::string& name, const arch::GpuSpec& gpu) {
  const auto same = [&](const std::string& other) { return to_lower(other) == to_lower(name); };
  return same(gpu.id) || same(gpu.name) || std::ranges::any_of(gpu.names, same);
}

// The case of a row of the GPU, or why there is none; the kernel of a library call is chosen for the GPU as it is
// before the fit.
std::variant<MeasuredCase, std::string> case_of(const arch::GpuSpec& gpu, const validate::MeasuredData& data,
                                                const validate::MeasuredRow& row, const validate::Chooser& chooser) {
  validate::CaseOrReason built =
      validate::case_of(data, row, validate::TimeColumn::as_taken, validate::unknown_kernels(chooser));
  MeasuredCase* measured = std::get_if<MeasuredCase>(&built);
  if (measured == nullptr) return std::get<std::string>(built);
  if (measured->quantises) return "the time holds another kernel, which quantises the activations";
  validate::settle_l2(*measured, gpu);
  if (const Diagnostics errors = validate::settle_kernel(*measured, gpu, chooser); !errors.empty())
    return to_string(errors);
  return std::move(*measured);
}

Rows rows_of(const arch::GpuSpec& gpu, const validate::MeasuredData& data, const validate::Chooser& chooser) {
  Rows rows;
  for (const validate::MeasuredRow& row : data.rows) {
    if (!is_of(std::string(validate::RowView(data, row).text(validate::Column::gpu)), gpu)) {
      ++rows.others;
      continue;
    }
    std::variant<MeasuredCase, std::string> measured = case_of(gpu, data, row, chooser);
    if (const std::string* reason = std::get_if<std::string>(&measured)) {
      ++rows.skipped[*reason];
      continue;
    }
    auto& one = std::get<MeasuredCase>(measured);
    (validate::in_held_out_fifth(one.shape) ? rows.held_out : rows.fitted).push_back(std::move(one));
  }
  return rows;
}

// Squares for small errors, straight for large ones: a row that is off for another reason must not bend the fit.
double softened(double error) {
  constexpr double usual = 0.1;  // error of a good model
  const double ratio = error / usual;
  return std::copysign(usual * std::sqrt(2 * (std::sqrt(1 + ratio * ratio) - 1)), error);
}

class Fit {
 public:
  Fit(const validate::Simulator& simulator, unsigned jobs) : simulator_(simulator), jobs_(jobs) {}

  [[nodiscard]] std::vector<Outcome> predict(const arch::GpuSpec& gpu, const std::vector<MeasuredCase>& cases) const {
    std::vector<Outcome> outcomes(cases.size());
    share_work(cases.size(), jobs_, {}, [&](std::size_t i) {
      const MeasuredCase& one = cases[i];
      const Result<gpu::SimReport> report = simulator_(gpu, one.config, one.shape, one.options);
      if (report) outcomes[i] = validate::outcome_of(one, gpu, *report);
    });
    return outcomes;
  }

  // Logarithms of predicted over measured: times and powers weigh alike, whatever their size. Energy counts where
  // the row has no power, which it would only repeat.
  [[nodiscard]] VectorXd residuals(const arch::GpuSpec& gpu, const std::vector<MeasuredCase>& cases) const {
    std::vector<double> all;
    for (const Outcome& outcome : predict(gpu, cases)) {
      const bool has_power = outcome.power_w.has_value();
      for (const auto& pair : {outcome.time_ms, outcome.power_w, has_power ? std::nullopt : outcome.energy_j})
        if (pair) all.push_back(softened(std::log(pair->predicted / pair->measured)));
    }
    return Eigen::Map<const VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
  }

  [[nodiscard]] Errors errors(const arch::GpuSpec& gpu, const std::vector<MeasuredCase>& cases) const {
    std::vector<validate::Pair> time, power, energy;
    for (const Outcome& outcome : predict(gpu, cases)) {
      if (outcome.time_ms) time.push_back(*outcome.time_ms);
      if (outcome.power_w) power.push_back(*outcome.power_w);
      if (outcome.energy_j) energy.push_back(*outcome.energy_j);
    }
    return {validate::metrics_of(time), validate::metrics_of(power), validate::metrics_of(energy), cases.size()};
  }

 private:
  const validate::Simulator& simulator_;
  unsigned jobs_;
};

Diagnostics check_rows(const Rows& rows, std::size_t constants, const arch::GpuSpec& gpu) {
  const std::size_t wanted = rows_per_constant * constants;
  if (rows.fitted.size() + rows.held_out.size() == 0)
    return {{"", 0, 0, "--data", "rows of " + gpu.name + " that can be predicted",
             fmt::format("none: {} are of other GPUs{}", rows.others,
                         rows.skipped.empty() ? "" : ", others: " + rows.skipped.begin()->first)}};
  Diagnostics errors;
  if (rows.fitted.size() < wanted)
    errors.push_back({"", 0, 0, "--data", fmt::format("at least {} rows to fit {} constants on", wanted, constants),
                      std::to_string(rows.fitted.size())});
  if (rows.held_out.empty())
    errors.push_back({"", 0, 0, "--data", "more shapes: one in five is held out to judge the fit", "none held out"});
  return errors;
}

// Few rows that err for other reasons drag constants that hardly matter to them far away. So each is an observation of
// itself too: its start, as uncertain as such a constant is, beside rows as uncertain as the free fit leaves them. Rows
// that the model meets exactly leave nothing to the start.
template <class Residuals>
VectorXd held_to_start(const Residuals& residuals, const Solution& free, const VectorXd& start,
                       const Fields& constants) {
  const std::optional<VectorXd> left = residuals(free.parameters);
  if (!left || left->size() == 0) return free.parameters;
  const double usual = std::sqrt(left->squaredNorm() / static_cast<double>(left->size()));
  const auto with_start = [&](const VectorXd& values) -> std::optional<VectorXd> {
    const std::optional<VectorXd> rows = residuals(values);
    if (!rows) return std::nullopt;
    VectorXd all(rows->size() + values.size());
    all.head(rows->size()) = *rows;
    for (Eigen::Index i = 0; i < values.size(); ++i)
      all[rows->size() + i] =
          std::log(values[i] / start[i]) * usual / uncertainty_of(*constants[static_cast<std::size_t>(i)]);
    return all;
  };
  const std::optional<Solution> held = least_squares(with_start, start, box_of(start, constants));
  return held ? held->parameters : free.parameters;
}

// Measured values carry three digits at best, and so do fitted ones.
double rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3);
  return std::stod(fmt::format("{:.4g}", std::round(value / unit) * unit));
}

std::string mark(const validate::MeasuredData& data, const Rows& rows) {
  std::string files;
  for (const std::string& file : data.files)
    files += (files.empty() ? "" : ", ") + std::filesystem::path(file).filename().string();
  return fmt::format("{}: {} rows; the {} rows of every fifth shape judge it", files, rows.fitted.size(),
                     rows.held_out.size());
}

}  // namespace

Result<Calibration> calibrate(const arch::SourcedGpu& gpu, const validate::MeasuredData& data, const Request& request,
                              const validate::Simulator& simulator) {
  const Result<Fields> chosen = chosen_fields(gpu, request.constants.empty() ? default_keys(gpu) : request.constants);
  if (!chosen) return chosen.errors();
  const Rows rows = rows_of(gpu.gpu, data, request.chooser);
  if (Diagnostics errors = check_rows(rows, chosen->size(), gpu.gpu); !errors.empty()) return errors;

  const Fit fit(simulator, request.jobs);
  const VectorXd start = values_of(gpu.gpu, *chosen);
  const Eigen::Index expected = fit.residuals(gpu.gpu, rows.fitted).size();
  const auto residuals = [&](const VectorXd& values) -> std::optional<VectorXd> {
    const std::optional<arch::GpuSpec> changed = with_values(gpu.gpu, *chosen, values);
    if (!changed) return std::nullopt;
    VectorXd all = fit.residuals(*changed, rows.fitted);
    if (all.size() != expected || !all.allFinite()) return std::nullopt;
    return all;
  };
  const std::optional<Solution> solution = least_squares(residuals, start, box_of(start, *chosen));
  if (!solution || expected == 0 || solution->sensitivity.cwiseAbs().maxCoeff() <= 0)
    return Diagnostic{"", 0, 0, "--data", "rows whose time, power or energy depends on the constants", "none"};

  Calibration out;
  out.gpu = gpu;
  VectorXd values = held_to_start(residuals, *solution, start, *chosen);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const arch::Field& field = *(*chosen)[static_cast<std::size_t>(i)];
    const bool moved = solution->sensitivity[i] > 0;
    values[i] = moved ? rounded(values[i]) : start[i];
    out.constants.push_back({std::string(field.key), start[i], values[i], moved});
    field.set(out.gpu.gpu, arch::Value{values[i]});
    if (moved) out.gpu.provenance[*arch::find_field(field.key)] = {gpu.gpu.file, {}, "", mark(data, rows), ""};
  }
  out.fitted_rows = rows.fitted.size();
  out.held_out_rows = rows.held_out.size();
  out.other_rows = rows.others;
  out.skipped = rows.skipped;
  out.before = fit.errors(gpu.gpu, rows.held_out);
  out.after = fit.errors(out.gpu.gpu, rows.held_out);
  out.fitted_before = fit.errors(gpu.gpu, rows.fitted);
  out.fitted_after = fit.errors(out.gpu.gpu, rows.fitted);
  return out;
}

}  // namespace noteg::calibrate
