// Splits that cannot leak: whole groups of rows are held out together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/dataset/table.hpp"
#include "sim/learn/model.hpp"
#include "sim/learn/problem.hpp"

namespace noteg::learn {

// Per row a number of its group: rows with the same texts in all of these columns share one. Numbers are in order of
// first appearance. A column that the table lacks counts as blank.
[[nodiscard]] std::vector<std::size_t> groups_of(const dataset::Table& table, const std::vector<std::string>& columns);

// Per row its fold, 0 ... folds - 1: groups are shuffled and dealt out, so that folds have about as many groups each.
[[nodiscard]] std::vector<std::size_t> deal(const std::vector<std::size_t>& groups, std::size_t folds,
                                            std::uint64_t seed);

[[nodiscard]] std::size_t count_of(const std::vector<std::size_t>& groups);

// The columns that make a shape.
[[nodiscard]] const std::vector<std::string>& shape_columns();

// How far predictions are from the truth.
struct Point {
  std::size_t row = 0;  // of the table
  double truth = 0, predicted = 0;
  std::array<bool, 3> inside{};  // the interval of each level
};

struct Scores {
  std::size_t rows = 0;
  double mape = 0, median_ape = 0, p90_ape = 0;  // of |predicted / true - 1|, fractions
  std::optional<double> r2;                      // share of the variance explained; absent where nothing varies
  std::array<double, 3> coverage{};              // share of true values inside the interval of each level
};

[[nodiscard]] Scores scores_of(std::span<const Point> points);

// Validation of a kind of model before it is made: by shape, and with a GPU left out. What it finds also widens the
// intervals of the model.

// Rows held out in turn, and what a forest trained on the others says of them.
struct HeldOut {
  std::string split;                       // "shape", "gpu"
  std::string features;                    // the groups used: "config, arch, physics"
  std::vector<std::string> targets;        // of all parts
  std::vector<std::vector<Point>> points;  // per target, in order of rows
};

// Which share of the held-out rows intervals are made to hold.
enum class Calibration : std::uint8_t {
  by_row,   // of all rows: folds are parts of one whole
  by_fold,  // of each fold, on the mean of all: a further row comes from a further fold
};

struct StudyOptions {
  forest::ForestOptions forest;
  Calibration calibration = Calibration::by_row;
};

struct Study {
  HeldOut held_out;
  std::vector<Target::Factors> widen;  // per target of all parts: what the held-out rows ask for
  std::vector<std::map<std::string, Target::Factors>> widen_of;  // the same by kind, where calibrated by row
  std::vector<std::string> not_judged;  // targets whose rows all fall into one fold: they have no points
};

// folds: per row of the table, which fold holds it out. Errors: of fit_part.
[[nodiscard]] Result<Study> study(const Problem& problem, const std::vector<std::size_t>& folds,
                                  const StudyOptions& options);

}  // namespace noteg::learn
