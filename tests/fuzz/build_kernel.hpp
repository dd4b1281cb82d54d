// What a configuration that was accepted must survive: its rules and its builder.
#pragma once

#include "arch/load.hpp"
#include "kernels/config/config.hpp"
#include "kernels/families/build.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::fuzz {

inline void build(const kernels::KernelConfig& config) {
  static const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb");
  const Result<kernels::KernelConfig> resolved = kernels::resolve(config, {512, 512, 512, 1});
  if (!resolved) return;
  // A tile of a million products unrolls to as many instructions: correct, and too slow for a fuzzer.
  if (std::int64_t{resolved->tile.m} * resolved->tile.n * resolved->tile.k > 128 * 128 * 64) return;
  kernels::BuildRequest request;
  request.config = *resolved;
  request.latency = sm::latency_model(gpu.sm);
  static_cast<void>(kernels::build_program(request));
}

}  // namespace noteg::fuzz
