// Why a model says what it says of a row, by what the features are about: problem, tile, waves, DRAM, clock ... Exact
// Shapley values with these groups as players (sim/forest/explain.hpp). Of copies among the features the first one
// speaks for all: on training data of one GPU its number of SMs and its bandwidth cannot be told apart.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/learn/model.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

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
