// A fit of constants: nonlinear least squares within a box, which fields are fitted, their bounds, and how a spec gets
// new values. Levenberg and Marquardt's damped Gauss-Newton steps, projected onto the bounds, with derivatives by
// differences; the solver knows nothing of what is fitted.
#pragma once

#include <Eigen/Core>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/field.hpp"
#include "arch/load.hpp"

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

// The constants of a fit: which fields they are, their bounds, and how a spec gets new values.

using Fields = std::vector<const arch::Field*>;

// Errors: see calibrate().
[[nodiscard]] Result<Fields> chosen_fields(const arch::SourcedGpu& gpu, const std::vector<std::string>& names);

[[nodiscard]] Eigen::VectorXd values_of(const arch::GpuSpec& gpu, const Fields& constants);

// A factor of four either way, within the fields' ranges: a fit that wants more is about something else.
[[nodiscard]] Box box_of(const Eigen::VectorXd& values, const Fields& constants);

// nullopt: the values break a rule between fields.
[[nodiscard]] std::optional<arch::GpuSpec> with_values(const arch::GpuSpec& gpu, const Fields& constants,
                                                       const Eigen::VectorXd& values);

}  // namespace noteg::calibrate
