#include "sim/learn/fit.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "sim/forest/domain.hpp"
#include "sim/forest/out_of_bag.hpp"

namespace noteg::learn {
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
    if (!targets[t].log) continue;
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
  Fitted fitted{std::move(*trained), {}};
  fitted.smearing = smearing_of(chosen.targets, set.y, forest::out_of_bag(fitted.forest, set.x, options.threads));
  return fitted;
}

Result<Model> fit_model(const Problem& problem, ModelKind kind, const forest::ForestOptions& options) {
  Model model;
  model.kind = kind;
  model.features = problem.features;
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
