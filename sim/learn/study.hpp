// Validation of a kind of model before it is made: by shape, and with a GPU left out. What it finds also widens the
// intervals of the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/learn/fit.hpp"
#include "sim/learn/scores.hpp"

namespace noteg::learn {

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
  std::vector<std::array<double, 3>> widen;  // per target of all parts; empty: found here, each fold from the others
  Calibration calibration = Calibration::by_row;
};

struct Study {
  HeldOut held_out;
  std::vector<std::array<double, 3>> widen;  // per target of all parts: what the held-out rows ask for
  std::vector<std::string> not_judged;       // targets whose rows all fall into one fold: they have no points
};

// folds: per row of the table, which fold holds it out. Errors: of fit_part.
[[nodiscard]] Result<Study> study(const Problem& problem, const std::vector<std::size_t>& folds,
                                  const StudyOptions& options);

}  // namespace noteg::learn
