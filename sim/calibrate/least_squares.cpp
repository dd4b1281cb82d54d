#include "sim/calibrate/least_squares.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

namespace noteg::calibrate {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double first_damping = 1e-3, least_damping = 1e-9, most_damping = 1e9;

// Parameters are divided by their start values, so that damping treats hertz and joules alike.
class Solver {
 public:
  Solver(const Residuals& residuals, const VectorXd& start, const Box& box, const SolverOptions& options)
      : residuals_(residuals),
        scale_(start),
        low_((box.low.array() / start.array()).min(box.high.array() / start.array())),
        high_((box.low.array() / start.array()).max(box.high.array() / start.array())),
        options_(options) {}

  std::optional<Solution> solve() {
    VectorXd x = VectorXd::Ones(scale_.size());
    std::optional<VectorXd> r = at(x);
    if (!r) return std::nullopt;
    Solution out;
    out.start_cost = r->squaredNorm();
    double damping = first_damping;
    MatrixXd jacobian = jacobian_at(x, *r);
    for (; out.iterations < options_.iterations; ++out.iterations) {
      const std::optional<Step> step = better_step(x, *r, jacobian, damping);
      if (!step) break;
      const double moved = (step->x - x).cwiseAbs().maxCoeff();
      x = step->x;
      r = step->residuals;
      jacobian = jacobian_at(x, *r);
      if (moved < options_.settled) break;
    }
    out.parameters = x.cwiseProduct(scale_);
    out.cost = r->squaredNorm();
    out.sensitivity = jacobian.colwise().norm().transpose();
    return out;
  }

 private:
  struct Step {
    VectorXd x, residuals;
  };

  [[nodiscard]] std::optional<VectorXd> at(const VectorXd& x) const { return residuals_(x.cwiseProduct(scale_)); }

  // Forward differences, backward ones where forward leaves the box or the model.
  [[nodiscard]] MatrixXd jacobian_at(const VectorXd& x, const VectorXd& r) const {
    MatrixXd jacobian = MatrixXd::Zero(r.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      for (const double h : {options_.difference, -options_.difference}) {
        VectorXd moved = x;
        moved[i] += h;
        if (moved[i] < low_[i] || moved[i] > high_[i]) continue;
        const std::optional<VectorXd> there = at(moved);
        if (!there) continue;
        jacobian.col(i) = (*there - r) / h;
        break;
      }
    }
    return jacobian;
  }

  // A parameter at its bound that the descent pushes outwards takes no part in the step.
  [[nodiscard]] std::vector<Eigen::Index> free_parameters(const VectorXd& x, const VectorXd& gradient) const {
    std::vector<Eigen::Index> free;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const bool held = (x[i] <= low_[i] && gradient[i] > 0) || (x[i] >= high_[i] && gradient[i] < 0);
      if (!held && gradient[i] != 0) free.push_back(i);
    }
    return free;
  }

  // Raises the damping until a step lowers the cost; nullopt where none does.
  [[nodiscard]] std::optional<Step> better_step(const VectorXd& x, const VectorXd& r, const MatrixXd& jacobian,
                                                double& damping) const {
    const VectorXd gradient = jacobian.transpose() * r;
    const std::vector<Eigen::Index> free = free_parameters(x, gradient);
    if (free.empty()) return std::nullopt;
    const MatrixXd columns = jacobian(Eigen::all, free);
    const MatrixXd normal = columns.transpose() * columns;
    for (; damping <= most_damping; damping *= 8) {
      MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      const VectorXd move = damped.ldlt().solve(-gradient(free));
      VectorXd next = x;
      for (std::size_t i = 0; i < free.size(); ++i) next[free[i]] += move[static_cast<Eigen::Index>(i)];
      next = next.cwiseMax(low_).cwiseMin(high_);
      if (!next.allFinite() || next == x) continue;
      const std::optional<VectorXd> there = at(next);
      if (!there || !(there->squaredNorm() < r.squaredNorm())) continue;
      damping = std::max(least_damping, damping / 8);
      return Step{next, *there};
    }
    return std::nullopt;
  }

  const Residuals& residuals_;
  VectorXd scale_, low_, high_;
  SolverOptions options_;
};

}  // namespace

std::optional<Solution> least_squares(const Residuals& residuals, const VectorXd& start, const Box& box,
                                      const SolverOptions& options) {
  return Solver(residuals, start, box, options).solve();
}

}  // namespace noteg::calibrate
