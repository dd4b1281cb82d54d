// A Gaussian process over runs: runs that are alike err alike, and what lies far from all measured rows is left as the
// simulator says it. Few rows thus tell what they can, and no more. Knows tables, not simulators.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "sim/dataset/table.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

class Checked;

// What places a run among others: a column, or one over another, in units of the length over which errors change.
struct Coordinate {
  std::string column, over;  // over: blank where the column stands alone
  bool log = true;
  double length = 1;
};

// A few microseconds that the measured launch has and the simulated one lacks (a gap between launches, cold
// descriptors, a second small kernel) weigh as much as the launch is short.
inline constexpr double usual_overhead = 3;  // us

// Standard deviations of log(measured / simulated): what all rows share, what those of a family, a kernel or a pair of
// N and K share, what rows near each other share, what comes on top of every launch, and what no row says of another.
struct Covariance {
  double all = 0.027, family = 0.017, kernel = 0.012, weights = 0.013, near = 0.10, noise = 0.022;
  double across = 0.54;                            // of the near part: how far it reaches from one family to another
  double overhead = 1.05, family_overhead = 0.42;  // of Places::overhead: what all rows share, and those of a family
};

// Where runs lie: a row each.
struct Places {
  Eigen::MatrixXd x;                                    // over the lengths
  Eigen::VectorXd overhead;                             // log(1 + usual_overhead / time_us)
  std::vector<std::string> families, kernels, weights;  // runs with the same text share that part
  [[nodiscard]] Eigen::Index rows() const { return x.rows(); }
};

[[nodiscard]] const std::vector<Coordinate>& coordinates();

// Errors: columns missing, or texts where numbers are expected.
[[nodiscard]] Result<Places> places_of(const dataset::Table& table, const std::vector<Coordinate>& coordinates);
[[nodiscard]] Places select(const Places& places, const std::vector<std::size_t>& rows);

[[nodiscard]] Eigen::MatrixXd covariance_of(const Covariance& c, const Places& a, const Places& b);

struct GaussianProcess {
  std::vector<Coordinate> coordinates;
  Covariance covariance;
  Places support;        // the measured rows
  Eigen::VectorXd pull;  // of each: mean = covariance with the support times these

  [[nodiscard]] Eigen::VectorXd mean(const Places& places) const;
};

struct ProcessFit {
  GaussianProcess process;
  Eigen::VectorXd held_out;  // of each row: the mean without the rows of its own group
};

// y: log(measured / simulated). groups: rows that are held out together. Amplitude and noise are taken from the rows,
// within what they were on other GPUs; rows that are off by far count less. slopes: per row and constant of the GPU,
// how y moves with its logarithm; deviations: what is known of these logarithms beforehand. May be empty.
struct Constants {
  Eigen::MatrixXd slopes;
  Eigen::VectorXd deviations;
};
struct ConstantsFit {
  Eigen::VectorXd moves, deviations;    // of the logarithms, once the rows are known
  double error = 0, error_without = 0;  // mean |error| of held-out groups, with the constants and without
};
[[nodiscard]] ProcessFit fit_process(const Places& places, const Eigen::VectorXd& y,
                                     const std::vector<std::size_t>& groups);

// Of rows of several GPUs, for a GPU that is none of them: what their sets have in common. sets: of each row.
[[nodiscard]] GaussianProcess fit_others(const Places& places, const Eigen::VectorXd& y,
                                         const std::vector<std::string>& sets);
[[nodiscard]] ConstantsFit fit_constants(const Places& places, const Eigen::VectorXd& y,
                                         const std::vector<std::size_t>& groups, const Constants& constants);

// What the rows leave unknown of each candidate, and which of these to measure so that least is left: greedily, each
// choice knowing those before it. Indices of candidates.
[[nodiscard]] std::vector<std::size_t> most_telling(const Covariance& covariance, const Places& measured,
                                                    const Places& candidates, std::size_t count);

// As part of a model file.
[[nodiscard]] std::string process_json(const GaussianProcess& process);
[[nodiscard]] GaussianProcess read_process(const Checked& json);  // throws WrongModel

}  // namespace noteg::learn
