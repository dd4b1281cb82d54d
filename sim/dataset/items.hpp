// One row before it is run: which GPU, which kernel, which shape. Any row can be asked for at any time, in any process.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::size_t label = 0;
};

class Items {
 public:
  explicit Items(const Sweep& sweep);  // the sweep must outlive this object

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] Item at(std::size_t row) const;
  [[nodiscard]] kernels::KernelConfig kernel_of(const Item& item) const;  // not resolved

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

}  // namespace noteg::dataset
