#include "sim/adapt/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/forest/random.hpp"
#include "sim/learn/estimate.hpp"
#include "sim/learn/study.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::adapt {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using learn::MeasuredTable;

constexpr std::size_t most_support = 500;  // rows of the process: a prediction takes as many covariances
constexpr std::size_t most_folds = 10;
constexpr double rows_half_believed = 20;  // n rows are believed n / (n + 20): pooled over the GPUs measured

double believed(std::size_t rows) {
  const auto n = static_cast<double>(rows);
  return n / (n + rows_half_believed);
}

// Held-out means of the process; rows beyond its support are held out by themselves.
struct Process {
  learn::GaussianProcess process;
  VectorXd held_out;
};

Process fit(const learn::Places& places, const VectorXd& y, const std::vector<std::size_t>& shapes) {
  const auto count = static_cast<std::size_t>(y.size());
  // Every so many shapes, each with all its rows, so that no shape is on both sides.
  const std::size_t step = (count + most_support - 1) / most_support;
  std::map<std::size_t, std::size_t> number;
  std::vector<std::size_t> support, beyond, groups;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t shape = number.emplace(shapes[i], number.size()).first->second;
    (shape % step == 0 && support.size() < most_support ? support : beyond).push_back(i);
    if (support.size() > groups.size()) groups.push_back(shapes[i]);
  }
  learn::ProcessFit fitted = learn::fit_process(learn::select(places, support), y(support), groups);
  Process out{std::move(fitted.process), VectorXd(y.size())};
  out.held_out(support) = fitted.held_out;
  if (!beyond.empty()) out.held_out(beyond) = out.process.mean(learn::select(places, beyond));
  return out;
}

// Mean error of the run times, as measured: with the host.
class Judge {
 public:
  Judge(const MeasuredTable& measured, const std::vector<std::size_t>& rows) : measured_(measured), rows_(rows) {}

  [[nodiscard]] double error(const VectorXd& log_ratio) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) sum += error_of(i, log_ratio[static_cast<Index>(i)]);
    return sum / static_cast<double>(rows_.size());
  }

  // The largest share of it with which rows held out are told better than by the simulator. The share of least error
  // would be one more thing that few rows have to tell: on the sets measured it is no better, 50 rows told worse.
  [[nodiscard]] double share(const VectorXd& log_ratio) const {
    const double simulator = error(0 * log_ratio);
    for (const double share : {1.0, 0.75, 0.5, 0.25, 0.125})
      if (error(share * log_ratio) < simulator) return share;
    return 0;
  }

 private:
  [[nodiscard]] double error_of(std::size_t i, double log_ratio) const {
    const learn::MeasuredRun& run = measured_.runs[rows_[i]];
    return std::abs(run.time_for(std::exp(log_ratio)) / run.measured_us - 1);
  }

  const MeasuredTable& measured_;
  const std::vector<std::size_t>& rows_;
};

learn::ProblemOptions problem_options(const MeasuredTable& measured) {
  using dataset::Group;
  learn::ProblemOptions options;
  options.groups = {Group::config, Group::physics, Group::counter};
  options.targets = {{learn::time_ratio}};
  const auto powers = std::ranges::count_if(measured.runs, [](const auto& run) { return run.measured_w > 0; });
  if (powers >= 20) options.targets.push_back({learn::power_ratio});
  options.leave_out = {"arch"};
  return options;
}

// log(ratio) of the first target as told of rows held out.
VectorXd told_of(const learn::Study& study) {
  const std::vector<learn::Point>& points = study.held_out.points.front();
  VectorXd told(static_cast<Index>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) told[static_cast<Index>(i)] = std::log(points[i].predicted);
  return told;
}

}  // namespace

std::optional<std::filesystem::path> shipped_rows() {
  for (const std::filesystem::path& folder :
       search_path("NOTEG_PRIOR_PATH", NOTEG_PRIOR_SOURCE_DIR, "models/adapt", {}))
    if (is_file(folder / "other_gpus.csv")) return folder / "other_gpus.csv";
  return std::nullopt;
}

