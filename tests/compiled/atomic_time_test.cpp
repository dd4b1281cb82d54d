// Atomic operations of 4,224 warps on words that follow each other, on an H200 (tests/data/h200_memory_micro.csv): how
// long L2 is busy with those of a warp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "arch/load.hpp"
#include "sim/compiled/traffic.hpp"

namespace noteg::compiled {
namespace {

struct Row {
  std::string op;
  double words = 1, lanes = 1, ns = 0;
};

// l2_atomics,op=red.f32;words=4;lanes=32,14.040,ns/warp,...
std::vector<Row> rows() {
  std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/h200_memory_micro.csv");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    if (line.find("l2_atomics,") != 0 || line.find(",ns/warp,") == std::string::npos) continue;
    Row row;
    std::istringstream cells(line);
    std::string params, value;
    std::getline(cells, params, ',');
    std::getline(cells, params, ',');
    std::getline(cells, value, ',');
    const auto number = [&](const std::string& key) { return std::stod(params.substr(params.find(key) + key.size())); };
    row.op = params.substr(3, params.find(';') - 3);
    row.words = number("words=");
    row.lanes = number("lanes=");
    row.ns = std::stod(value);
    out.push_back(row);
  }
  return out;
}

constexpr double warps = 4224;

double ns_of_warp(const Footprints& prints, const AtomicForm& form, const arch::GpuSpec& gpu) {
  Launch launch;
  launch.grid = {static_cast<std::int64_t>(warps), 1, 1};
  TrafficSource source;
  source.gpu = &gpu;
  source.footprints = &prints;
  source.launch = &launch;
  return 1e9 * atomic_time(source, form).value / warps;
}

double modelled_ns(const Row& row, const arch::GpuSpec& gpu) {
  constexpr double sector = 32;
  const double bytes = row.op.ends_with("64") ? 8 : 4;
  const double of_warp = std::min(row.words, row.lanes), in_sector = std::min(of_warp, sector / bytes);
  FootprintGroup group;
  group.atomic = true;
  group.sectors = of_warp / in_sector;
  group.unique_sectors = std::max(1.0, row.words * bytes / sector);
  group.turns = row.lanes / of_warp;
  group.words = in_sector;
  Footprints prints;
  prints.groups.push_back(group);
  return ns_of_warp(prints, {bytes, row.op.find(".f") != std::string::npos, row.op.starts_with("atom")}, gpu);
}

// Warps are at any of a kernel's instructions.
TEST(AtomicTime, InstructionsThatShareThePlacesOutTakeAsLongAsOneForAll) {
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  ASSERT_TRUE(gpu);
  const auto time = [&](int instructions) {
    FootprintGroup group;
    group.atomic = true;
    group.sectors = 4.0 / instructions;
    group.unique_sectors = 256.0 / instructions;
    group.turns = 1;
    group.words = 8;
    Footprints prints;
    prints.groups.assign(static_cast<std::size_t>(instructions), group);
    return ns_of_warp(prints, {4, false, false}, *gpu);
  };
  EXPECT_NEAR(time(4), time(1), 1e-9 * time(1));
}

TEST(AtomicTime, TurnsOfASectorAreThoseOfTheCard) {
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  ASSERT_TRUE(gpu);
  double sum = 0, of_all = 0;
  for (const Row& row : rows()) {
    if (row.op == "atom.cas") continue;  // compares that fail cost up to twice as much
    const double error = modelled_ns(row, *gpu) / row.ns - 1;
    EXPECT_LT(std::abs(error), 0.58) << row.op << ' ' << row.words << ' ' << row.lanes << ' ' << row.ns;
    sum += std::abs(error);
    of_all += 1;
  }
  EXPECT_GT(of_all, 100);
  EXPECT_LT(sum / of_all, 0.15);
}

}  // namespace
}  // namespace noteg::compiled
