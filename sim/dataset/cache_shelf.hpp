// Engine runs of the kernels that are being simulated, shared by the threads of a process. A kernel's runs are dropped
// with the last thread that works on it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "sim/dataset/items.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::dataset {

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

}  // namespace noteg::dataset
