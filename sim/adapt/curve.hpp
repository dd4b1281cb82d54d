// What more rows would bring: the error on shapes not learned from, after 0, 10, 50 ... rows of a card, beside that of
// trees which know no simulator.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/learn/gaussian_process.hpp"
#include "sim/learn/measured_table.hpp"

namespace noteg::adapt {

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