Result<std::optional<learn::GaussianProcess>> process_of(const dataset::Table& others, const std::string& gpu) {
  const Result<learn::Places> places = learn::places_of(others, learn::coordinates());
  if (!places) return places.errors();
  const dataset::Values *names = others.find("arch"), *ratio = others.find(learn::time_ratio);
  if (names == nullptr || ratio == nullptr || ratio->is_text)
    return Diagnostic{others.file, 0, 0, names == nullptr ? "arch" : learn::time_ratio, "a column of this name",
                      "none"};
  const dataset::Values* source = others.find("source");
  std::vector<std::size_t> rows;
  std::vector<double> y;
  std::vector<std::string> sets;
  for (std::size_t row = 0; row < others.rows; ++row) {
    if (!(ratio->numbers[row] > 0) || names->text(row) == gpu) continue;
    rows.push_back(row);
    y.push_back(std::log(ratio->numbers[row]));
    sets.push_back(names->text(row) + " " + (source != nullptr ? source->text(row) : ""));
  }
  if (rows.empty()) return std::optional<learn::GaussianProcess>();
  return std::optional(learn::fit_others(learn::select(*places, rows),
                                         Eigen::Map<const VectorXd>(y.data(), static_cast<Index>(y.size())), sets));
}

Result<Mixture> fit_mixture(const MeasuredTable& measured, const std::optional<learn::GaussianProcess>& others,
                            std::uint64_t seed, unsigned jobs) {
  Result<learn::Problem> problem = learn::make_problem(measured.table, problem_options(measured));
  if (!problem) return problem.errors();
  const Result<learn::Places> places = learn::places_of(measured.table, learn::coordinates());
  if (!places) return places.errors();
  learn::PartProblem& part = problem->parts.front();
  const VectorXd y = part.y.col(0);
  const std::vector<std::size_t>& rows = part.rows;
  const std::vector<std::size_t> groups = learn::groups_of(measured.table, learn::shape_columns());
  std::vector<std::size_t> shapes;
  for (const std::size_t row : rows) shapes.push_back(groups[row]);
  const learn::Places own = learn::select(*places, rows);
  const VectorXd said = others ? others->mean(own) : VectorXd::Zero(y.size());
  Process process = fit(own, y - said, shapes);
  process.held_out += said;

  learn::StudyOptions options;
  options.forest.seed = seed;
  options.forest.threads = jobs;
  const std::vector<std::size_t> folds =
      learn::deal(groups, std::clamp<std::size_t>(learn::count_of(groups), 2, most_folds), seed);
  const double most = believed(rows.size());
  learn::Target& target = part.targets.front();
  target.shrink = most;
  const Result<learn::Study> alone = learn::study(*problem, folds, options);
  if (!alone) return alone.errors();
  if (alone->held_out.points.front().size() != rows.size())
    return Diagnostic{"", 0, 0, "--data", "rows of at least two shapes", "of one"};

  Mixture out;
  out.rows = rows;
  const double share = Judge(measured, rows).share(0.5 * (process.held_out + told_of(*alone)));
  out.process_share = 0.5 * share;
  out.forest_share = 0.5 * share * most;
  target.shrink = out.forest_share;
  part.base = out.process_share * process.held_out;
  const Result<learn::Study> both = learn::study(*problem, folds, options);
  if (!both) return both.errors();
  Result<learn::Model> model = learn::fit_model(*problem, learn::ModelKind::residual, options.forest);
  if (!model) return model.errors();
  std::size_t place = 0;
  for (learn::Part& fitted : model->parts)
    for (learn::Target& one : fitted.targets) {
      one.widen = both->widen[place];
      one.widen_of = both->widen_of[place++];
    }
  process.process.pull *= out.process_share;
  model->parts.front().base = {std::move(process.process)};
  if (others && out.process_share > 0) {
    out.others = true;
    model->parts.front().base.push_back(*others);
    model->parts.front().base.back().pull *= out.process_share;
  }
  for (const double log_ratio : told_of(*both)) out.held_out_ratio.push_back(std::exp(log_ratio));
  out.model = std::move(*model);
  return out;
}

namespace {

MeasuredTable part_of(const MeasuredTable& measured, const std::vector<std::size_t>& rows) {
  MeasuredTable part;
  part.table = dataset::select(measured.table, rows);
  for (const std::size_t row : rows) part.runs.push_back(measured.runs[row]);
  return part;
}

struct Split {
  std::vector<std::size_t> learned, judged;
};

// Rows of three shapes in five, drawn at random; all rows of shapes that none was drawn of judge. Where three in five
// hold too few, more shapes.
Split split_of(const std::vector<std::size_t>& shapes, std::size_t rows, std::uint64_t seed) {
  const std::size_t count = learn::count_of(shapes);
  std::vector<std::size_t> every(count);
  std::iota(every.begin(), every.end(), std::size_t{0});
  const std::vector<std::size_t> fifth = learn::deal(every, 5, seed);
  std::vector<std::size_t> order(shapes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  forest::Random random(seed);
  forest::shuffle(order, random);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return fifth[shapes[row]] < 3 ? 3 : fifth[shapes[row]]; });
  Split split;
  std::vector<bool> touched(count);
  for (const std::size_t row : order) {
    if (split.learned.size() == rows) break;
    split.learned.push_back(row);
    touched[shapes[row]] = true;
  }
  std::ranges::sort(split.learned);
  for (std::size_t row = 0; row < shapes.size(); ++row)
    if (!touched[shapes[row]]) split.judged.push_back(row);
  return split;
}

