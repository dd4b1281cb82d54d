#include "sim/gpu/sm_cache.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/gpu/limits/ablation.hpp"

namespace noteg::gpu {

// What decides a GEMM's program.
struct ProgramKey {
  kernels::KernelConfig config;  // as_built
  arch::SmSpec sm;
  std::int64_t tiles = 0;  // 0: of a loop longer than its pipeline is deep

  bool operator==(const ProgramKey&) const = default;
  [[nodiscard]] std::size_t digest() const;
};

// What decides the runs of a program. The program itself stays alive with its runs.
struct TimerKey {
  std::shared_ptr<const kernels::Program> program;
  sm::AddressFacts addresses;
  arch::SmSpec sm;
  Switches switches;  // of the SM

  bool operator==(const TimerKey&) const = default;
  [[nodiscard]] std::size_t digest() const { return std::hash<const void*>{}(program.get()); }
};

// Of all switches the two that decoding looks at.
Switches of_decoding(const Switches& switches) {
  Switches out;
  out.core.dependence = switches.core.dependence;
  out.core.bank_conflicts = switches.core.bank_conflicts;
  return out;
}

// Of what tells kernels apart most often; keys of the same digest are compared in full.
std::size_t ProgramKey::digest() const {
  auto out = static_cast<std::size_t>(config.family);
  for (const int part : {static_cast<int>(config.flavor), static_cast<int>(config.dtype_in),
                         static_cast<int>(config.layout), config.tile.m, config.tile.n, config.tile.k,
                         config.stages.value_or(0), config.warp_m.value_or(0), config.warp_n.value_or(0)})
    out = out * 1000003 + static_cast<std::size_t>(part);
  return out;
}

// Made once, by the first who asks; others wait for it and not for each other.
template <class Key, class T>
class Shelf {
 public:
  template <class Make>
  T get(const Key& wanted, const Make& make) {
    std::shared_ptr<Slot> slot;
    {
      const std::lock_guard lock(mutex_);
      auto& alike = slots_[wanted.digest()];
      const auto found = std::ranges::find_if(alike, [&](const auto& entry) { return entry.first == wanted; });
      slot = found != alike.end() ? found->second : alike.emplace_back(wanted, std::make_shared<Slot>()).second;
    }
    std::call_once(slot->once, [&] { slot->made.emplace(make()); });
    return *slot->made;
  }

 private:
  struct Slot {
    std::once_flag once;
    std::optional<T> made;
  };
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<std::pair<Key, std::shared_ptr<Slot>>>> slots_;
};

namespace {

arch::SmSpec without_energy(arch::SmSpec sm) {
  sm.energy = {};  // costs watts, no cycles
  return sm;
}

// What is beside the SM decides its memory port and its work, not the program or its runs.
Switches of_the_sm(Switches switches) {
  const Switches all;
  switches.l2 = all.l2;
  switches.dram = all.dram;
  switches.launch = all.launch;
  switches.power = all.power;
  switches.tail = all.tail;
  switches.memory_latency = all.memory_latency;
  return switches;
}

}  // namespace

struct SmCache::Impl {
  Shelf<ProgramKey, Result<std::shared_ptr<const kernels::Program>>> programs;
  Shelf<TimerKey, std::shared_ptr<const sm::DecodedProgram>> decoded;
  Shelf<TimerKey, std::shared_ptr<SmTimer>> timers;
};

SmCache::SmCache() : impl_(std::make_unique<Impl>()) {}
SmCache::~SmCache() = default;

Result<std::shared_ptr<const kernels::Program>> gemm_program(const arch::GpuSpec& gpu,
                                                             const kernels::KernelConfig& config, SmCache& cache,
                                                             std::int64_t tiles) {
  using Built = Result<std::shared_ptr<const kernels::Program>>;
  return cache.impl().programs.get({as_built(config), without_energy(gpu.sm), tiles}, [&]() -> Built {
    const Result<kernels::BuildRequest> request = build_request(gpu, config);
    if (!request) return request.errors();
    Result<kernels::Program> program = kernels::build_program(*request);
    if (!program) return program.errors();
    return std::make_shared<const kernels::Program>(tiles > 0 ? with_tiles(std::move(*program), tiles)
                                                              : std::move(*program));
  });
}

std::shared_ptr<SmTimer> sm_timer(const std::shared_ptr<const kernels::Program>& program,
                                  const sm::AddressFacts& addresses, const arch::SmSpec& sm, const Switches& switches,
                                  SmCache& cache) {
  const arch::SmSpec key = without_energy(sm);
  return cache.impl().timers.get({program, addresses, key, of_the_sm(switches)}, [&] {
    sm::DecodedProgram decoded = *cache.impl().decoded.get({program, addresses, key, of_decoding(switches)}, [&] {
      return std::make_shared<const sm::DecodedProgram>(sm::decode(*program, sm, addresses, switches.core));
    });
    remove_limits(decoded, switches);
    return std::make_shared<SmTimer>(std::move(decoded), sm_without_limits(sm, switches), switches.core);
  });
}

}  // namespace noteg::gpu
