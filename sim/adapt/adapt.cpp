#include "sim/adapt/adapt.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "sim/adapt/mixture.hpp"
#include "sim/calibrate/calibrate.hpp"
#include "sim/calibrate/least_squares.hpp"
#include "sim/forest/random.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/study.hpp"
#include "sim/support/text.hpp"

namespace noteg::adapt {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using learn::MeasuredTable;
using validate::MeasuredData;

constexpr std::size_t fewest_rows = 4;
constexpr std::size_t rows_for_slopes = 32;  // each is simulated once more per constant
constexpr double nudge = 0.95;               // factor by which slopes are told
constexpr double says_something = 0.9;       // of the prior's deviation: what is left must be below

// What rows of a card can tell.
constexpr const char* told_by_rows[] = {"clock.sustained", "dram.read_efficiency", "launch.kernel"};

bool is_of(const std::string& name, const arch::GpuSpec& gpu) {
  const auto same = [&](const std::string& other) { return to_lower(other) == to_lower(name); };
  return same(gpu.id) || same(gpu.name) || std::ranges::any_of(gpu.names, same);
}

MeasuredData with_rows(const MeasuredData& data, const std::vector<std::size_t>& rows) {
  MeasuredData out{data.files, data.columns, {}};
  for (const std::size_t row : rows) out.rows.push_back(data.rows[row]);
  return out;
}

// The rows of the GPU, as many as asked for.
MeasuredData rows_of(const arch::GpuSpec& gpu, const MeasuredData& data, const Request& request) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    if (is_of(std::string(validate::RowView(data, data.rows[i]).text(validate::Column::gpu)), gpu)) rows.push_back(i);
  if (request.rows > 0 && request.rows < rows.size()) {
    forest::Random random(request.seed);
    for (std::size_t i = 0; i < request.rows; ++i)
      std::swap(rows[i], rows[i + random.below(static_cast<std::uint32_t>(rows.size() - i))]);
    rows.resize(request.rows);
    std::ranges::sort(rows);
  }
  return with_rows(data, rows);
}

// Rows whose time is the GPU's own, and log(measured / simulated) of each.
struct Known {
  std::vector<std::size_t> rows;  // of the table
  VectorXd y;
  learn::Places places;
  std::vector<std::size_t> shapes;  // rows of one shape share a number
};

Result<Known> known_of(const MeasuredTable& measured) {
  const std::vector<double>& ratio = measured.table.find(learn::time_ratio)->numbers;
  const std::vector<std::size_t> shapes = learn::groups_of(measured.table, learn::shape_columns());
  Known known;
  for (std::size_t row = 0; row < measured.table.rows; ++row)
    if (ratio[row] > 0) known.rows.push_back(row), known.shapes.push_back(shapes[row]);
  if (known.rows.size() < fewest_rows)
    return Diagnostic{"",
                      0,
                      0,
                      "--data",
                      fmt::format("at least {} rows whose time is the GPU's own", fewest_rows),
                      fmt::format("{}", known.rows.size())};
  known.y.resize(static_cast<Index>(known.rows.size()));
  for (std::size_t i = 0; i < known.rows.size(); ++i) known.y[static_cast<Index>(i)] = std::log(ratio[known.rows[i]]);
  Result<learn::Places> places = learn::places_of(measured.table, learn::coordinates());
  if (!places) return places.errors();
  known.places = learn::select(*places, known.rows);
  return known;
}

class Adapter {
 public:
  Adapter(const arch::SourcedGpu& gpu, const MeasuredData& data, const Request& request,
          const validate::Simulator& simulator)
      : gpu_(gpu), data_(rows_of(gpu.gpu, data, request)), request_(request), simulator_(simulator) {
    out_.gpu = gpu;
    out_.other_gpus = data.rows.size() - data_.rows.size();
  }

  Result<Adaptation> run() {
    if (data_.rows.empty())
      return Diagnostic{
          "", 0, 0, "--data", "rows of " + gpu_.gpu.name, fmt::format("none: {} are of other GPUs", out_.other_gpus)};
    Result<MeasuredTable> measured = simulated(gpu_.gpu, data_);
    if (!measured) return measured.errors();
    out_.skipped = measured->reasons;
    Result<Known> known = known_of(*measured);
    if (!known) return known.errors();
    if (request_.constants)
      if (Diagnostics errors = move_constants(*measured, *known); !errors.empty()) return errors;
    return model(*measured, *known);
  }

