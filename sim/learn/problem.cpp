#include "sim/learn/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/forest/domain.hpp"
#include "sim/forest/out_of_bag.hpp"
#include "sim/support/text.hpp"

namespace noteg::learn {

namespace {

using dataset::Table;
using dataset::Values;
using Eigen::Index;

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

Diagnostic wrong(const Table& table, std::string column, std::string expected, std::string found) {
  return {table.file, 0, 0, std::move(column), std::move(expected), std::move(found)};
}

Diagnostic missing(const Table& table, const std::string& name) {
  std::vector<std::string> names;
  for (const Values& values : table.columns) names.push_back(values.column.name);
  const std::vector<std::string> near = nearest_names(name, names, 2);
  return wrong(table, name, "a column of this name", near.empty() ? "none" : "none (is it " + join_or(near) + "?)");
}

// Numbers: what was there, NaN where blank. Texts: codes.
double value_at(const Values& values, std::size_t row) {
  if (!values.is_text) return values.numbers[row];
  return values.codes[row] < 0 ? absent : static_cast<double>(values.codes[row]);
}

bool varies(const Values& values, std::size_t rows) {
  for (std::size_t row = 1; row < rows; ++row) {
    const double first = value_at(values, 0), here = value_at(values, row);
    if (std::isnan(first) != std::isnan(here) || (!std::isnan(here) && here != first)) return true;
  }
  return false;
}

Feature feature_of(const Values& values) {
  Feature feature{values.column, forest::FeatureKind::number, {}, 0, 0};
  if (values.is_text) {
    feature.kind = forest::FeatureKind::category;
    feature.categories = values.words;
    return feature;
  }
  feature.low = std::numeric_limits<double>::infinity();
  feature.high = -feature.low;
  for (const double number : values.numbers) {
    if (std::isnan(number)) continue;
    feature.low = std::min(feature.low, number);
    feature.high = std::max(feature.high, number);
  }
  return feature;
}

// A column that is blank throughout is neither numbers nor texts.
Feature constant_of(const Values& values) {
  const bool blank = std::isnan(value_at(values, 0));
  return blank ? Feature{values.column, forest::FeatureKind::number, {}, 1, 0} : feature_of(values);
}

void choose_features(const Table& table, const ProblemOptions& options, Problem& problem, Diagnostics& errors) {
  for (const Values& values : table.columns) {
    const dataset::Column& column = values.column;
    if (std::ranges::find(options.groups, column.group) == options.groups.end()) continue;
    if (std::ranges::find(options.leave_out, column.name) != options.leave_out.end()) continue;
    if (!varies(values, table.rows)) {
      if (column.group == dataset::Group::config) problem.constants.push_back(constant_of(values));
      continue;
    }
    if (values.is_text && values.words.size() >= forest::most_bins)
      errors.push_back(wrong(table, column.name, "at most 254 different texts", std::to_string(values.words.size())));
    problem.features.push_back(feature_of(values));
  }
  if (problem.features.empty())
    errors.push_back(
        wrong(table, "features", "at least one column whose values differ, of the groups asked for", "none"));
}

const Values* number_column(const Table& table, const std::string& name, Diagnostics& errors) {
  const Values* values = table.find(name);
  if (values == nullptr) {
    errors.push_back(missing(table, name));
  } else if (values->is_text) {
    errors.push_back(wrong(table, name, "numbers", "texts"));
    values = nullptr;
  }
  return values;
}

bool has_all(const std::vector<const Values*>& columns, std::size_t row) {
  return std::ranges::all_of(columns, [&](const Values* v) { return !std::isnan(v->numbers[row]); });
}

std::string anchor_for(const std::string& target, const Table& table, const ProblemOptions& options,
                       const std::vector<std::size_t>& rows) {
  const auto found = options.anchors.find(target);
  if (found == options.anchors.end()) return "";
  const Values* anchor = table.find(found->second);
  const bool usable = anchor != nullptr && !anchor->is_text &&
                      std::ranges::find(options.groups, anchor->column.group) != options.groups.end() &&
                      std::ranges::all_of(rows, [&](std::size_t row) { return anchor->numbers[row] > 0; });
  return usable ? found->second : "";
}

void make_part(const Table& table, const ProblemOptions& options, const std::vector<std::string>& names,
               Problem& problem, Diagnostics& errors) {
  std::vector<const Values*> columns;
  for (const std::string& name : names)
    if (const Values* values = number_column(table, name, errors)) columns.push_back(values);
  if (columns.size() < names.size()) return;
  PartProblem part;
  for (std::size_t row = 0; row < table.rows; ++row)
    if (has_all(columns, row)) part.rows.push_back(row);
  if (part.rows.size() < 2) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    errors.push_back(wrong(
        table, all,
        names.size() > 1 ? "at least two rows that have all of these targets" : "at least two rows with this target",
        std::to_string(part.rows.size())));
    return;
  }
  for (const Values* values : columns) {
    Target target;
    target.name = values->column.name;
    target.unit = values->column.unit;
    target.log = std::ranges::all_of(part.rows, [&](std::size_t row) { return values->numbers[row] > 0; });
    if (target.log) target.anchor = anchor_for(target.name, table, options, part.rows);
    part.targets.push_back(target);
  }
  const Result<Eigen::MatrixXd> offset = anchor_offsets(table, part.targets);
  if (!offset) {
    errors.insert(errors.end(), offset.errors().begin(), offset.errors().end());
    return;
  }
  part.offset.resize(static_cast<Index>(part.rows.size()), static_cast<Index>(columns.size()));
  part.y = part.offset;
  for (Index i = 0; i < part.y.rows(); ++i)
    for (Index t = 0; t < part.y.cols(); ++t) {
      const std::size_t row = part.rows[static_cast<std::size_t>(i)];
      const double value = columns[static_cast<std::size_t>(t)]->numbers[row];
      part.offset(i, t) = (*offset)(static_cast<Index>(row), t);
      part.y(i, t) = part.targets[static_cast<std::size_t>(t)].log ? std::log(value) - part.offset(i, t) : value;
    }
  problem.parts.push_back(std::move(part));
}

void take_weights(const Table& table, const std::string& name, Problem& problem, Diagnostics& errors) {
  const Values* values = name.empty() ? nullptr : number_column(table, name, errors);
  if (values == nullptr) return;
  problem.weights = Eigen::Map<const Eigen::VectorXd>(values->numbers.data(), static_cast<Index>(table.rows));
  if (!(problem.weights.array() > 0).all()) errors.push_back(wrong(table, name, "weights above 0", "something else"));
}

}  // namespace

