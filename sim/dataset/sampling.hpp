// Points in the unit cube, one for each row. A point depends on method, seed, number of rows and its own row only, so
// that any worker can ask for any row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/dataset/sweep.hpp"

namespace noteg::dataset {

class Points {
 public:
  // method: not grid.
  Points(Method method, std::size_t rows, std::size_t dimensions, std::uint64_t seed);
  ~Points();
  Points(Points&&) noexcept;

  [[nodiscard]] std::vector<double> at(std::size_t row) const;  // each 0 <= x < 1

 private:
  struct Sobol;
  [[nodiscard]] std::vector<double> random(std::size_t row) const;
  [[nodiscard]] std::vector<double> latin(std::size_t row) const;
  [[nodiscard]] std::vector<double> sobol(std::size_t row) const;

  Method method_;
  std::size_t rows_, dimensions_;
  std::uint64_t seed_;
  std::vector<std::vector<std::uint32_t>> strata_;  // Latin hypercube: of each dimension, a permutation of the rows
  std::unique_ptr<Sobol> sobol_;
};

}  // namespace noteg::dataset
