// Points and perturbed GPUs: the same whenever asked, and as even as their method promises.
#include "sim/dataset/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "arch/field.hpp"
#include "arch/load.hpp"
#include "arch/read_spec.hpp"

namespace noteg::dataset {
namespace {

constexpr Method methods[] = {Method::random, Method::latin_hypercube, Method::sobol};

TEST(Points, DependOnTheirRowOnly) {
  for (const Method method : methods) {
    const Points forwards(method, 64, 5, 7), backwards(method, 64, 5, 7);
    std::vector<std::vector<double>> seen(64);
    for (std::size_t row = 64; row-- > 0;) seen[row] = backwards.at(row);
    for (std::size_t row = 0; row < 64; ++row) EXPECT_EQ(forwards.at(row), seen[row]) << name_of(method);
  }
}

TEST(Points, LieInTheUnitCubeAndMoveWithTheSeed) {
  for (const Method method : methods) {
    const Points one(method, 100, 12, 1), two(method, 100, 12, 2);
    for (std::size_t row = 0; row < 100; ++row) {
      for (const double x : one.at(row)) EXPECT_TRUE(x >= 0 && x < 1) << name_of(method) << x;
      EXPECT_NE(one.at(row), two.at(row)) << name_of(method);
    }
  }
}

// Points of each dimension in each of `count` equal parts.
std::vector<int> occupancy(const Points& points, std::size_t rows, std::size_t dimension, std::size_t parts) {
  std::vector<int> count(parts);
  for (std::size_t row = 0; row < rows; ++row)
    ++count[static_cast<std::size_t>(points.at(row)[dimension] * static_cast<double>(parts))];
  return count;
}

TEST(Points, OfALatinHypercubeFillEveryStratumOnce) {
  const Points points(Method::latin_hypercube, 50, 6, 3);
  for (std::size_t d = 0; d < 6; ++d) EXPECT_EQ(occupancy(points, 50, d, 50), std::vector<int>(50, 1));
}

TEST(Points, OfASobolSequenceFillEveryIntervalOfAPowerOfTwoEqually) {
  const Points points(Method::sobol, 64, 12, 3);
  for (std::size_t d = 0; d < 12; ++d) {
    const std::vector<int> count = occupancy(points, 64, d, 8);
    // The sequence begins after its first point, so that one interval may lack one and another have one more.
    EXPECT_GE(*std::ranges::min_element(count), 7) << d;
    EXPECT_LE(*std::ranges::max_element(count), 9) << d;
  }
}

std::vector<Jitter> jitter(const std::vector<std::string>& keys, double low, double high) {
  std::vector<Jitter> all;
  for (const std::string& key : keys) all.push_back({*arch::find_field(key), low, high});
  return all;
}

TEST(PerturbedGpu, CopyZeroIsTheGpuItself) {
  const arch::GpuSpec gpu = *arch::load_gpu("l4");
  const arch::GpuSpec copy = perturbed(gpu, jitter({"l2.size"}, 0.5, 2), 1, 0);
  EXPECT_EQ(copy.l2.size, gpu.l2.size);
}

TEST(PerturbedGpu, StaysWithinItsBoundsAndTheRules) {
  const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb");
  const std::vector<std::string> keys{
      "sms",       "l2.size", "l2.latency", "l2.far_latency", "clock.boost", "dram.latency", "sm.memory.ldg_latency",
      "power.idle"};
  for (std::size_t copy = 1; copy <= 40; ++copy) {
    const arch::GpuSpec other = perturbed(gpu, jitter(keys, 0.5, 2), 9, copy);
    for (const arch::Rule& rule : arch::rules()) EXPECT_TRUE(rule.holds(other)) << rule.sentence;
    for (const std::string& key : keys) {
      const arch::Field& field = arch::fields()[*arch::find_field(key)];
      const double ratio = std::get<double>(field.get(other)) / std::get<double>(field.get(gpu));
      EXPECT_TRUE(ratio > 0.49 && ratio < 2.01) << key << " " << ratio;
    }
    EXPECT_EQ(other.dram.bandwidth, gpu.dram.bandwidth);
  }
}

TEST(PerturbedGpu, DrawsOfAKeyDoNotDependOnTheOthers) {
  const arch::GpuSpec gpu = *arch::load_gpu("l4");
  const arch::GpuSpec one = perturbed(gpu, jitter({"dram.bandwidth"}, 0.5, 2), 1, 3);
  const arch::GpuSpec two = perturbed(gpu, jitter({"l2.size", "dram.bandwidth"}, 0.5, 2), 1, 3);
  EXPECT_EQ(one.dram.bandwidth, two.dram.bandwidth);
  EXPECT_NE(one.dram.bandwidth, gpu.dram.bandwidth);
}

}  // namespace
}  // namespace noteg::dataset