Result<Eigen::MatrixXd> feature_matrix(const Table& table, const std::vector<Feature>& features) {
  Diagnostics errors;
  Eigen::MatrixXd x(static_cast<Index>(table.rows), static_cast<Index>(features.size()));
  dataset::ColumnsInOrder columns(table);
  for (std::size_t f = 0; f < features.size(); ++f) {
    const Feature& feature = features[f];
    const Values* values = columns.find(feature.column.name);
    const bool category = feature.kind == forest::FeatureKind::category;
    if (values == nullptr) {
      errors.push_back(missing(table, feature.column.name));
      continue;
    }
    bool all_blank = true;
    for (std::size_t row = 0; row < table.rows && all_blank; ++row) all_blank = values->is_blank(row);
    if (!category && values->is_text && !all_blank) {
      errors.push_back(wrong(table, feature.column.name, "numbers", "texts"));
      continue;
    }
    for (std::size_t row = 0; row < table.rows; ++row) {
      double& to = x(static_cast<Index>(row), static_cast<Index>(f));
      if (!category) {
        to = values->is_text ? absent : values->numbers[row];
        continue;
      }
      const auto word = std::ranges::find(feature.categories, values->text(row));
      to = word == feature.categories.end() ? absent : static_cast<double>(word - feature.categories.begin());
    }
  }
  if (!errors.empty()) return errors;
  return x;
}

std::vector<std::string> kinds_of(const Table& table) {
  std::vector<std::string> kinds(table.rows);
  for (const char* name : kind_columns)
    if (const Values* values = table.find(name))
      for (std::size_t row = 0; row < table.rows; ++row) kinds[row] += values->text(row) + " ";
  return kinds;
}

Result<Eigen::MatrixXd> anchor_offsets(const Table& table, const std::vector<Target>& targets) {
  Diagnostics errors;
  Eigen::MatrixXd offset = Eigen::MatrixXd::Zero(static_cast<Index>(table.rows), static_cast<Index>(targets.size()));
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (targets[t].anchor.empty()) continue;
    const Values* values = number_column(table, targets[t].anchor, errors);
    if (values == nullptr) continue;
    for (std::size_t row = 0; row < table.rows; ++row) {
      offset(static_cast<Index>(row), static_cast<Index>(t)) =
          values->numbers[row] > 0 ? std::log(values->numbers[row]) : absent;
    }
  }
  if (!errors.empty()) return errors;
  return offset;
}

