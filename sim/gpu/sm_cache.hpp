// Built kernels by configuration and SM, so that rows of a measured file share them.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/families/build.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/gpu/sm_timer.hpp"
#include "sim/sm/compiler_latencies.hpp"

namespace noteg::gpu {

struct BuiltKernel {
  std::shared_ptr<const kernels::Program> program;  // the same with other switches
  std::unique_ptr<SmTimer> timer;
};

// A kernel is built once for everything that changes its program or the SM that runs it; these are compared by
// value, so that an overridden number can never find the runs of another.
struct BuiltFor {
  kernels::KernelConfig config;  // what concerns one launch only is left at its default
  sm::AddressFacts facts;
  arch::SmSpec sm;
  Switches switches;  // of the SM; not for programs, which no switch alters

  bool operator==(const BuiltFor&) const = default;
};

// Where something is built, once, by the first who asks; others wait for it and not for each other.
template <class T>
struct BuildSlot {
  std::once_flag once;
  Result<std::shared_ptr<T>> built = Diagnostic{};
};

// By a digest of what tells kernels apart most often; within it compared in full.
template <class T>
using BuildSlots = std::unordered_map<std::size_t, std::vector<std::pair<BuiltFor, std::shared_ptr<BuildSlot<T>>>>>;

struct SmCache::Impl {
  std::mutex mutex;
  BuildSlots<BuiltKernel> kernels;
  BuildSlots<const kernels::Program> programs;
};

// The configuration as far as it decides the program: name, raster and the number of slices do not.
[[nodiscard]] kernels::KernelConfig as_built(kernels::KernelConfig config);

// What the builder is asked for; an error if the SM lacks the kernel's matrix instruction.
[[nodiscard]] Result<kernels::BuildRequest> build_request(const arch::GpuSpec& gpu,
                                                          const kernels::KernelConfig& config);

// What the costs of a kernel's copies depend on beside their patterns.
[[nodiscard]] sm::AddressFacts address_facts(const kernels::KernelConfig& config, const kernels::GemmShape& shape);

// The program of a resolved configuration on a GPU's SM, built once for all shapes whose addresses behave alike.
[[nodiscard]] Result<std::shared_ptr<BuiltKernel>> built_kernel(const arch::GpuSpec& gpu,
                                                                const kernels::KernelConfig& config,
                                                                const kernels::GemmShape& shape,
                                                                const Switches& switches, SmCache& cache);

using sm::latency_model;

}  // namespace noteg::gpu
