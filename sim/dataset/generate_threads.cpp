// Threads that take units and hand rows to the calling thread, which alone writes.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>

#include "sim/dataset/dispatcher.hpp"
#include "sim/dataset/generate_parts.hpp"

namespace noteg::dataset {
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
