#include "sim/dataset/plan.hpp"

#include <algorithm>
#include <tuple>

namespace noteg::dataset {
namespace {

// Short enough to spread a small sweep over many workers, long enough to be worth handing out.
constexpr std::size_t most_runs = 32, most_rows = 1024;

auto kernel_key(const Item& i) { return std::tie(i.gpu, i.copy, i.block, i.kernel); }
auto shape_key(const Item& i) { return std::tie(i.shape.m, i.shape.n, i.shape.k, i.shape.batch); }

}  // namespace

std::vector<Unit> plan_units(const Items& items, const Shard& shard) {
  std::vector<Item> all;
  all.reserve(items.count());
  for (std::size_t row = 0; row < items.count(); ++row) all.push_back(items.at(row));
  std::ranges::sort(all, {},
                    [](const Item& i) { return std::tuple_cat(kernel_key(i), shape_key(i), std::tie(i.row)); });

  std::vector<Unit> units;
  std::size_t number = 0, runs = 0, group = 0;  // of the unit at hand
  Unit unit;
  const auto close = [&] {
    if (!unit.rows.empty() && number++ % shard.count == shard.index - 1) units.push_back(std::move(unit));
    unit = {{}, group};
    runs = 0;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool same_kernel = i > 0 && kernel_key(all[i]) == kernel_key(all[i - 1]);
    const bool same_run = same_kernel && shape_key(all[i]) == shape_key(all[i - 1]);
    if (!same_kernel) ++group;
    if (!same_kernel || (!same_run && runs == most_runs) || unit.rows.size() == most_rows) close();
    if (!same_run || unit.rows.empty()) ++runs;
    unit.rows.push_back(all[i].row);
  }
  close();
  return units;
}

std::vector<Unit> without(std::vector<Unit> units, const std::vector<std::size_t>& rows_done) {
  for (Unit& unit : units)
    std::erase_if(unit.rows, [&](std::size_t row) { return std::ranges::binary_search(rows_done, row); });
  std::erase_if(units, [](const Unit& unit) { return unit.rows.empty(); });
  return units;
}

std::size_t rows_of(const std::vector<Unit>& units) {
  std::size_t rows = 0;
  for (const Unit& unit : units) rows += unit.rows.size();
  return rows;
}

}  // namespace noteg::dataset