Result<Problem> make_problem(const Table& table, const ProblemOptions& options) {
  Problem problem;
  Diagnostics errors;
  choose_features(table, options, problem, errors);
  for (const std::vector<std::string>& names : options.targets) make_part(table, options, names, problem, errors);
  take_weights(table, options.weights, problem, errors);
  if (!errors.empty()) return errors;
  const Result<Eigen::MatrixXd> x = feature_matrix(table, problem.features);
  if (!x) return x.errors();
  problem.x = *x;
  problem.kinds = kinds_of(table);
  return problem;
}

namespace {

using Eigen::Index;

constexpr double usual_share = 0.99;
constexpr std::size_t rows_asked = 1000;

forest::TrainingSet training_set(const Problem& problem, const PartProblem& part,
                                 const std::vector<std::size_t>& rows) {
  forest::TrainingSet set;
  for (const Feature& feature : problem.features) set.kinds.push_back(feature.kind);
  const auto count = static_cast<Index>(rows.size());
  set.x.resize(count, problem.x.cols());
  set.y.resize(count, part.y.cols());
  if (problem.weights.size() > 0) set.weights.resize(count);
  for (Index i = 0; i < count; ++i) {
    const std::size_t row = rows[static_cast<std::size_t>(i)];
    const auto source = static_cast<Index>(part.rows[row]);
    set.x.row(i) = problem.x.row(source);
    set.y.row(i) = part.y.row(static_cast<Index>(row));
    if (problem.weights.size() > 0) set.weights[i] = problem.weights[source];
  }
  return set;
}

std::vector<std::size_t> all_rows(const PartProblem& part) {
  std::vector<std::size_t> rows(part.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// Mean of exp(true - out of bag): what the exponential of a mean of logarithms falls short by.
std::vector<double> smearing_of(const std::vector<Target>& targets, const Eigen::MatrixXd& truth,
                                const Eigen::MatrixXd& fitted) {
  std::vector<double> factors(targets.size(), 1);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (!targets[t].log || targets[t].shrink != 1) continue;  // what is believed in part has no such bias
    double sum = 0, count = 0;
    for (Index row = 0; row < truth.rows(); ++row) {
      const double miss = truth(row, static_cast<Index>(t)) - fitted(row, static_cast<Index>(t));
      if (std::isfinite(miss)) sum += std::exp(miss), ++count;
    }
    if (count > 0) factors[t] = sum / count;
  }
  return factors;
}

}  // namespace

Result<Fitted> fit_part(const Problem& problem, std::size_t part, const std::vector<std::size_t>& rows,
                        const forest::ForestOptions& options) {
  const PartProblem& chosen = problem.parts[part];
  const forest::TrainingSet set = training_set(problem, chosen, rows.empty() ? all_rows(chosen) : rows);
  Result<forest::Forest> trained = forest::train_forest(set, options);
  if (!trained) return trained.errors();
  Fitted fitted{std::move(*trained), {}, {}};
  for (const Target& target : chosen.targets) fitted.shrink.push_back(target.shrink);
  fitted.smearing = smearing_of(chosen.targets, set.y, forest::out_of_bag(fitted.forest, set.x, options.threads));
  return fitted;
}

Result<Model> fit_model(const Problem& problem, ModelKind kind, const forest::ForestOptions& options) {
  Model model;
  model.kind = kind;
  model.features = problem.features;
  model.constants = problem.constants;
  for (std::size_t p = 0; p < problem.parts.size(); ++p) {
    const PartProblem& source = problem.parts[p];
    Result<Fitted> fitted = fit_part(problem, p, {}, options);
    if (!fitted) return fitted.errors();
    Part part;
    part.targets = source.targets;
    part.forest = std::move(fitted->forest);
    for (std::size_t t = 0; t < part.targets.size(); ++t) part.targets[t].smearing = fitted->smearing[t];
    const forest::TrainingSet set = training_set(problem, source, all_rows(source));
    part.training_bins = row_major_bins(forest::bin_columns(set.x, part.forest.features), set.features());
    part.usual_distance = forest::Domain(part.forest, part.training_bins).usual_distance(usual_share, rows_asked);
    model.parts.push_back(std::move(part));
  }
  model.trained_on.rows = static_cast<std::size_t>(problem.x.rows());
  model.trained_on.hash = hash_of(problem);
  return model;
}

std::string hash_of(const Problem& problem) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](double value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 0x100000001b3ULL;
  };
  for (const double value : problem.x.reshaped()) mix(std::isnan(value) ? -0.0 : value);
  for (const PartProblem& part : problem.parts)
    for (const double value : part.y.reshaped()) mix(value);
  return fmt::format("{:016x}", hash);
}

}  // namespace noteg::learn