double error_of(const MeasuredTable& judged, const std::vector<double>& told_us) {
  double sum = 0;
  for (std::size_t i = 0; i < judged.runs.size(); ++i) sum += std::abs(told_us[i] / judged.runs[i].measured_us - 1);
  return sum / static_cast<double>(judged.runs.size());
}

Result<double> plain_error(const MeasuredTable& known, const MeasuredTable& judged, const CurveOptions& options) {
  learn::ProblemOptions problem_options;
  problem_options.groups = {dataset::Group::config};
  problem_options.targets = {{"measured.time_us"}};
  problem_options.leave_out = {"arch"};
  const Result<learn::Problem> problem = learn::make_problem(known.table, problem_options);
  if (!problem) return problem.errors();
  forest::ForestOptions forest;
  forest.seed = options.seed;
  forest.threads = options.jobs;
  const Result<learn::Model> model = learn::fit_model(*problem, learn::ModelKind::direct, forest);
  if (!model) return model.errors();
  const auto rows = learn::Estimator(*model).estimate(judged.table, false, options.jobs);
  if (!rows) return rows.errors();
  std::vector<double> told;
  for (const learn::RowEstimate& row : *rows) told.push_back(row.targets.front().value);
  return error_of(judged, told);
}

Result<CurvePoint> one_draw(const MeasuredTable& measured, const Split& split, const CurveOptions& options) {
  const MeasuredTable known = part_of(measured, split.learned), judged = part_of(measured, split.judged);
  const Result<Mixture> mixture = fit_mixture(known, options.others, options.seed, options.jobs);
  if (!mixture) return mixture.errors();
  const auto rows = learn::Estimator(mixture->model).estimate(judged.table, true, options.jobs);
  if (!rows) return rows.errors();
  std::vector<double> simulated, adapted;
  std::array<double, 3> inside{};
  for (std::size_t i = 0; i < judged.runs.size(); ++i) {
    simulated.push_back(judged.runs[i].time_for(1));
    const learn::Estimate& ratio = (*rows)[i].targets.front();
    adapted.push_back(judged.runs[i].time_for(ratio.value));
    for (std::size_t level = 0; level < inside.size(); ++level) {
      const double low = judged.runs[i].time_for(ratio.intervals[level].low);
      const double high = judged.runs[i].time_for(ratio.intervals[level].high);
      const bool holds = low <= judged.runs[i].measured_us && judged.runs[i].measured_us <= high;
      inside[level] += (holds ? 1.0 : 0.0) / static_cast<double>(judged.runs.size());
    }
  }
  const Result<double> plain = plain_error(known, judged, options);
  if (!plain) return plain.errors();
  CurvePoint point{split.learned.size(),
                   split.judged.size(),
                   error_of(judged, simulated),
                   error_of(judged, adapted),
                   *plain,
                   inside,
                   0};
  point.worst = point.adapted / point.simulator;
  return point;
}

}  // namespace

Result<std::vector<CurvePoint>> few_shot_curve(const MeasuredTable& measured, const CurveOptions& options) {
  const std::vector<std::size_t> shapes = learn::groups_of(measured.table, learn::shape_columns());
  std::vector<CurvePoint> curve;
  for (const std::size_t rows : options.rows) {
    if (5 * rows > 4 * shapes.size()) break;
    const std::size_t draws = std::max<std::size_t>(1, options.draws * 10 / std::max<std::size_t>(10, rows));
    CurvePoint mean;
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const Split split = split_of(shapes, rows, options.seed + draw);
      if (split.judged.empty()) return curve;
      const Result<CurvePoint> point = one_draw(measured, split, options);
      if (!point) return point.errors();
      const auto share = 1.0 / static_cast<double>(draws);
      mean.rows = rows;
      mean.judged += point->judged;
      mean.simulator += share * point->simulator;
      mean.adapted += share * point->adapted;
      mean.plain += share * point->plain;
      for (std::size_t level = 0; level < mean.inside.size(); ++level)
        mean.inside[level] += share * point->inside[level];
      mean.worst = std::max(mean.worst, point->worst);
    }
    mean.judged /= draws;
    curve.push_back(mean);
  }
  return curve;
}

}  // namespace noteg::adapt
