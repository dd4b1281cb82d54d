#include "sim/learn/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/learn/model_head.hpp"

namespace noteg::learn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double smallest = 1e-6;   // of what a logarithm is taken of
constexpr double usual_miss = 2.5;  // in deviations of the noise: beyond it a row counts less
constexpr std::size_t most_support = 20000;

// Columns whose texts, together, name the family, the kernel and the weights.
constexpr std::array<const char*, 3> family_names{"kernel.dtype_in", "kernel.family", "kernel.layout"};
constexpr std::array<const char*, 6> kernel_names{"kernel.dtype_in", "kernel.family", "kernel.layout",
                                                  "kernel.tile_m",   "kernel.tile_n", "kernel.stages"};
constexpr std::array<const char*, 5> weight_names{"kernel.dtype_in", "kernel.family", "kernel.layout", "kernel.n",
                                                  "kernel.k"};

template <std::size_t n>
Result<std::vector<std::string>> texts_of(const dataset::Table& table, const std::array<const char*, n>& names) {
  std::vector<std::string> out(table.rows);
  Diagnostics errors;
  for (const char* name : names) {
    const dataset::Values* values = table.find(name);
    if (values == nullptr) {
      errors.push_back({table.file, 0, 0, name, "a column of this name", "none"});
      continue;
    }
    for (std::size_t row = 0; row < table.rows; ++row) out[row] += values->text(row) + " ";
  }
  if (!errors.empty()) return errors;
  return out;
}

// Weights by which rows beyond the usual noise count less: Huber's.
VectorXd trust_in(const VectorXd& miss, double noise) {
  return miss.unaryExpr([&](double m) { return 1 / std::max(1.0, std::abs(m) / (usual_miss * noise)); });
}

struct Solved {
  MatrixXd inverse;
  VectorXd pull;
  double evidence = 0;
};

// inverse: wanted too?
Solved solve(const MatrixXd& covariance, const VectorXd& y, double noise, bool inverse = false) {
  constexpr int rounds = 3;
  VectorXd trust = VectorXd::Ones(y.size());
  Eigen::LLT<MatrixXd> factor;
  VectorXd pull;
  for (int round = 0; round <= rounds; ++round) {
    MatrixXd noisy = covariance;
    noisy.diagonal() += (noise * noise * trust.cwiseInverse());
    factor.compute(noisy);
    pull = factor.solve(y);
    if (round < rounds) trust = trust_in(y - covariance * pull, noise);
  }
  const double log_det = 2 * factor.matrixLLT().diagonal().array().log().sum();
  return {inverse ? MatrixXd(factor.solve(MatrixXd::Identity(y.size(), y.size()))) : MatrixXd(), pull,
          -0.5 * (y.dot(pull) + log_det)};
}

// Means of rows without their own group, in closed form: y - inverse(group, group)^-1 pull(group).
VectorXd held_out(const Solved& solved, const VectorXd& y, const std::vector<std::size_t>& groups) {
  std::map<std::size_t, std::vector<Index>> members;
  for (std::size_t i = 0; i < groups.size(); ++i) members[groups[i]].push_back(static_cast<Index>(i));
  VectorXd out(y.size());
  for (const auto& [group, rows] : members) {
    const MatrixXd block = solved.inverse(rows, rows);
    const VectorXd pull = solved.pull(rows);
    const VectorXd miss = block.ldlt().solve(pull);
    for (std::size_t i = 0; i < rows.size(); ++i) out[rows[i]] = y[rows[i]] - miss[static_cast<Index>(i)];
  }
  return out;
}

double mean_error(const VectorXd& y, const VectorXd& said) {
  return y.size() == 0 ? 0 : ((y - said).array().exp() - 1).abs().mean();
}

Covariance scaled(Covariance c, double amplitude, double noise) {
  for (double* part : {&c.all, &c.family, &c.kernel, &c.weights, &c.near, &c.overhead, &c.family_overhead})
    *part *= amplitude;
  c.noise *= noise;
  return c;
}

