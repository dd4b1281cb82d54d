// Programs and the runs of an SM, each made once for all who ask for the same. Pure caches: what they hold never shows
// in a result. Keys are compared by value, so that an overridden number can never find the runs of another.
#pragma once

#include <memory>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/gpu/sm_timer.hpp"
#include "sim/support/result.hpp"

namespace noteg::gpu {

class SmCache {
 public:
  SmCache();
  ~SmCache();
  SmCache(const SmCache&) = delete;
  SmCache& operator=(const SmCache&) = delete;
  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The program of a resolved configuration on a GPU's SM. tiles: of K, where they are fewer than its pipeline has
// stages.
[[nodiscard]] Result<std::shared_ptr<const kernels::Program>> gemm_program(const arch::GpuSpec& gpu,
                                                                           const kernels::KernelConfig& config,
                                                                           SmCache& cache, std::int64_t tiles = 0);

// A program decoded for an SM, with the runs done so far. By the program's identity: two programs that are equal are
// run twice.
[[nodiscard]] std::shared_ptr<SmTimer> sm_timer(const std::shared_ptr<const kernels::Program>& program,
                                                const sm::AddressFacts& addresses, const arch::SmSpec& sm,
                                                const Switches& switches, SmCache& cache);

}  // namespace noteg::gpu
