// Units: each row once, by workers that stay with their kernel.
#include "sim/dataset/items.hpp"

#include <gtest/gtest.h>

#include <set>

namespace noteg::dataset {
namespace {

// Three groups of 4, 1 and 2 units of one row each.
std::vector<Unit> units() {
  std::vector<Unit> all;
  std::size_t row = 0;
  for (const auto& [group, count] : std::vector<std::pair<std::size_t, int>>{{0, 4}, {1, 1}, {2, 2}})
    for (int i = 0; i < count; ++i) all.push_back({{row++}, group});
  return all;
}

TEST(Dispatcher, KeepsAWorkerAtItsGroup) {
  const std::vector<Unit> all = units();
  Dispatcher dispatcher(all);
  EXPECT_EQ(dispatcher.next(1)->group, 0u);
  EXPECT_EQ(dispatcher.next(2)->group, 1u);
  EXPECT_EQ(dispatcher.next(1)->group, 0u);
  EXPECT_EQ(dispatcher.next(2)->group, 2u);  // its own has nothing left
}

TEST(Dispatcher, HandsEveryUnitOutOnceAndLetsWorkersHelp) {
  const std::vector<Unit> all = units();
  Dispatcher dispatcher(all);
  std::set<std::size_t> rows;
  for (int worker = 0; const Unit* unit = dispatcher.next(worker % 5); ++worker)
    EXPECT_TRUE(rows.insert(unit->rows.front()).second);
  EXPECT_EQ(rows.size(), 7u);
  EXPECT_EQ(dispatcher.next(0), nullptr);
}

TEST(Plan, ShardsHoldEveryRowOnce) {
  const Sweep sweep = *read_sweep_text(
      "gpus: l4\nshape: {m: [64, 128, 192], n: [64, 65], k: {from: 8, to: 320, step: 8}}\n"
      "kernels: [{family: simt, tile: [64x64x8, 128x128x8]}]\nlabels: [a, b, c]\n",
      "s.yaml");
  const Items items(sweep);
  std::multiset<std::size_t> rows;
  for (std::size_t shard = 1; shard <= 4; ++shard)
    for (const Unit& unit : plan_units(items, {shard, 4})) rows.insert(unit.rows.begin(), unit.rows.end());
  EXPECT_EQ(rows.size(), items.count());
  EXPECT_EQ(std::set<std::size_t>(rows.begin(), rows.end()).size(), items.count());
}

}  // namespace
}  // namespace noteg::dataset