// The amplitude and the noise under which the rows are least of a surprise, as far as other GPUs make them likely.
Covariance likely(const Places& places, const VectorXd& y) {
  const MatrixXd unit = covariance_of({}, places, places);
  constexpr double usual_spread = 0.6;  // of the logarithm of either, over the GPUs measured
  const auto prior = [&](double factor) { return -0.5 * std::pow(std::log(factor) / usual_spread, 2); };
  std::optional<std::pair<double, Covariance>> best;
  for (const double amplitude : {0.5, 0.7, 1.0, 1.4, 2.0})
    for (const double noise : {0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0}) {
      const Covariance c = scaled({}, amplitude, noise);
      const double evidence =
          solve(unit * (amplitude * amplitude), y, c.noise).evidence + prior(amplitude) + prior(noise);
      if (!best || evidence > best->first) best = {evidence, c};
    }
  return best->second;
}

// Rows that the amplitude is judged on: its evidence takes the cube of their number.
std::vector<std::size_t> some_rows(Index rows, std::size_t most) {
  const auto count = static_cast<std::size_t>(rows);
  const std::size_t step = std::max<std::size_t>(1, (count + most - 1) / most);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; i += step) out.push_back(i);
  return out;
}

Covariance likely_of(const Places& places, const VectorXd& y) {
  const std::vector<std::size_t> rows = some_rows(places.rows(), 150);
  return likely(select(places, rows), y(rows));
}

}  // namespace

const std::vector<Coordinate>& coordinates() {
  static const std::vector<Coordinate> all{
      {"time_us", "", true, 15},
      {"kernel.m", "", true, 34},
      {"kernel.n", "", true, 23},
      {"kernel.k", "", true, 22},
      {"kernel.split_k", "", true, 4.4},
      {"kernel.stages", "", true, 1.6},
      {"kernel.threads", "", true, 3.1},
      {"physics.compute_us", "time_us", true, 4.8},
      {"physics.l2_us", "time_us", true, 1.5},
      {"physics.latency_us", "time_us", true, 2.1},
      {"physics.wave_efficiency", "", false, 2.6},
      {"physics.useful_share", "", false, 3},
      {"physics.iterations", "", true, 21},
      {"physics.ctas_per_sm", "", true, 3},
      {"physics.arithmetic_intensity", "", true, 4.8},
      {"physics.power_share", "", false, 1.7},
      {"sm_clock_mhz", "", true, 4.7},
      {"pct_of_peak", "", false, 480},
  };
  return all;
}

Result<Places> places_of(const dataset::Table& table, const std::vector<Coordinate>& coordinates) {
  Places places;
  Diagnostics errors;
  places.x.setZero(static_cast<Index>(table.rows), static_cast<Index>(coordinates.size()));
  const auto numbers = [&](const std::string& name) -> const std::vector<double>* {
    const dataset::Values* values = table.find(name);
    if (values != nullptr && !values->is_text) return &values->numbers;
    errors.push_back(
        {table.file, 0, 0, name, "a column of numbers of this name", values == nullptr ? "none" : "texts"});
    return nullptr;
  };
  for (std::size_t c = 0; c < coordinates.size(); ++c) {
    const Coordinate& one = coordinates[c];
    const std::vector<double>* top = numbers(one.column);
    const std::vector<double>* over = one.over.empty() ? nullptr : numbers(one.over);
    if (top == nullptr || (!one.over.empty() && over == nullptr)) continue;
    for (std::size_t row = 0; row < table.rows; ++row) {
      double value = (*top)[row] / (over != nullptr ? (*over)[row] : 1);
      if (one.log) value = std::log(std::max(value, smallest));
      places.x(static_cast<Index>(row), static_cast<Index>(c)) = std::isfinite(value) ? value / one.length : 0;
    }
  }
  places.overhead.setZero(static_cast<Index>(table.rows));
  if (const std::vector<double>* times = numbers("time_us"))
    for (std::size_t row = 0; row < table.rows; ++row)
      if ((*times)[row] > 0) places.overhead[static_cast<Index>(row)] = std::log1p(usual_overhead / (*times)[row]);
  for (auto [texts, to] : {std::pair{texts_of(table, family_names), &places.families},
                           std::pair{texts_of(table, kernel_names), &places.kernels},
                           std::pair{texts_of(table, weight_names), &places.weights}}) {
    if (!texts) errors.insert(errors.end(), texts.errors().begin(), texts.errors().end());
    if (texts) *to = std::move(*texts);
  }
  if (!errors.empty()) return errors;
  return places;
}

