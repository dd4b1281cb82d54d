#include "sim/dataset/generate.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "sim/dataset/export.hpp"
#include "sim/dataset/items.hpp"

namespace noteg::dataset {

namespace {

namespace fs = std::filesystem;

constexpr int go_on = 1, end_now = 0;

// Opens the file and does what is missing there; other ranks are told whether they are needed.
Result<Generated> into_database(const Sweep& sweep, const std::string& path, const GenerateOptions& options,
                                const Ranks& ranks) {
  std::optional<Result<std::unique_ptr<Store>>> store;
  std::exception_ptr error;
  try {
    store = Store::open(path, sweep, options.shard);
  } catch (...) {
    error = std::current_exception();
  }
  (void)ranks.agree(store && *store ? go_on : end_now);
  if (error) std::rethrow_exception(error);
  if (!*store) return store->errors();

  Store& open = ***store;
  const Items items(sweep);
  std::vector<Unit> units = plan_units(items, options.shard);
  Generated result;
  result.rows = rows_of(units);
  result.before = open.rows_done().size();
  result.failed = open.failed_before();
  units = without(std::move(units), open.rows_done());
  Writer writer(open, options, result);
  if (ranks.count() > 1)
    ranks.hand_out(units, writer);
  else
    run_on_threads(sweep, items, units, options.jobs, writer);
  open.finish();
  return result;
}

bool is_there(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

// What was worked in goes once the CSV file is there in full.
void write_csv(const std::string& part, const std::string& path) {
  export_csv(part, path, {});
  std::error_code failed;
  fs::remove(part, failed);
}

// The result where this process only simulated for another one.
Generated work_for_writer(const Sweep& sweep, const GenerateOptions& options, const Ranks& ranks) {
  if (ranks.agree(end_now) == go_on) ranks.work(sweep, Items(sweep), options);
  return {};
}

}  // namespace

void Writer::write(const std::vector<FinishedRow>& rows) {
  store_.write(rows);
  for (const FinishedRow& row : rows) result_.failed += row.error.empty() ? 0 : 1;
  result_.written += rows.size();
  if (!rows.empty() && options_.progress) options_.progress(result_.before + result_.written, result_.rows);
}

Result<Generated> generate(const Sweep& sweep, const std::string& path, const GenerateOptions& options) {
  const Ranks alone_or_not;
  return generate(sweep, path, options, alone_or_not);
}

Result<Generated> generate(const Sweep& sweep, const std::string& path, const GenerateOptions& options,
                           const Ranks& ranks) {
  if (!ranks.is_writer()) return work_for_writer(sweep, options, ranks);
  if (!path.ends_with(".csv")) return into_database(sweep, path, options, ranks);
  const std::string part = path + ".part";
  if (is_there(path) && !is_there(part)) {
    (void)ranks.agree(end_now);
    return Diagnostic{path,
                      0,
                      0,
                      "--out",
                      "a file that is not there yet: a CSV file cannot be gone on with",
                      "one that is (remove it, or write an SQLite file)"};
  }
  std::error_code failed;
  if (fs::is_symlink(part, failed)) {  // whoever laid it there chose what is written to
    (void)ranks.agree(end_now);
    return Diagnostic{part, 0, 0, "", "a file of this program, or none", "a symbolic link"};
  }
  Result<Generated> result = into_database(sweep, part, options, ranks);
  if (result && result->complete()) write_csv(part, path);
  return result;
}

// Threads that take units and hand rows to the calling thread, which alone writes.

namespace {

// Rows on their way to the writer. Bounded: a slow disk holds the workers up instead of filling the memory.
class RowQueue {
 public:
  explicit RowQueue(unsigned workers) : working_(workers) {}

  // false: nobody wants more rows.
  bool push(FinishedRow row) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || rows_.size() < most; });
    if (closed_) return false;
    rows_.push_back(std::move(row));
    changed_.notify_all();
    return true;
  }

  // Everything at hand; empty: all workers have ended.
  std::vector<FinishedRow> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !rows_.empty() || working_ == 0; });
    std::vector<FinishedRow> out(std::make_move_iterator(rows_.begin()), std::make_move_iterator(rows_.end()));
    rows_.clear();
    changed_.notify_all();
    return out;
  }

  void worker_ended(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    --working_;
    if (error && !error_) error_ = std::move(error);
    if (error_) closed_ = true;
    changed_.notify_all();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] std::exception_ptr error() {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  static constexpr std::size_t most = 4096;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FinishedRow> rows_;
  unsigned working_;
  bool closed_ = false;
  std::exception_ptr error_;
};

}  // namespace

void run_on_threads(const Sweep& sweep, const Items& items, const std::vector<Unit>& units, unsigned jobs,
                    Writer& writer) {
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(std::max(1u, jobs), units.size()));
  if (workers == 0) return;
  RowQueue queue(workers);
  Dispatcher dispatcher(units);
  CacheShelf shelf;
  const auto work = [&](unsigned worker) {
    std::exception_ptr error;
    try {
      RowRunner runner(sweep, items, shelf);
      bool wanted = true;
      while (const Unit* unit = wanted ? dispatcher.next(static_cast<int>(worker)) : nullptr)
        for (std::size_t r = 0; r < unit->rows.size() && wanted; ++r)
          wanted = !writer.stopped() && queue.push(runner.run(unit->rows[r]));
    } catch (...) {
      error = std::current_exception();
    }
    queue.worker_ended(error);
  };
  std::vector<std::jthread> pool;
  for (unsigned i = 0; i < workers; ++i) pool.emplace_back(work, i);
  try {
    for (std::vector<FinishedRow> rows = queue.pop(); !rows.empty(); rows = queue.pop()) writer.write(rows);
  } catch (...) {
    queue.close();  // the threads end with the row that they are at
    throw;
  }
  if (const std::exception_ptr error = queue.error()) std::rethrow_exception(error);
}

}  // namespace noteg::dataset
