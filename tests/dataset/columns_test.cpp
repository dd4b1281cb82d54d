// The table of columns: names once, physics that agree with the simulation, and a page that is up to date.
#include "sim/dataset/columns.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <cstdlib>
#include <fstream>
#include <set>

#include "arch/load.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::dataset {
namespace {

struct Simulated {
  arch::GpuSpec gpu;
  gpu::SimOptions options;
  gpu::SimReport report, before;
};

Simulated simulated(const std::string& arch, const kernels::GemmShape& shape, bool exact = false) {
  Simulated s;
  s.options.exact = exact;
  s.gpu = *arch::load_gpu(arch);
  kernels::KernelConfig kernel;
  kernel.family = kernels::Family::simt;
  kernel.tile = {128, 128, 8};
  gpu::SmCache cache;
  s.report = *gpu::simulate(s.gpu, kernel, shape, s.options, cache);
  s.before = *unsimulated(s.gpu, kernel, shape, s.options);
  return s;
}

TEST(Columns, AreNamedOnceAndDescribed) {
  std::set<std::string> names;
  for (const RunColumn& c : run_columns()) {
    EXPECT_TRUE(names.insert(c.column.name).second) << c.column.name;
    EXPECT_FALSE(c.column.meaning.empty()) << c.column.name;
    EXPECT_NE(c.column.group, Group::other) << c.column.name;
  }
  EXPECT_EQ(known_column("time_us")->group, Group::target);
  EXPECT_EQ(known_column("arch.l2.size")->unit, "B");
  EXPECT_FALSE(known_column("nothing"));
}

TEST(Columns, OfARunAreTheSameBeforeAndAfterItsSimulation) {
  const Simulated s = simulated("rtx4070", {1000, 1024, 512, 1});
  for (const RunColumn& c : run_columns()) {
    if (!known_before(c.column.group)) continue;
    const Value before = c.get({&s.gpu, &s.options, &s.before}), after = c.get({&s.gpu, &s.options, &s.report});
    if (const auto* number = std::get_if<double>(&before); number != nullptr && std::isnan(*number)) continue;
    EXPECT_EQ(before, after) << c.column.name;
  }
}

TEST(Physics, AgreesWithTheSimulationWhereBothCount) {
  const Simulated s = simulated("a40", {4096, 4096, 512, 1});
  const Physics p = physics_of(s.gpu, s.before, s.options);
  EXPECT_EQ(p.ctas, static_cast<double>(s.report.grid_ctas));
  EXPECT_EQ(p.ctas_per_sm, s.report.occupancy.ctas_per_sm);
  EXPECT_EQ(p.waves, s.report.occupancy.waves);
  const Simulated exact = simulated("a40", {4096, 4096, 512, 1}, true);
  EXPECT_EQ(p.math_instructions, exact.report.instructions_by_opcode.at("FFMA"));
  // Sampled runs scale opcodes to the program's total: to some ten thousandths.
  EXPECT_NEAR(s.report.instructions_by_opcode.at("FFMA") / p.math_instructions, 1, 5e-4);
  EXPECT_NEAR(p.dram_read_bytes, s.report.memory.dram_read_bytes, 0.01 * p.dram_read_bytes);
  EXPECT_LT(p.roofline_us, s.report.time_us);
  EXPECT_GT(p.roofline_us, 0.4 * s.report.time_us);
}

Simulated tensor_run(const std::string& arch, kernels::Family family, kernels::Tile tile) {
  Simulated s;
  s.gpu = *arch::load_gpu(arch);
  kernels::KernelConfig kernel;
  kernel.family = family;
  kernel.tile = tile;
  kernel.dtype_in = kernel.dtype_out = kernels::DataType::f16;
  kernel.layout = kernels::Layout::nt;
  const kernels::GemmShape shape{4096, 4096, 2048, 1};
  gpu::SmCache cache;
  s.report = *gpu::simulate(s.gpu, kernel, shape, s.options, cache);
  s.before = *unsimulated(s.gpu, kernel, shape, s.options);
  return s;
}

TEST(Physics, CountsTensorInstructionsAtTheirOwnRate) {
  const Simulated mma = tensor_run("a100-sxm4-80gb", kernels::Family::mma, {128, 128, 32});
  const Physics p = physics_of(mma.gpu, mma.before, mma.options);
  EXPECT_EQ(p.math_instructions, mma.report.instructions_by_opcode.at("HMMA"));
  // 4096 x 4096 x 2048 in m16n8k16 on 108 SMs of 4 sub-cores, 8 cycles each; 1024 CTAs leave the busiest SM 10.
  EXPECT_NEAR(p.compute_us * p.clock_mhz, 10.0 * (128 * 128 * 2048) / (16 * 8 * 16) * 8 / 4, 1);
  EXPECT_LT(p.roofline_us, mma.report.time_us);
  EXPECT_GT(p.roofline_us, 0.4 * mma.report.time_us);

  const Simulated wgmma = tensor_run("h100-sxm5-80gb", kernels::Family::wgmma, {128, 128, 64});
  const Physics w = physics_of(wgmma.gpu, wgmma.before, wgmma.options);
  EXPECT_LT(w.compute_us, wgmma.report.time_us);
  EXPECT_GT(w.compute_us, 0.4 * wgmma.report.time_us);
}

TEST(Physics, FindTheClockThatThePowerLimitLeaves) {
  const Simulated s = simulated("l4", {4096, 4096, 4096, 1});
  const Physics p = physics_of(s.gpu, s.before, s.options);
  EXPECT_GT(p.power_share, 1);
  EXPECT_LT(p.clock_mhz, s.gpu.clock.sustained.value * 1e-6);
  EXPECT_NEAR(p.power_w, s.gpu.power.limit.value, 0.01 * s.gpu.power.limit.value);
  gpu::SimOptions given = s.options;
  given.sm_clock_mhz = 900;
  EXPECT_EQ(physics_of(s.gpu, s.before, given).clock_mhz, 900);
}

TEST(Columns, ReferencePageIsUpToDate) {
  const std::string path = std::string(NOTEG_SOURCE_DIR) + "/docs/reference/dataset-reference.md";
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(path, std::ios::binary) << column_reference();
  const Result<std::string> found = read_text_file(path);
  ASSERT_TRUE(found) << to_string(found.errors());
  EXPECT_TRUE(*found == column_reference()) << "out of date: run test_dataset with NOTEG_UPDATE_GENERATED=1";
}

}  // namespace
}  // namespace noteg::dataset
