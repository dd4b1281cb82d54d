// Predictions of one forest for rows: values with intervals, and whether the rows lie where the model learned.
#pragma once

#include <Eigen/Core>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/forest/domain.hpp"
#include "sim/forest/predictor.hpp"
#include "sim/learn/model.hpp"
#include "sim/learn/problem.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

struct Interval {
  double low = 0, high = 0;
};

// As the trees see it: logarithms over the anchor, or plain values.
struct Raw {
  double value = 0;                   // of the prediction, smearing included
  std::array<Interval, 3> intervals;  // one per level, of the quantile forest, not widened
};

// The same where everything lies higher.
[[nodiscard]] Raw moved(Raw raw, double by);

// rows of x times targets, without Part::base.
[[nodiscard]] std::vector<std::vector<Raw>> raw_estimates(const Fitted& fitted, const Eigen::MatrixXd& x,
                                                          unsigned threads);

// By how much a quantile must be moved away from the prediction to reach the true value; 1: exactly reached.
[[nodiscard]] double reach(const Raw& raw, std::size_t level, double truth);

struct Estimate {
  double value = 0;
  std::array<Interval, 3> intervals;  // one per level of interval_levels
};

// Are the value and all its intervals numbers? Not where the row's own anchor is none or too large.
[[nodiscard]] bool is_finite(const Estimate& estimate);

// In units of the target; every interval holds the value.
[[nodiscard]] Estimate told(const Target& target, const Raw& raw, double offset, const Target::Factors& widen);

struct RowEstimate {
  std::vector<Estimate> targets;  // of all parts, in order
  double distance = 0;            // over the usual one, the largest of all parts
  std::string out_of_domain;      // the reasons; empty: inside
};

// A model made ready to answer.
class Estimator {
 public:
  explicit Estimator(const Model& model);  // which must outlive it

  // Every row of a table. intervals: false leaves them at the value and asks for no distance, for speed. Errors:
  // columns missing or of the wrong kind.
  [[nodiscard]] Result<std::vector<RowEstimate>> estimate(const dataset::Table& table, bool intervals,
                                                          unsigned threads) const;

  // Does an estimate look at a column of this name? Of others a table may hold nothing.
  [[nodiscard]] bool asks_for(std::string_view column) const;

  [[nodiscard]] const Model& model() const { return model_; }

 private:
  struct Kinds {  // per row
    std::vector<bool> new_gpu;
    std::vector<std::string> kind;  // kinds_of
  };
  struct Ready {
    const Part* part;
    forest::Predictor predictor;
    forest::Domain domain;
  };
  void estimate_part(const Ready& ready, const Eigen::MatrixXd& x, const Eigen::MatrixXd& offset,
                     const Eigen::VectorXd& base, const Kinds& kinds, bool intervals, unsigned threads,
                     std::vector<RowEstimate>& out) const;

  const Model& model_;
  std::vector<Ready> parts_;
  std::set<std::string, std::less<>> asked_for_;  // empty: every column
};

// Why a model says what it says of a row, by what the features are about: problem, tile, waves, DRAM, clock ... Exact
// Shapley values with these groups as players (sim/forest/explain.hpp). Of copies among the features the first one
// speaks for all: on training data of one GPU its number of SMs and its bandwidth cannot be told apart.

inline constexpr std::array<std::string_view, 7> physics_groups{"problem",         "tile", "compute", "waves", "DRAM",
                                                                "clock and power", "other"};

// Index into physics_groups.
[[nodiscard]] std::size_t physics_group(std::string_view feature);

struct Why {
  std::string target;
  bool log = true;            // parts are logarithms of factors, else amounts in the target's unit
  double base = 0;            // what is said where nothing is known of the row but its anchor; a logarithm too
  std::string anchor;         // the column that the target is learnt in units of; empty: none
  std::vector<double> parts;  // per physics group

  [[nodiscard]] double value() const;  // of base and all parts, in the target's unit
};

// Of the first row of a table, for every target of the model, whose trees must all be there.
[[nodiscard]] Result<std::vector<Why>> why(const Model& model, const dataset::Table& row);

}  // namespace noteg::learn
