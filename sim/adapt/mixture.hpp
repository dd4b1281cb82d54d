// The model of what a simulator leaves over: a Gaussian process beside a shrunken forest. How far each is believed is
// decided by rows whose whole shape was held out; nothing at all is among the choices.
#pragma once

#include "sim/learn/measured_table.hpp"
#include "sim/learn/model.hpp"

namespace noteg::adapt {

struct Mixture {
  learn::Model model;
  std::vector<std::size_t> rows;       // of the table, those with a time ratio
  std::vector<double> held_out_ratio;  // of each of them: measured over simulated as told without its shape
  double process_share = 0, forest_share = 0;
};

// Errors: of make_problem and train_forest; rows of one shape only.
[[nodiscard]] Result<Mixture> fit_mixture(const learn::MeasuredTable& measured, std::uint64_t seed, unsigned jobs);

}  // namespace noteg::adapt
