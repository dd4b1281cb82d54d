#include "sim/support/work_sharing.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace noteg {

void share_work(std::size_t count, unsigned jobs, const std::function<void(std::size_t, std::size_t)>& progress,
                const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex lock;
  std::size_t done = 0;
  std::exception_ptr error;
  const auto run = [&] {
    for (std::size_t i = next++; i < count && !failed; i = next++) {
      try {
        work(i);
        const std::scoped_lock guard(lock);
        ++done;
        if (progress) progress(done, count);
      } catch (...) {
        const std::scoped_lock guard(lock);
        if (!error) error = std::current_exception();
        failed = true;
      }
    }
  };
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(jobs, count));
  if (threads <= 1) {
    run();
  } else {
    std::vector<std::jthread> pool;
    try {
      while (pool.size() + 1 < threads) pool.emplace_back(run);
    } catch (const std::system_error&) {
      // The system gives no more threads: those there are share the work.
    }
    run();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace noteg
