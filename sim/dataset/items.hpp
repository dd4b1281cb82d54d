// Rows before they are run: which GPU, kernel and shape each is, in which order they are run, and which worker takes
// them. Any row can be asked for at any time, in any process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/dataset/sampling.hpp"
#include "sim/dataset/sweep.hpp"

namespace noteg::dataset {

struct Item {
  std::size_t row = 0;
  std::size_t gpu = 0;     // index into Sweep::gpus
  std::size_t copy = 0;    // 0: as its file says; else a perturbed copy
  std::size_t block = 0;   // index into Sweep::kernels
  std::size_t kernel = 0;  // number of the combination of base and axis values in the block
  kernels::GemmShape shape;
  std::size_t run = 0;  // index into Sweep::runs
  std::size_t label = 0;
};

class Items {
 public:
  explicit Items(const Sweep& sweep);  // the sweep must outlive this object

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] Item at(std::size_t row) const;
  [[nodiscard]] kernels::KernelConfig kernel_of(const Item& item) const;  // not resolved
  // Runs of each kernel of a block on a GPU, replicas counted once: in a grid as many, in a sample on the mean.
  [[nodiscard]] double runs_per_kernel(std::size_t block) const;

 private:
  [[nodiscard]] Item item_of(std::size_t block, const double* shares) const;

  const Sweep& sweep_;
  std::size_t count_ = 0;
  std::vector<std::vector<std::size_t>> sizes_;  // of a grid: values on each dimension of a block
  std::vector<std::size_t> begins_;              // of a grid: first row of each block
  std::optional<Points> points_;                 // of a sampled sweep
};

// Rows of a grid; nothing where there are more than largest_sweep.
[[nodiscard]] std::optional<std::size_t> grid_rows(const Sweep& sweep);

// The order in which rows are run: units of rows that share GPU and kernel, so that a worker uses the same engine runs
// again. The plan depends on the sweep only; which rows are in the file already is left out of it.

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

// Hands units out so that a worker stays with its kernel while that has units left: its engine runs are used again, and
// two workers seldom find out the same. Towards the end workers help each other. Safe for many threads.
class Dispatcher {
 public:
  explicit Dispatcher(const std::vector<Unit>& units);  // units of a group lie together; they must outlive this object

  [[nodiscard]] const Unit* next(int worker);  // null: nothing left

 private:
  struct Group {
    std::size_t next = 0, end = 0;  // units
    [[nodiscard]] std::size_t left() const { return end - next; }
  };
  [[nodiscard]] std::optional<std::size_t> group_for(int worker);

  const std::vector<Unit>& units_;
  std::mutex mutex_;
  std::vector<Group> groups_;
  std::size_t untouched_ = 0;            // first group that nobody has begun
  std::map<int, std::size_t> group_of_;  // of each worker
};

}  // namespace noteg::dataset
