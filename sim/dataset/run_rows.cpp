#include "sim/dataset/run_rows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "sim/dataset/columns.hpp"
#include "sim/dataset/sampling.hpp"

namespace noteg::dataset {

namespace {

bool same_shape(const kernels::GemmShape& a, const kernels::GemmShape& b) {
  return std::tie(a.m, a.n, a.k, a.batch) == std::tie(b.m, b.n, b.k, b.batch);
}

std::string one_line(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& error : errors) text += (text.empty() ? "" : "; ") + error.to_string();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Value absent() { return std::numeric_limits<double>::quiet_NaN(); }

}  // namespace

std::vector<Column> stored_columns() {
  std::vector<Column> all = row_columns();
  for (const RunColumn& column : run_columns()) all.push_back(column.column);
  return all;
}

RowRunner::RowRunner(const Sweep& sweep, const Items& items, CacheShelf& shelf)
    : sweep_(sweep), items_(items), columns_(run_columns()), shelf_(shelf) {}

bool RowRunner::same_kernel(const Item& item) const {
  return before_ && std::tie(item.gpu, item.copy, item.block, item.kernel) ==
                        std::tie(before_->gpu, before_->copy, before_->block, before_->kernel);
}

void RowRunner::prepare(const Item& item) {
  if (!same_kernel(item)) {
    if (!before_ || before_->gpu != item.gpu || before_->copy != item.copy)
      gpu_ = perturbed(sweep_.gpus[item.gpu], sweep_.jitter, sweep_.seed, item.copy);
    kernel_ = items_.kernel_of(item);
    cache_.reset();
  }
  options_ = sweep_.runs[item.run];
  options_.many_shapes = items_.runs_per_kernel(item.block) >= shared_from;
  if (!cache_ || cache_->uses >= CacheShelf::most_uses) cache_ = shelf_.of(item);
}

std::vector<Value> RowRunner::values_of(const gpu::SimReport& report, bool finished) const {
  const Physics physics = physics_of(gpu_, report, options_);
  const Run run{&gpu_, &options_, &report, &physics};
  std::vector<Value> values;
  values.reserve(columns_.size());
  for (const RunColumn& column : columns_)
    values.push_back(finished || known_before(column.column.group) ? column.get(run) : absent());
  return values;
}

void RowRunner::simulate(const Item& item) {
  ++cache_->uses;
  error_.clear();
  const Result<gpu::SimReport> report = gpu::simulate(gpu_, kernel_, item.shape, options_, cache_->cache);
  if (report) {
    values_ = values_of(*report, true);
    return;
  }
  error_ = one_line(report.errors());
  if (const Result<gpu::SimReport> before = unsimulated(gpu_, kernel_, item.shape, options_)) {
    values_ = values_of(*before, false);
    return;
  }
  gpu::SimReport asked;  // not even resolved: as it was asked for
  asked.arch_id = gpu_.id;
  asked.kernel = kernel_;
  asked.shape = item.shape;
  const Run run{&gpu_, &options_, &asked, nullptr};
  values_.clear();
  for (const RunColumn& column : columns_) {
    const bool known = column.column.group == Group::config || column.column.group == Group::arch;
    values_.push_back(known ? column.get(run) : absent());
  }
}

FinishedRow RowRunner::run(std::size_t row) {
  const Item item = items_.at(row);
  const bool replica = same_kernel(item) && same_shape(item.shape, before_->shape) && item.run == before_->run;
  prepare(item);
  if (!replica) simulate(item);
  before_ = item;
  FinishedRow out{row, {}, error_};
  out.values.reserve(values_.size() + 2);
  out.values.emplace_back(static_cast<std::int64_t>(item.copy));
  out.values.emplace_back(sweep_.labels[item.label]);
  out.values.insert(out.values.end(), values_.begin(), values_.end());
  return out;
}

namespace {

template <class T>
void put(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

void put_text(std::string& bytes, const std::string& text) {
  put(bytes, text.size());
  bytes += text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(get<std::size_t>())); }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw std::runtime_error("a damaged row came from another process");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }
  std::string_view bytes_;
};

void put_value(std::string& bytes, const Value& value) {
  put(bytes, static_cast<char>(value.index()));
  std::visit(
      [&bytes](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
          put_text(bytes, held);
        else
          put(bytes, held);
      },
      value);
}

Value get_value(Reader& reader) {
  switch (reader.get<char>()) {
    case 0: return reader.get<double>();
    case 1: return reader.get<std::int64_t>();
    case 2: return reader.get<bool>();
    default: return reader.text();
  }
}

}  // namespace

std::string encode(const FinishedRow& row) {
  static_assert(std::is_same_v<Value, std::variant<double, std::int64_t, bool, std::string>>, "order of the kinds");
  std::string bytes;
  put(bytes, row.row);
  put_text(bytes, row.error);
  put(bytes, row.values.size());
  for (const Value& value : row.values) put_value(bytes, value);
  return bytes;
}

FinishedRow decode(std::string_view bytes) {
  Reader reader(bytes);
  FinishedRow row;
  row.row = reader.get<std::size_t>();
  row.error = reader.text();
  const auto count = reader.get<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) row.values.push_back(get_value(reader));
  return row;
}

}  // namespace noteg::dataset
