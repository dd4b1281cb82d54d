// Items to rows: what is simulated is put into columns, and travels between processes as bytes.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/dataset/columns.hpp"
#include "sim/dataset/items.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::dataset {

// Engine runs of the kernels that are being simulated, shared by the threads of a process. A kernel's runs are dropped
// with the last thread that works on it.
struct SharedCache {
  gpu::SmCache cache;
  std::atomic<std::size_t> uses = 0;
};

class CacheShelf {
 public:
  // A kernel's runs take about 10 kB for each shape; beyond so many shapes one begins anew.
  static constexpr std::size_t most_uses = 4000;

  [[nodiscard]] std::shared_ptr<SharedCache> of(const Item& item) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<SharedCache>& place = caches_[{item.gpu, item.copy, item.block, item.kernel}];
    std::shared_ptr<SharedCache> cache = place.lock();
    if (!cache || cache->uses >= most_uses) {
      std::erase_if(caches_, [](const auto& entry) { return entry.second.expired(); });
      cache = std::make_shared<SharedCache>();
      caches_[{item.gpu, item.copy, item.block, item.kernel}] = cache;
    }
    return cache;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>, std::weak_ptr<SharedCache>> caches_;
};

// Items to rows: each is simulated and put into columns. One runner per thread; what it remembers of earlier rows never
// shows in what it returns.

// From so many runs of a kernel on, its shapes lie on lines between runs at round numbers (SimOptions::many_shapes):
// fewer shapes than these take more runs of the SM so than each on its own. It follows from the sweep alone.
inline constexpr double shared_from = 700;

// A finished row. Values are parallel to stored_columns(): absent ones are a number that is not finite or an empty
// text.
struct FinishedRow {
  std::size_t row = 0;
  std::vector<Value> values;
  std::string error;  // why the run failed; the values then hold what was known before it
};

// The columns of a file: what names the row (replica, copy of the GPU), then those of columns.hpp.
[[nodiscard]] std::vector<Column> stored_columns();

class RowRunner {
 public:
  RowRunner(const Sweep& sweep, const Items& items, CacheShelf& shelf);  // all must outlive this object

  [[nodiscard]] FinishedRow run(std::size_t row);

 private:
  [[nodiscard]] bool same_kernel(const Item& item) const;
  void prepare(const Item& item);
  void simulate(const Item& item);
  [[nodiscard]] std::vector<Value> values_of(const gpu::SimReport& report, bool finished) const;

  const Sweep& sweep_;
  const Items& items_;
  std::vector<RunColumn> columns_;
  CacheShelf& shelf_;
  std::shared_ptr<SharedCache> cache_;
  arch::GpuSpec gpu_;             // of the item before, perturbed
  kernels::KernelConfig kernel_;  // of the item before
  std::vector<Value> values_;     // of the item before
  std::string error_;
  gpu::SimOptions options_;  // of the row
  std::optional<Item> before_;
};

// A finished row as bytes and back, for the way between processes of the same program.
[[nodiscard]] std::string encode(const FinishedRow& row);
[[nodiscard]] FinishedRow decode(std::string_view bytes);  // of encode()

}  // namespace noteg::dataset
