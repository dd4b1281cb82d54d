// From a table to what a forest learns from: which columns are features, targets in logarithms over their anchors.
#pragma once

#include <Eigen/Core>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/learn/model.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

struct ProblemOptions {
  std::vector<dataset::Group> groups{dataset::Group::config, dataset::Group::arch, dataset::Group::physics};
  std::vector<std::vector<std::string>> targets;  // per part; a part takes the rows that have all of its targets
  std::map<std::string, std::string> anchors;     // target to column; used where the column's group is a feature group
  std::vector<std::string> leave_out;             // columns that are no features: names of things
  std::string weights;                            // column; empty: all rows alike
};

struct PartProblem {
  std::vector<Target> targets;
  std::vector<std::size_t> rows;  // of the table
  Eigen::MatrixXd y;              // per row here and target: as the trees see it
  Eigen::MatrixXd offset;         // log of the anchor, 0 without one
  Eigen::VectorXd base;           // per row: what Part::base says without the rows of its group; empty: no base
};

struct Problem {
  std::vector<std::string> kinds;  // per row of the table: kinds_of
  std::vector<Feature> features;
  std::vector<Feature> constants;  // as of Model
  Eigen::MatrixXd x;               // per row of the table
  Eigen::VectorXd weights;
  std::vector<PartProblem> parts;
};

// Errors: a target or weight column that is absent or text, fewer than two rows with targets, no feature that varies, a
// text feature with more than 255 words.
[[nodiscard]] Result<Problem> make_problem(const dataset::Table& table, const ProblemOptions& options);

// The features of rows that were not trained on. Errors: columns missing, a text where numbers are expected.
[[nodiscard]] Result<Eigen::MatrixXd> feature_matrix(const dataset::Table& table, const std::vector<Feature>& features);

// GPU, family and type of each row: runs of a kind err by as much, those of two kinds need not. Columns that the table
// lacks count as blank.
inline constexpr std::array<const char*, 3> kind_columns{"arch", "kernel.family", "kernel.dtype_in"};
[[nodiscard]] std::vector<std::string> kinds_of(const dataset::Table& table);

// Log of the anchors of a part's targets, per row; NaN where an anchor is not positive (a kernel that does not fit the
// GPU). Errors: columns missing.
[[nodiscard]] Result<Eigen::MatrixXd> anchor_offsets(const dataset::Table& table, const std::vector<Target>& targets);

// A model from a problem.

// The forest of one part, trained on some of its rows (all of them where none are named).
struct Fitted {
  forest::Forest forest;
  std::vector<double> smearing, shrink;  // per target, see Target
};

[[nodiscard]] Result<Fitted> fit_part(const Problem& problem, std::size_t part, const std::vector<std::size_t>& rows,
                                      const forest::ForestOptions& options);

// Forests of all parts with smearing and usual distances. Intervals are not widened yet: that takes a validation.
[[nodiscard]] Result<Model> fit_model(const Problem& problem, ModelKind kind, const forest::ForestOptions& options);

[[nodiscard]] std::string hash_of(const Problem& problem);

}  // namespace noteg::learn
