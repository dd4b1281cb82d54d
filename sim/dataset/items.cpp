#include "sim/dataset/items.hpp"

#include <algorithm>
#include <tuple>

#include "kernels/config/config_file.hpp"

namespace noteg::dataset {

namespace {

bool has_mix(const ShapeSpace& shapes) { return shapes.layers + shapes.convolutions > 0; }

// Values on each dimension of a block, slowest first in a grid: GPU, copy, M, N, K, batch, base, axes, run (where there
// are several), label. A span has one place here: only sampled sweeps hold spans.
std::vector<std::size_t> sizes_of(const Sweep& sweep, const KernelBlock& block) {
  const auto of = [](const ExtentAxis& axis) { return axis.span ? std::size_t{1} : axis.values.size(); };
  std::vector<std::size_t> sizes{block.gpus.size(), sweep.copies + 1};
  const ShapeSpace& s = sweep.shapes;
  if (!s.list.empty())
    sizes.insert(sizes.end(), {s.list.size(), 1, 1, 1});
  else
    sizes.insert(sizes.end(), {of(s.m), of(s.n), of(s.k), of(s.batch)});
  sizes.push_back(block.bases.size());
  for (const KernelAxis& axis : block.axes) sizes.push_back(axis.values.size());
  if (sweep.runs.size() > 1) sizes.push_back(sweep.runs.size());
  sizes.push_back(sweep.labels.size());
  if (has_mix(sweep.shapes)) sizes.push_back(1);  // which kind of shape
  return sizes;
}

std::optional<std::size_t> product(const std::vector<std::size_t>& sizes) {
  std::size_t rows = 1;
  for (const std::size_t size : sizes) {
    rows *= size;
    if (rows > largest_sweep) return std::nullopt;
  }
  return rows;
}

std::size_t pick(double share, std::size_t count) {
  return std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
}

std::int64_t extent(const ExtentAxis& axis, double share) {
  return axis.span ? axis.span->at(share) : axis.values[pick(share, axis.values.size())];
}

}  // namespace

std::optional<std::size_t> grid_rows(const Sweep& sweep) {
  std::size_t rows = 0;
  for (const KernelBlock& block : sweep.kernels) {
    const std::optional<std::size_t> more = product(sizes_of(sweep, block));
    if (!more || rows + *more > largest_sweep) return std::nullopt;
    rows += *more;
  }
  return rows;
}

Items::Items(const Sweep& sweep) : sweep_(sweep) {
  std::size_t most = 0;
  for (const KernelBlock& block : sweep.kernels) {
    sizes_.push_back(sizes_of(sweep, block));
    most = std::max(most, sizes_.back().size());
    begins_.push_back(count_);
    count_ += product(sizes_.back()).value_or(0);
  }
  if (sweep.method == Method::grid) return;
  count_ = sweep.rows;
  points_.emplace(sweep.method, count_, most + 1, sweep.seed);  // the first dimension chooses the block
}

double Items::runs_per_kernel(std::size_t block) const {
  const KernelBlock& from = sweep_.kernels[block];
  auto kernels = static_cast<double>(from.gpus.size() * (sweep_.copies + 1) * from.bases.size());
  for (const KernelAxis& axis : from.axes) kernels *= static_cast<double>(axis.values.size());
  if (points_) return static_cast<double>(count_) / static_cast<double>(sizes_.size()) / kernels;
  const auto rows = static_cast<double>((block + 1 < begins_.size() ? begins_[block + 1] : count_) - begins_[block]);
  return rows / static_cast<double>(sweep_.labels.size()) / kernels;
}

Item Items::at(std::size_t row) const {
  Item item;
  if (points_) {
    const std::vector<double> point = points_->at(row);
    item = item_of(pick(point.front(), sizes_.size()), point.data() + 1);
  } else {
    const auto after = std::ranges::upper_bound(begins_, row);
    const auto block = static_cast<std::size_t>(after - begins_.begin() - 1);
    const std::vector<std::size_t>& sizes = sizes_[block];
    std::vector<double> shares(sizes.size());
    std::size_t rest = row - begins_[block];
    for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d])
      shares[d] = (static_cast<double>(rest % sizes[d]) + 0.5) / static_cast<double>(sizes[d]);
    item = item_of(block, shares.data());
  }
  item.row = row;
  return item;
}

