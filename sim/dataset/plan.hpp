// The order in which rows are run: units of rows that share GPU and kernel, so that a worker uses the same engine runs
// again. The plan depends on the sweep only; which rows are in the file already is left out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/dataset/items.hpp"

namespace noteg::dataset {

// Part index of count, from 1: what one job of a job array does.
struct Shard {
  std::size_t index = 1, count = 1;
};

struct Unit {
  std::vector<std::size_t> rows;  // replicas of one run beside each other
  std::size_t group = 0;          // units with the same GPU and kernel
};

// Units of a shard; together the shards hold every row once.
[[nodiscard]] std::vector<Unit> plan_units(const Items& items, const Shard& shard);

// The units without the rows done; rows_done ascending.
[[nodiscard]] std::vector<Unit> without(std::vector<Unit> units, const std::vector<std::size_t>& rows_done);

[[nodiscard]] std::size_t rows_of(const std::vector<Unit>& units);

}  // namespace noteg::dataset
