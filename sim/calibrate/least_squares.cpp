#include "sim/calibrate/least_squares.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <vector>

#include "arch/provenance.hpp"
#include "arch/read_spec.hpp"
#include "sim/calibrate/calibrate.hpp"
#include "sim/support/text.hpp"

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

namespace {

constexpr double widest = 4;  // factor from the start value

Diagnostic wrong_constant(const std::string& expected, const std::string& found) {
  return {"", 0, 0, "--set", expected, found};
}

std::string without_prefix(const std::string& name) { return name.starts_with("arch.") ? name.substr(5) : name; }

// Fitted numbers of the GPU's own file.
Fields fitted_fields(const arch::SourcedGpu& gpu) {
  Fields fitted;
  for (std::size_t i = 0; i < arch::fields().size(); ++i)
    if (gpu.provenance[i].file == gpu.gpu.file && !gpu.provenance[i].fitted.empty())
      fitted.push_back(&arch::fields()[i]);
  return fitted;
}

// A file keeps what it has fitted unless that is fitted anew.
std::optional<Diagnostic> too_many(const arch::SourcedGpu& gpu, const Fields& constants) {
  std::string kept;
  std::size_t count = constants.size();
  for (const arch::Field* field : fitted_fields(gpu)) {
    if (std::ranges::find(constants, field) != constants.end()) continue;
    kept += (kept.empty() ? "" : ", ") + std::string(field->key);
    ++count;
  }
  if (count <= arch::max_fitted_per_gpu) return std::nullopt;
  return wrong_constant(
      "at most " + std::to_string(arch::max_fitted_per_gpu) + " fitted numbers in a file, those among them that it has",
      std::to_string(constants.size()) + " beside " + (kept.empty() ? "none" : kept) + " of " + gpu.gpu.id);
}

}  // namespace

std::vector<std::string> fittable_keys() {
  std::vector<std::string> keys;
  for (const arch::Field& field : arch::fields())
    if (field.fittable) keys.emplace_back(field.key);
  return keys;
}

std::vector<std::string> default_keys(const arch::SourcedGpu& gpu) {
  std::vector<std::string> keys;
  for (const arch::Field* field : fitted_fields(gpu))
    if (field->fittable) keys.emplace_back(field->key);
  for (const char* key : {"clock.sustained", "power.idle", "sm.energy.fma"})
    if (keys.size() < arch::max_fitted_per_gpu && std::ranges::find(keys, key) == keys.end()) keys.emplace_back(key);
  return keys;
}

Result<Fields> chosen_fields(const arch::SourcedGpu& gpu, const std::vector<std::string>& names) {
  Fields constants;
  Diagnostics errors;
  for (const std::string& name : names) {
    const std::optional<std::size_t> index = arch::find_field(without_prefix(name));
    const arch::Field* field = index ? &arch::fields()[*index] : nullptr;
    if (field == nullptr || !field->fittable) {
      const std::string what = field == nullptr ? "" : " (a fact of the product, not a constant to fit)";
      const std::vector<std::string> near = nearest_names(without_prefix(name), fittable_keys(), 2);
      const std::string hint = near.empty() || field != nullptr ? what : " (did you mean " + join_or(near) + "?)";
      errors.push_back(
          wrong_constant("a constant that may be fitted: " + join_or(fittable_keys()), "\"" + name + "\"" + hint));
    } else if (std::ranges::find(constants, field) != constants.end()) {
      errors.push_back(wrong_constant("each constant once", "\"" + name + "\" twice"));
    } else if (std::get<double>(field->get(gpu.gpu)) == 0) {
      errors.push_back(wrong_constant("a constant whose start value is not 0", "\"" + name + "\" of 0"));
    } else {
      constants.push_back(field);
    }
  }
  if (const std::optional<Diagnostic> error = too_many(gpu, constants)) errors.push_back(*error);
  if (!errors.empty()) return errors;
  return constants;
}

// How far boards of one kind lie apart: clocks under load by a few percent (validation set: 0.82 to 0.98 of boost),
// DRAM reads 0.85 to 0.94 of the pins' rate, launches 1.5 to 4 us. Energies and watts of the boards here that were
// fitted lie a quarter apart from those that siblings would have given them.
double uncertainty_of(const arch::Field& field) {
  if (field.key == "clock.sustained") return 0.05;
  if (field.key == "dram.read_efficiency" || field.key == "dram.mixed_efficiency") return 0.04;
  if (field.key == "power.voltage_floor" || field.key == "power.floor_clock") return 0.1;
  return 0.25;
}

Eigen::VectorXd values_of(const arch::GpuSpec& gpu, const Fields& constants) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(constants.size()));
  for (Eigen::Index i = 0; i < values.size(); ++i)
    values[i] = std::get<double>(constants[static_cast<std::size_t>(i)]->get(gpu));
  return values;
}

Box box_of(const Eigen::VectorXd& values, const Fields& constants) {
  Box box{values / widest, values * widest};
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const arch::Field& field = *constants[static_cast<std::size_t>(i)];
    box.low[i] = std::max(box.low[i], field.low);
    box.high[i] = std::min(box.high[i], field.high);
  }
  return box;
}

std::optional<arch::GpuSpec> with_values(const arch::GpuSpec& gpu, const Fields& constants,
                                         const Eigen::VectorXd& values) {
  arch::GpuSpec changed = gpu;
  for (Eigen::Index i = 0; i < values.size(); ++i)
    constants[static_cast<std::size_t>(i)]->set(changed, arch::Value{values[i]});
  const bool valid = std::ranges::all_of(arch::rules(), [&](const arch::Rule& rule) { return rule.holds(changed); });
  return valid ? std::optional(changed) : std::nullopt;
}

}  // namespace noteg::calibrate