Places select(const Places& places, const std::vector<std::size_t>& rows) {
  Places out;
  out.x.resize(static_cast<Index>(rows.size()), places.x.cols());
  out.overhead.resize(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.x.row(static_cast<Index>(i)) = places.x.row(static_cast<Index>(rows[i]));
    out.overhead[static_cast<Index>(i)] = places.overhead[static_cast<Index>(rows[i])];
    out.families.push_back(places.families[rows[i]]);
    out.kernels.push_back(places.kernels[rows[i]]);
    out.weights.push_back(places.weights[rows[i]]);
  }
  return out;
}

MatrixXd covariance_of(const Covariance& c, const Places& a, const Places& b) {
  MatrixXd out(a.rows(), b.rows());
  const auto square = [](double v) { return v * v; };
  for (Index j = 0; j < b.rows(); ++j)
    for (Index i = 0; i < a.rows(); ++i) {
      const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(j);
      const bool family = a.families[p] == b.families[q];
      const double near = std::exp(-(a.x.row(i) - b.x.row(j)).lpNorm<1>());
      const double overheads = a.overhead[i] * b.overhead[j];
      out(i, j) = square(c.all) + square(c.near) * near * (family ? 1 : c.across) + square(c.overhead) * overheads;
      if (!family) continue;
      out(i, j) += square(c.family) + square(c.family_overhead) * overheads;
      if (a.kernels[p] == b.kernels[q]) out(i, j) += square(c.kernel);
      if (a.weights[p] == b.weights[q]) out(i, j) += square(c.weights);
    }
  return out;
}

VectorXd GaussianProcess::mean(const Places& places) const { return covariance_of(covariance, places, support) * pull; }

ProcessFit fit_process(const Places& places, const VectorXd& y, const std::vector<std::size_t>& groups) {
  const Covariance c = likely_of(places, y);
  const Solved solved = solve(covariance_of(c, places, places), y, c.noise, true);
  return {{coordinates(), c, places, solved.pull}, held_out(solved, y, groups)};
}

GaussianProcess fit_others(const Places& places, const VectorXd& y, const std::vector<std::string>& sets) {
  constexpr double common = 0.4;  // of the variance: the rest is each set's own
  const Covariance c = scaled({}, 1, 2);
  MatrixXd covariance = covariance_of(c, places, places);
  for (Index j = 0; j < covariance.cols(); ++j)
    for (Index i = 0; i < covariance.rows(); ++i)
      if (sets[static_cast<std::size_t>(i)] != sets[static_cast<std::size_t>(j)]) covariance(i, j) *= common;
  return {coordinates(), c, places, common * solve(covariance, y, c.noise).pull};
}

ConstantsFit fit_constants(const Places& places, const VectorXd& y, const std::vector<std::size_t>& groups,
                           const Constants& constants) {
  const Covariance c = likely_of(places, y);
  const MatrixXd alone = covariance_of(c, places, places);
  const VectorXd prior = constants.deviations.array().square();
  const MatrixXd reach = constants.slopes * prior.asDiagonal();
  const Solved with = solve(alone + reach * constants.slopes.transpose(), y, c.noise, true);
  ConstantsFit out;
  out.moves = reach.transpose() * with.pull;
  const MatrixXd known = reach.transpose() * with.inverse * reach;
  out.deviations = (prior - known.diagonal()).cwiseMax(0).cwiseSqrt();
  out.error = mean_error(y, held_out(with, y, groups));
  out.error_without = mean_error(y, held_out(solve(alone, y, c.noise, true), y, groups));
  return out;
}

