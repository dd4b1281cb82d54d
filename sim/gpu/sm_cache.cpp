#include "sim/gpu/sm_cache.hpp"

#include <algorithm>

#include "kernels/access/copy_passes.hpp"
#include "sim/gpu/what_if.hpp"
#include "sim/sm/tensor_timing.hpp"

namespace noteg::gpu {

namespace {

// Whether the SM has the matrix instruction that the kernel is made of.
std::optional<Diagnostic> missing_form(const arch::SmSpec& sm, const kernels::KernelConfig& config) {
  if (!kernels::on_tensor_cores(config)) return std::nullopt;
  const kernels::TensorForm form = kernels::tensor_form_of(config);
  if (sm::tensor_timing(sm, form)) return std::nullopt;
  const std::string known = sm::tensor_forms_of(sm, form.warp_group);
  if (known.empty())
    return Diagnostic{"",
                      0,
                      0,
                      "family",
                      "mma (" + sm.name + " has no warp-group instructions)",
                      std::string(kernels::name_of(config.family))};
  return Diagnostic{"", 0, 0, "instruction", "one that " + sm.name + " has: " + known, kernels::name_of(form)};
}

std::size_t digest(const BuiltFor& wanted) {
  const kernels::KernelConfig& c = wanted.config;
  std::size_t out = static_cast<std::size_t>(c.family);
  for (const int part : {static_cast<int>(c.flavor), static_cast<int>(c.dtype_in), static_cast<int>(c.layout), c.tile.m,
                         c.tile.n, c.tile.k, c.stages.value_or(0), c.warp_m.value_or(0), c.warp_n.value_or(0),
                         static_cast<int>(wanted.sm.memory.ldg_latency.value), wanted.sm.pipes.fma.lanes})
    out = out * 1000003 + static_cast<std::size_t>(part);
  return out;
}

// What `build` makes, or what it made for the first who asked for the same.
template <class T, class Build>
Result<std::shared_ptr<T>> once(std::mutex& mutex, BuildSlots<T>& slots, const BuiltFor& wanted, const Build& build) {
  std::shared_ptr<BuildSlot<T>> slot;
  {
    const std::lock_guard lock(mutex);
    auto& alike = slots[digest(wanted)];
    const auto found = std::ranges::find_if(alike, [&](const auto& entry) { return entry.first == wanted; });
    slot = found != alike.end() ? found->second : alike.emplace_back(wanted, std::make_shared<BuildSlot<T>>()).second;
  }
  std::call_once(slot->once, [&] { slot->built = build(); });
  return slot->built;
}

Result<std::shared_ptr<const kernels::Program>> build_for(const arch::GpuSpec& gpu,
                                                          const kernels::KernelConfig& config) {
  const Result<kernels::BuildRequest> request = build_request(gpu, config);
  if (!request) return request.errors();
  Result<kernels::Program> program = kernels::build_program(*request);
  if (!program) return program.errors();
  return std::make_shared<const kernels::Program>(std::move(*program));
}

std::shared_ptr<BuiltKernel> decoded(const arch::GpuSpec& gpu, std::shared_ptr<const kernels::Program> program,
                                     const sm::AddressFacts& facts, const Switches& switches) {
  auto built = std::make_shared<BuiltKernel>();
  sm::DecodedProgram decoded = sm::decode(*program, gpu.sm, facts, switches.core);
  remove_limits(decoded, switches);
  built->timer = std::make_unique<SmTimer>(std::move(decoded), sm_without_limits(gpu.sm, switches), switches.core,
                                           program->k_per_trip);
  built->program = std::move(program);
  return built;
}

}  // namespace

Result<kernels::BuildRequest> build_request(const arch::GpuSpec& gpu, const kernels::KernelConfig& config) {
  if (const std::optional<Diagnostic> missing = missing_form(gpu.sm, config)) return *missing;
  kernels::BuildRequest request;
  request.config = config;
  const bool is_sync = kernels::on_tensor_cores(config) && config.family != kernels::Family::wgmma;
  request.latency = is_sync ? latency_model(gpu.sm, kernels::tensor_form_of(config)) : latency_model(gpu.sm);
  return request;
}

// Rows of operands that lie along K are K elements apart. It matters only to copies whose shared-memory writes
// conflict; library kernels have none.
sm::AddressFacts address_facts(const kernels::KernelConfig& config, const kernels::GemmShape& shape) {
  const bool may_conflict = config.async_copy.value_or(false) && config.family == kernels::Family::simt &&
                            (config.flavor == kernels::Flavor::cutlass || config.flavor == kernels::Flavor::generic);
  if (!may_conflict) return {};
  const auto bytes = static_cast<std::uint64_t>(kernels::bytes_of(config.dtype_in));
  return {kernels::alike_pitch(static_cast<std::uint64_t>(shape.k) * bytes)};
}

kernels::KernelConfig as_built(kernels::KernelConfig config) {
  const kernels::KernelConfig unset;
  config.name = unset.name;
  config.raster = unset.raster;
  config.swizzle_log2 = unset.swizzle_log2;
  config.split_k = std::min(config.split_k, 2);
  config.attention.causal = false;  // decides how many iterations there are
  return config;
}

SmCache::SmCache() : impl_(std::make_unique<Impl>()) {}
SmCache::~SmCache() = default;

Result<std::shared_ptr<BuiltKernel>> built_kernel(const arch::GpuSpec& gpu, const kernels::KernelConfig& config,
                                                  const kernels::GemmShape& shape, const Switches& switches,
                                                  SmCache& cache) {
  BuiltFor wanted{as_built(config), address_facts(config, shape), gpu.sm, switches};
  wanted.sm.energy = {};  // costs watts, no cycles
  // What is beside the SM decides its environment, not the program or its timer.
  const Switches all;
  wanted.switches.l2 = all.l2;
  wanted.switches.dram = all.dram;
  wanted.switches.launch = all.launch;
  wanted.switches.power = all.power;
  wanted.switches.tail = all.tail;
  wanted.switches.memory_latency = all.memory_latency;
  SmCache::Impl& all_built = cache.impl();
  return once(all_built.mutex, all_built.kernels, wanted, [&]() -> Result<std::shared_ptr<BuiltKernel>> {
    BuiltFor program = wanted;
    program.facts = {};
    program.switches = {};
    const Result<std::shared_ptr<const kernels::Program>> built =
        once(all_built.mutex, all_built.programs, program, [&] { return build_for(gpu, config); });
    if (!built) return built.errors();
    return decoded(gpu, *built, wanted.facts, switches);
  });
}

}  // namespace noteg::gpu