 private:
  void say(const std::string& what) const {
    if (request_.tell) request_.tell(what);
  }

  // Kernels are chosen for the GPU as its file has it: a constant that moves must not change what ran.
  [[nodiscard]] Result<MeasuredTable> simulated(const arch::GpuSpec& gpu, const MeasuredData& data) const {
    learn::MeasuredOptions options;
    options.jobs = request_.jobs;
    options.gpu = gpu;
    if (request_.chooser)
      options.chooser = [this](const arch::GpuSpec&, const kernels::KernelConfig& frame,
                               const kernels::GemmShape& shape,
                               const gpu::SimOptions& sim) { return request_.chooser(gpu_.gpu, frame, shape, sim); };
    return learn::measured_table(data, options, simulator_);
  }

  // As many as the file may still have fitted.
  [[nodiscard]] calibrate::Fields fields(VectorXd& deviations) const {
    std::vector<std::string> keys;
    calibrate::Fields fields;
    std::vector<double> prior;
    for (const char* key : told_by_rows) {
      keys.emplace_back(key);
      if (const Result<calibrate::Fields> chosen = calibrate::chosen_fields(gpu_, keys)) {
        fields = *chosen;
        prior.push_back(calibrate::uncertainty_of(*fields.back()));
      } else {
        keys.pop_back();
      }
    }
    deviations = Eigen::Map<const VectorXd>(prior.data(), static_cast<Index>(prior.size()));
    return fields;
  }

