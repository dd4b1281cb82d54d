// The model of what a simulator leaves over: a Gaussian process beside a shrunken forest. How far each is believed is
// decided by rows whose whole shape was held out; nothing at all is among the choices.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "sim/learn/gaussian_process.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/model.hpp"

namespace noteg::adapt {

struct Mixture {
  learn::Model model;
  std::vector<std::size_t> rows;       // of the table, those with a time ratio
  std::vector<double> held_out_ratio;  // of each of them: measured over simulated as told without its shape
  double process_share = 0, forest_share = 0;
  bool others = false;  // is what other GPUs have in common in the process?
};

// What other GPUs have in common: log(measured / simulated) of their rows. Rows of the GPU's own name are left out, so
// that its rows alone speak of it. others: a table as noteg train --table writes it. Errors: columns missing.
[[nodiscard]] Result<std::optional<learn::GaussianProcess>> process_of(const dataset::Table& others,
                                                                       const std::string& gpu);

// The rows of other GPUs that come with the program. Searched: NOTEG_PRIOR_PATH, the source tree, share/noteg.
[[nodiscard]] std::optional<std::filesystem::path> shipped_rows();

// others: of process_of(); may be absent. Errors: of make_problem and train_forest; rows of one shape only.
[[nodiscard]] Result<Mixture> fit_mixture(const learn::MeasuredTable& measured,
                                          const std::optional<learn::GaussianProcess>& others, std::uint64_t seed,
                                          unsigned jobs);

// What more rows would bring: the error on shapes not learned from, after 0, 10, 50 ... rows of a card, beside that of
// trees which know no simulator.

struct CurvePoint {
  std::size_t rows = 0, judged = 0;              // learned from; rows of other shapes, on the mean of the draws
  double simulator = 0, adapted = 0, plain = 0;  // mean |predicted / measured - 1|; plain: extra-trees on the time
  std::array<double, 3> inside{};                // share of the rows inside the intervals of 80, 90 and 95 %
  double worst = 0;                              // adapted over simulator, of the draw where that is most
};

struct CurveOptions {
  std::vector<std::size_t> rows{10, 50, 200, 1000};
  std::size_t draws = 5;  // of the smallest number of rows; fewer as rows grow
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  std::optional<learn::GaussianProcess> others = {};
};

// measured: rows of one GPU. Points that would leave less than a fifth of the rows to judge are left out. Constants of
// the GPU stay as they are. Errors: of fit_mixture().
[[nodiscard]] Result<std::vector<CurvePoint>> few_shot_curve(const learn::MeasuredTable& measured,
                                                             const CurveOptions& options);

}  // namespace noteg::adapt
