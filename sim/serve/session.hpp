// What commands remember between requests of one process: GPUs and models that were read, kernels that were built,
// engine runs. None of it shows in an answer. Files are read once: one that changes meanwhile is not noticed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arch/load.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/learn/estimate.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/tune/catalogue.hpp"
#include "sim/workload/workload.hpp"

namespace noteg::serve {

// Things that are expensive to make, by name. Safe for many threads; one that could not be made is tried again.
template <class T>
class Shelf {
 public:
  template <class Make>
  Result<std::shared_ptr<const T>> get(const std::string& name, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = things_.find(name); found != things_.end()) return found->second;
    }
    Result<std::shared_ptr<const T>> made = make();
    if (!made) return made;
    const std::lock_guard lock(mutex_);
    if (things_.size() >= most) things_.clear();
    return things_.try_emplace(name, *made).first->second;
  }

 private:
  static constexpr std::size_t most = 1000;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const T>> things_;
};

struct Caches {
  gpu::SmCache runs;
  tune::KernelChooser chooser;
  workload::Bench bench;
};

struct LoadedModel {
  explicit LoadedModel(learn::Model read) : model(std::move(read)), estimator(model) {}
  learn::Model model;
  learn::Estimator estimator;
};

class Session {
 public:
  // Begun anew after so many requests that the oldest runs would fill the memory; whoever holds the old ones keeps
  // them.
  [[nodiscard]] std::shared_ptr<Caches> caches();
  [[nodiscard]] Result<std::shared_ptr<const arch::GpuSpec>> gpu(const std::string& name,
                                                                 const arch::Overrides& overrides);
  [[nodiscard]] Result<std::shared_ptr<const LoadedModel>> model(const std::string& path);

 private:
  static constexpr std::size_t most_uses = 20000;
  std::mutex mutex_;
  std::size_t uses_ = 0;
  std::shared_ptr<Caches> caches_ = std::make_shared<Caches>();
  Shelf<arch::GpuSpec> gpus_;
  Shelf<LoadedModel> models_;
};

}  // namespace noteg::serve
