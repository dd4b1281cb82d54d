// Splits that cannot leak: whole groups of rows are held out together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/dataset/table.hpp"

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

}  // namespace noteg::learn