  // How simulated times move with the logarithm of each constant.
  Result<Eigen::MatrixXd> slopes(const calibrate::Fields& fields, const MeasuredData& some,
                                 const std::vector<double>& before) const {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Index>(before.size()), static_cast<Index>(fields.size()));
    const VectorXd values = calibrate::values_of(gpu_.gpu, fields);
    for (Index c = 0; c < values.size(); ++c) {
      VectorXd nudged = values;
      nudged[c] *= nudge;
      const std::optional<arch::GpuSpec> gpu = calibrate::with_values(gpu_.gpu, fields, nudged);
      if (!gpu) continue;
      const Result<MeasuredTable> after = simulated(*gpu, some);
      if (!after) return after.errors();
      if (after->runs.size() != before.size()) continue;
      for (std::size_t i = 0; i < before.size(); ++i)
        out(static_cast<Index>(i), c) = std::log(after->runs[i].simulated_us / before[i]) / std::log(nudge);
    }
    return out;
  }

  Diagnostics move_constants(MeasuredTable& measured, Known& known) {
    VectorXd prior;
    const calibrate::Fields constants = fields(prior);
    if (constants.empty()) return {};
    say("constants that the rows can tell");
    std::vector<std::size_t> rows, places;
    std::vector<double> before;
    const std::size_t step = (known.rows.size() + rows_for_slopes - 1) / rows_for_slopes;
    for (std::size_t i = 0; i < known.rows.size(); i += step) {
      places.push_back(i);
      rows.push_back(measured.source[known.rows[i]]);
      before.push_back(measured.runs[known.rows[i]].simulated_us);
    }
    const Result<Eigen::MatrixXd> slope = slopes(constants, with_rows(data_, rows), before);
    if (!slope) return slope.errors();
    VectorXd y(static_cast<Index>(places.size()));
    std::vector<std::size_t> shapes;
    for (std::size_t i = 0; i < places.size(); ++i) {
      y[static_cast<Index>(i)] = known.y[static_cast<Index>(places[i])];
      shapes.push_back(known.shapes[places[i]]);
    }
    const learn::ConstantsFit fit =
        learn::fit_constants(learn::select(known.places, places), y, shapes, {*slope, prior});
    return take_constants(constants, prior, fit, measured, known);
  }

  Diagnostics take_constants(const calibrate::Fields& constants, const VectorXd& prior, const learn::ConstantsFit& fit,
                             MeasuredTable& measured, Known& known) {
    const VectorXd start = calibrate::values_of(gpu_.gpu, constants);
    const calibrate::Box box = calibrate::box_of(start, constants);
    VectorXd values = start;
    bool any = false;
    for (Index c = 0; c < start.size(); ++c) {
      const bool known_better = fit.deviations[c] < says_something * prior[c];
      const double to = std::clamp(start[c] * std::exp(fit.moves[c]), box.low[c], box.high[c]);
      if (known_better) values[c] = std::stod(fmt::format("{:.4g}", to));
      const arch::Field& field = *constants[static_cast<std::size_t>(c)];
      out_.constants.push_back({std::string(field.key), std::string(base_text(field.unit)), start[c], values[c],
                                prior[c], fit.deviations[c], known_better});
      any = any || known_better;
    }
    const std::optional<arch::GpuSpec> gpu = calibrate::with_values(gpu_.gpu, constants, values);
    if (!any || !gpu || fit.error >= fit.error_without) return {};
    Result<MeasuredTable> again = simulated(*gpu, data_);
    if (!again) return again.errors();
    Result<Known> now = known_of(*again);
    // All rows have the last word: what is left over must be told better than before.
    if (!now || held_out_error(*now) >= held_out_error(known)) return {};
    out_.constants_helped = true;
    simulator_before_ = simulator_error(measured);
    measured = std::move(*again);
    known = std::move(*now);
    for (Index c = 0; c < values.size(); ++c) {
      const arch::Field& field = *constants[static_cast<std::size_t>(c)];
      if (values[c] == start[c]) continue;
      field.set(out_.gpu.gpu, arch::Value{values[c]});
      out_.gpu.provenance[*arch::find_field(field.key)] = {gpu_.gpu.file, {}, "", mark(), ""};
    }
    return {};
  }

  [[nodiscard]] static double held_out_error(const Known& known) {
    const VectorXd said = learn::fit_process(known.places, known.y, known.shapes).held_out;
    return ((known.y - said).array().exp() - 1).abs().mean();
  }

  [[nodiscard]] std::string files() const {
    std::string files;
    for (const std::string& file : data_.files)
      files += (files.empty() ? "" : ", ") + std::filesystem::path(file).filename().string();
    return files;
  }

  [[nodiscard]] std::string mark() const {
    return fmt::format("{}: {} rows, with what is known of the constant beforehand", files(), data_.rows.size());
  }

  [[nodiscard]] static double simulator_error(const MeasuredTable& measured) {
    double sum = 0;
    for (const learn::MeasuredRun& run : measured.runs) sum += std::abs(run.time_for(1) / run.measured_us - 1);
    return sum / static_cast<double>(measured.runs.size());
  }

  Result<Adaptation> model(const MeasuredTable& measured, const Known& known) {
    say("the model of what is left, whole shapes held out");
    std::optional<learn::GaussianProcess> others;
    if (request_.others) {
      Result<std::optional<learn::GaussianProcess>> made = process_of(*request_.others, gpu_.gpu.id);
      if (!made) return made.errors();
      others = std::move(*made);
    }
    Result<Mixture> mixture = fit_mixture(measured, others, request_.seed, request_.jobs);
    if (!mixture) return mixture.errors();
    out_.model = std::move(mixture->model);
    out_.model.trained_on.files = files();
    out_.model.trained_on.gpus = {gpu_.gpu.id};
    if (!request_.name.empty() && request_.name != gpu_.gpu.id) out_.model.trained_on.gpus.push_back(request_.name);
    out_.rows = known.rows.size();
    out_.shapes =
        learn::count_of(learn::groups_of(dataset::select(measured.table, known.rows), learn::shape_columns()));
    out_.hidden = measured.table.rows - known.rows.size();
    out_.simulator = simulator_before_.value_or(simulator_error(measured));
    out_.process_share = mixture->process_share;
    out_.forest_share = mixture->forest_share;
    out_.others = mixture->others;
    std::vector<double> ratio(measured.runs.size(), 1);
    for (std::size_t i = 0; i < known.rows.size(); ++i) ratio[known.rows[i]] = mixture->held_out_ratio[i];
    for (std::size_t row = 0; row < ratio.size(); ++row)
      out_.adapted += std::abs(measured.runs[row].time_for(ratio[row]) / measured.runs[row].measured_us - 1) /
                      static_cast<double>(ratio.size());
    return std::move(out_);
  }

  const arch::SourcedGpu& gpu_;
  MeasuredData data_;
  const Request& request_;
  const validate::Simulator& simulator_;
  std::optional<double> simulator_before_;  // error before constants moved
  Adaptation out_;
};

}  // namespace

Result<Adaptation> adapt(const arch::SourcedGpu& gpu, const MeasuredData& data, const Request& request,
                         const validate::Simulator& simulator) {
  return Adapter(gpu, data, request, simulator).run();
}

}  // namespace noteg::adapt
