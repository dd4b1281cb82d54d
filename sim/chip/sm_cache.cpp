#include "sim/chip/sm_cache.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace noteg::chip {

namespace {

// Everything that changes the program or the SM that runs it. The SM is named by its fields' values, not by
// the GPU, so that an override makes a new entry.
std::string key_of(const arch::GpuSpec& gpu, const kernels::KernelConfig& c) {
  const auto& m = gpu.sm.memory;
  const auto& p = gpu.sm.pipes;
  std::string key = fmt::format(
      "{}|{}|{}|{}|{}x{}x{}|{}x{}|{}x{}|{}|{}|{}|{}|{}|{}", static_cast<int>(c.family), static_cast<int>(c.flavor),
      static_cast<int>(c.layout), static_cast<int>(c.dtype_in), c.tile.m, c.tile.n, c.tile.k, c.warp_m.value_or(0),
      c.warp_n.value_or(0), c.thread_m.value_or(0), c.thread_n.value_or(0), c.threads.value_or(0), c.stages.value_or(0),
      c.sliced_k.value_or(0), c.registers.value_or(0), c.shared_bytes.value_or(0), c.async_copy.value_or(false));
  key += fmt::format("|{}|{}|{}|{}|{}|{}|{}", c.align_a.value_or(0), c.align_b.value_or(0), c.align_c.value_or(0),
                     static_cast<int>(c.split_k_mode), c.split_k > 1, c.reads_c, c.bias);
  key += fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", gpu.sm.name, gpu.id, p.fma.lanes, p.fma_heavy.lanes,
                     p.alu.lanes, m.queue_entries, m.address_cycles.value, m.shared_interval.value, m.lds_latency.value,
                     m.ldg_latency.value, m.ldgsts_latency.value, m.barrier_latency.value,
                     gpu.sm.front_end.branch_redirect.value);
  key += fmt::format("|{}|{}|{}|{}", gpu.sm.register_file.read_ports, gpu.sm.register_file.cache,
                     gpu.sm.register_file.read_window, gpu.sm.register_file.load_write_back.value);
  return key;
}

}  // namespace

SmCache::SmCache() : impl_(std::make_unique<Impl>()) {}
SmCache::~SmCache() = default;

kernels::LatencyModel latency_model(const arch::SmSpec& sm) {
  kernels::LatencyModel out;
  const auto cycles = [](Cycles c) { return static_cast<int>(c.value); };
  const auto interval = [](int lanes) { return 32 / std::max(1, lanes); };
  out.fma = cycles(sm.pipes.fma.latency);
  out.alu = cycles(sm.pipes.alu.latency);
  out.half = cycles(sm.pipes.half.latency);
  out.cross_pipe = std::max(out.fma, out.alu) + cycles(sm.pipes.cross_pipe_penalty);
  out.to_memory = std::max(out.fma, out.alu) + cycles(sm.pipes.memory_address_penalty);
  out.predicate_to_branch = cycles(sm.pipes.predicate_to_branch);
  out.fma_interval = interval(sm.pipes.fma.lanes);
  out.alu_interval = interval(sm.pipes.alu.lanes);
  out.memory_interval = cycles(sm.memory.address_cycles);
  out.async_copy = sm.has_async_copy;
  return out;
}

Result<std::shared_ptr<BuiltKernel>> built_kernel(const arch::GpuSpec& gpu, const kernels::KernelConfig& config,
                                                  const kernels::GemmShape& shape, SmCache& cache) {
  // Rows of operands that lie along K are K elements apart. It matters only to copies whose shared-memory writes
  // conflict; library kernels have none.
  const bool may_conflict = config.async_copy.value_or(false) &&
                            (config.flavor == kernels::Flavor::cutlass || config.flavor == kernels::Flavor::generic);
  core::AddressFacts facts;
  facts.rows_arrive_together = !may_conflict || std::has_single_bit(static_cast<std::uint64_t>(shape.k));
  const std::string key = key_of(gpu, config) + (facts.rows_arrive_together ? "|together" : "|apart");
  const std::lock_guard lock(cache.impl().mutex);
  auto& kernels = cache.impl().kernels;
  if (const auto found = kernels.find(key); found != kernels.end()) return found->second;
  kernels::BuildRequest request;
  request.config = config;
  request.latency = latency_model(gpu.sm);
  Result<kernels::Program> program = kernels::build_program(request);
  if (!program) return program.errors();
  auto built = std::make_shared<BuiltKernel>();
  built->program = std::move(*program);
  built->timer = std::make_unique<SmTimer>(core::decode(built->program, gpu.sm, facts), gpu.sm, core::CoreSwitches{});
  kernels.emplace(key, built);
  return built;
}

}  // namespace noteg::chip
