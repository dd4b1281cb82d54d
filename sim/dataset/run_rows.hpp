// Items to rows: each is simulated and put into columns. One runner per thread; what it remembers of earlier rows never
// shows in what it returns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/dataset/cache_shelf.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/items.hpp"

namespace noteg::dataset {

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
  std::optional<Item> before_;
};

}  // namespace noteg::dataset
