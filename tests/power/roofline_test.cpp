// The operating points that the boards' constants were fitted on are met, and each of them is predicted by the others.
#include "sim/calibrate/least_squares.hpp"
#include "tests/power/roofline_points.hpp"

namespace noteg::power {
namespace {

OperatingPoint solved_at(const arch::GpuSpec& gpu, const RooflineBoard& board, const RooflinePoint& point) {
  ClockRequest request;
  request.gpu = &gpu;
  request.toggling = {roofline_toggling};
  return solve_clock(request, roofline_kernel(gpu, board, point.intensity));
}

double power_error(const OperatingPoint& solved, const RooflinePoint& point) {
  return solved.board.power.value / point.watts - 1;
}

double clock_error(const OperatingPoint& solved, const RooflinePoint& point) {
  return solved.clock.value * 1e-6 / point.mhz - 1;
}

TEST(RooflinePoints, PowerWithinFourAndClockWithinThreePercentEverywhere) {
  for (const RooflineBoard& board : roofline_boards()) {
    const arch::GpuSpec gpu = gpu_of(board.id, board.own);
    for (const RooflinePoint& point : board.points) {
      const OperatingPoint solved = solved_at(gpu, board, point);
      EXPECT_NEAR(power_error(solved, point), 0, 0.04) << board.id << " at " << point.intensity;
      EXPECT_NEAR(clock_error(solved, point), 0, 0.03) << board.id << " at " << point.intensity;
    }
  }
}

// The numbers of a board that are fitted on its points. The A100 never throttles: nothing tells its voltage.
std::vector<double*> fitted_numbers(arch::GpuSpec& gpu) {
  arch::PowerSpec& p = gpu.power;
  std::vector<double*> all{&p.idle.value, &p.dram_byte.value};
  if (gpu.id != "a100-sxm4-40gb") all.insert(all.end(), {&p.voltage_floor.value, &p.floor_clock.value});
  return all;
}

// The board's numbers fitted again, one of its points left out.
arch::GpuSpec fitted_without(const RooflineBoard& board, std::size_t left_out) {
  arch::GpuSpec gpu = gpu_of(board.id, board.own);
  const std::vector<double*> numbers = fitted_numbers(gpu);
  const auto count = static_cast<Eigen::Index>(numbers.size());
  const auto set = [&](const Eigen::VectorXd& values) {
    for (Eigen::Index i = 0; i < count; ++i) *numbers[static_cast<std::size_t>(i)] = values[i];
  };
  const auto residuals = [&](const Eigen::VectorXd& values) -> std::optional<Eigen::VectorXd> {
    set(values);
    Eigen::VectorXd errors(2 * static_cast<Eigen::Index>(board.points.size() - 1));
    Eigen::Index next = 0;
    for (std::size_t i = 0; i < board.points.size(); ++i) {
      if (i == left_out) continue;
      const OperatingPoint solved = solved_at(gpu, board, board.points[i]);
      errors[next++] = power_error(solved, board.points[i]);
      errors[next++] = clock_error(solved, board.points[i]);
    }
    return errors;
  };
  Eigen::VectorXd start(count);
  for (Eigen::Index i = 0; i < count; ++i) start[i] = *numbers[static_cast<std::size_t>(i)];
  calibrate::Box box{start * 0.6, start * 1.6};
  if (count == 4) {
    box.low[2] = 0.5, box.high[2] = 0.98;
    box.high[3] = 0.98 * gpu.clock.boost.value;
  }
  calibrate::SolverOptions options;
  options.iterations = 10;
  set(calibrate::least_squares(residuals, start, box, options)->parameters);
  return gpu;
}

// One point is beyond what the others tell: the L40 at 30 FLOP per byte is the only one between its boost clock and
// the low clocks of the power cap, and alone shows how steep its voltage is there.
TEST(RooflinePoints, EachIsPredictedByTheOthersOfItsBoard) {
  for (const RooflineBoard& board : roofline_boards()) {
    if (std::string(board.id) == "h200-sxm-141gb") continue;  // nothing of it is fitted on these points
    for (std::size_t i = 0; i < board.points.size(); ++i) {
      const RooflinePoint& point = board.points[i];
      const OperatingPoint solved = solved_at(fitted_without(board, i), board, point);
      const bool alone = std::string(board.id) == "l40" && point.intensity == 30.25;
      EXPECT_NEAR(power_error(solved, point), 0, 0.04) << board.id << " at " << point.intensity;
      EXPECT_NEAR(clock_error(solved, point), 0, alone ? 0.35 : 0.04) << board.id << " at " << point.intensity;
    }
  }
}

}  // namespace
}  // namespace noteg::power