Item Items::item_of(std::size_t block_index, const double* shares) const {
  const KernelBlock& block = sweep_.kernels[block_index];
  Item item;
  item.block = block_index;
  item.gpu = block.gpus[pick(*shares++, block.gpus.size())];
  item.copy = pick(*shares++, sweep_.copies + 1);
  const ShapeSpace& s = sweep_.shapes;
  const double* const extents = shares;
  if (s.list.empty())
    item.shape = {extent(s.m, shares[0]), extent(s.n, shares[1]), extent(s.k, shares[2]), extent(s.batch, shares[3])};
  else
    item.shape = s.list[pick(shares[0], s.list.size())];
  shares += 4;
  item.kernel = pick(*shares++, block.bases.size());
  for (const KernelAxis& axis : block.axes)
    item.kernel = item.kernel * axis.values.size() + pick(*shares++, axis.values.size());
  if (sweep_.runs.size() > 1) item.run = pick(*shares++, sweep_.runs.size());
  item.label = pick(*shares++, sweep_.labels.size());
  if (!has_mix(s)) return item;
  if (*shares < s.layers)
    item.shape = layer_shape(extents[0], extents[1], extents[2]);
  else if (*shares < s.layers + s.convolutions)
    item.shape = convolution_shape(extents[0], extents[1]);
  return item;
}

kernels::KernelConfig Items::kernel_of(const Item& item) const {
  const KernelBlock& block = sweep_.kernels[item.block];
  std::size_t rest = item.kernel;
  std::vector<std::size_t> choice(block.axes.size());
  for (std::size_t a = choice.size(); a-- > 0; rest /= block.axes[a].values.size())
    choice[a] = rest % block.axes[a].values.size();
  kernels::KernelConfig config = block.bases[rest];
  for (std::size_t a = 0; a < choice.size(); ++a)  // values were checked when the sweep was read
    (void)kernels::set_kernel_key(config, block.axes[a].key, block.axes[a].values[choice[a]]);
  return config;
}

namespace {

// Short enough to spread a small sweep over many workers, long enough to be worth handing out.
constexpr std::size_t most_runs = 32, most_rows = 1024;

auto kernel_key(const Item& i) { return std::tie(i.gpu, i.copy, i.block, i.kernel); }
auto run_key(const Item& i) { return std::tie(i.shape.m, i.shape.n, i.shape.k, i.shape.batch, i.run); }

}  // namespace

std::vector<Unit> plan_units(const Items& items, const Shard& shard) {
  std::vector<Item> all;
  all.reserve(items.count());
  for (std::size_t row = 0; row < items.count(); ++row) all.push_back(items.at(row));
  std::ranges::sort(all, {}, [](const Item& i) { return std::tuple_cat(kernel_key(i), run_key(i), std::tie(i.row)); });

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
    const bool same_run = same_kernel && run_key(all[i]) == run_key(all[i - 1]);
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

Dispatcher::Dispatcher(const std::vector<Unit>& units) : units_(units) {
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (u == 0 || units[u].group != units[u - 1].group) groups_.push_back({u, u});
    groups_.back().end = u + 1;
  }
}

std::optional<std::size_t> Dispatcher::group_for(int worker) {
  const auto own = group_of_.find(worker);
  if (own != group_of_.end() && groups_[own->second].left() > 0) return own->second;
  if (untouched_ < groups_.size()) return untouched_++;
  const auto most = std::ranges::max_element(groups_, {}, &Group::left);
  if (most == groups_.end() || most->left() == 0) return std::nullopt;
  return static_cast<std::size_t>(most - groups_.begin());
}

const Unit* Dispatcher::next(int worker) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> group = group_for(worker);
  if (!group) return nullptr;
  group_of_[worker] = *group;
  return &units_[groups_[*group].next++];
}

}  // namespace noteg::dataset
