// Nonlinear least squares within a box: Levenberg and Marquardt's damped Gauss-Newton steps, projected onto the bounds,
// with derivatives by differences. Knows nothing of what is fitted.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>

namespace noteg::calibrate {

struct Box {
  Eigen::VectorXd low, high;  // low <= high, parallel to the parameters
};

struct SolverOptions {
  int iterations = 30;
  double difference = 0.01;  // step of the derivatives: share of a parameter's start value
  double settled = 1e-4;     // ends when a step moves no parameter by more than this share of its start value
};

// Residuals at the parameters; as many at each call. nullopt: no such model (a rule between parameters is broken).
using Residuals = std::function<std::optional<Eigen::VectorXd>(const Eigen::VectorXd&)>;

struct Solution {
  Eigen::VectorXd parameters;
  double start_cost = 0, cost = 0;  // sums of squares; cost never exceeds start_cost
  Eigen::VectorXd sensitivity;      // norm of each column of the last Jacobian, times the parameter's start value; 0:
                                    // the residuals do not depend on it
  int iterations = 0;
};

// start must lie in the box and have residuals; its entries are the parameters' scales and must not be 0.
// nullopt: start has no residuals.
[[nodiscard]] std::optional<Solution> least_squares(const Residuals& residuals, const Eigen::VectorXd& start,
                                                    const Box& box, const SolverOptions& options = {});

}  // namespace noteg::calibrate