std::vector<std::size_t> most_telling(const Covariance& c, const Places& measured, const Places& candidates,
                                      std::size_t count) {
  MatrixXd left = covariance_of(c, candidates, candidates);
  if (measured.rows() > 0) {
    MatrixXd own = covariance_of(c, measured, measured);
    own.diagonal().array() += c.noise * c.noise;
    const MatrixXd cross = covariance_of(c, measured, candidates);
    left -= cross.transpose() * own.llt().solve(cross);
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count && static_cast<Index>(i) < left.rows(); ++i) {
    // How much of all candidates' variance a measurement of each takes away.
    const VectorXd gain = left.colwise().squaredNorm().transpose().cwiseQuotient(
        (left.diagonal().cwiseMax(0).array() + c.noise * c.noise).matrix());
    Index best = 0;
    gain.maxCoeff(&best);
    out.push_back(static_cast<std::size_t>(best));
    const VectorXd column = left.col(best);
    left -= column * column.transpose() / (std::max(0.0, left(best, best)) + c.noise * c.noise);
  }
  return out;
}

std::string process_json(const GaussianProcess& process) {
  using Json = nlohmann::ordered_json;
  const Covariance& c = process.covariance;
  Json json{{"covariance",
             {{"all", c.all},
              {"family", c.family},
              {"kernel", c.kernel},
              {"weights", c.weights},
              {"near", c.near},
              {"noise", c.noise},
              {"across", c.across},
              {"overhead", c.overhead},
              {"family_overhead", c.family_overhead}}}};
  json["coordinates"] = Json::array();
  for (const Coordinate& one : process.coordinates)
    json["coordinates"].push_back(
        {{"column", one.column}, {"over", one.over}, {"log", one.log}, {"length", one.length}});
  json["rows"] = Json::array();
  for (Index i = 0; i < process.support.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const VectorXd x = process.support.x.row(i);
    json["rows"].push_back({{"x", std::vector<double>(x.begin(), x.end())},
                            {"overhead", process.support.overhead[i]},
                            {"family", process.support.families[row]},
                            {"kernel", process.support.kernels[row]},
                            {"weights", process.support.weights[row]},
                            {"pull", process.pull[i]}});
  }
  return json.dump();
}

GaussianProcess read_process(const Checked& json) {
  GaussianProcess process;
  const Checked c = json.at("covariance");
  const auto deviation = [&](const char* name) {
    const double value = c.at(name).number();
    if (!(value >= 0 && value <= 10)) c.at(name).wrong("a number from 0 to 10", "another");
    return value;
  };
  process.covariance = {deviation("all"),     deviation("family"),   deviation("kernel"),
                        deviation("weights"), deviation("near"),     deviation("noise"),
                        deviation("across"),  deviation("overhead"), deviation("family_overhead")};
  for (const Checked& one : json.at("coordinates").items(1, 256)) {
    process.coordinates.push_back(
        {one.at("column").text(256), one.at("over").text(256), one.at("log").claim(), one.at("length").number()});
    if (!(process.coordinates.back().length > 0)) one.at("length").wrong("a number above 0", "another");
  }
  const std::vector<Checked> rows = json.at("rows").items(1, most_support);
  const std::size_t width = process.coordinates.size();
  process.support.x.resize(static_cast<Index>(rows.size()), static_cast<Index>(width));
  process.support.overhead.resize(static_cast<Index>(rows.size()));
  process.pull.resize(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double> x = rows[i].at("x").numbers(width, width);
    process.support.x.row(static_cast<Index>(i)) =
        Eigen::Map<const Eigen::RowVectorXd>(x.data(), static_cast<Index>(width));
    process.support.overhead[static_cast<Index>(i)] = rows[i].at("overhead").number();
    process.support.families.push_back(rows[i].at("family").text(1024));
    process.support.kernels.push_back(rows[i].at("kernel").text(1024));
    process.support.weights.push_back(rows[i].at("weights").text(1024));
    process.pull[static_cast<Index>(i)] = rows[i].at("pull").number();
    if (std::abs(process.pull[static_cast<Index>(i)]) > 1e6) rows[i].at("pull").wrong("a number below 1e6", "another");
  }
  return process;
}

}  // namespace noteg::learn
