#include "sim/chip/sm_cache.hpp"

#include <algorithm>
#include <bit>

#include "sim/chip/what_if.hpp"

namespace noteg::chip {

namespace {

// The configuration as far as it decides the program: name, raster and the number of slices do not.
kernels::KernelConfig as_built(kernels::KernelConfig config) {
  const kernels::KernelConfig unset;
  config.name = unset.name;
  config.raster = unset.raster;
  config.swizzle_log2 = unset.swizzle_log2;
  config.split_k = std::min(config.split_k, 2);
  return config;
}

// Rows of operands that lie along K are K elements apart. It matters only to copies whose shared-memory writes
// conflict; library kernels have none.
core::AddressFacts address_facts(const kernels::KernelConfig& config, const kernels::GemmShape& shape) {
  const bool may_conflict = config.async_copy.value_or(false) &&
                            (config.flavor == kernels::Flavor::cutlass || config.flavor == kernels::Flavor::generic);
  return {!may_conflict || std::has_single_bit(static_cast<std::uint64_t>(shape.k))};
}

}  // namespace

SmCache::SmCache() : impl_(std::make_unique<Impl>()) {}
SmCache::~SmCache() = default;

Result<std::shared_ptr<BuiltKernel>> built_kernel(const arch::GpuSpec& gpu, const kernels::KernelConfig& config,
                                                  const kernels::GemmShape& shape, const Switches& switches,
                                                  SmCache& cache) {
  BuiltFor wanted{as_built(config), address_facts(config, shape), gpu.sm, switches};
  wanted.sm.energy = {};  // costs watts, no cycles
  const std::lock_guard lock(cache.impl().mutex);
  auto& kernels = cache.impl().kernels;
  for (const auto& [built_for, kernel] : kernels) {
    if (built_for == wanted) return kernel;
  }
  kernels::BuildRequest request;
  request.config = config;
  request.latency = latency_model(gpu.sm);
  Result<kernels::Program> program = kernels::build_program(request);
  if (!program) return program.errors();
  auto built = std::make_shared<BuiltKernel>();
  built->program = std::move(*program);
  core::DecodedProgram decoded = core::decode(built->program, gpu.sm, wanted.facts, switches.core);
  remove_limits(decoded, switches);
  built->timer = std::make_unique<SmTimer>(std::move(decoded), sm_without_limits(gpu.sm, switches), switches.core);
  kernels.emplace_back(wanted, built);
  return built;
}

}  // namespace noteg::chip
