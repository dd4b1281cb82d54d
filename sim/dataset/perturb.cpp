#include "sim/dataset/perturb.hpp"

#include <algorithm>
#include <cmath>

#include "arch/field.hpp"
#include "arch/validate.hpp"
#include "sim/dataset/hash.hpp"

namespace noteg::dataset {
namespace {

constexpr int draws = 20;

// With one partition there is no far half: one latency under two keys.
void keep_tied(arch::GpuSpec& gpu) {
  if (gpu.l2.partitions == 1) gpu.l2.far_latency = gpu.l2.latency;
}

bool rules_hold(const arch::GpuSpec& gpu) {
  return std::ranges::all_of(arch::rules(), [&](const arch::Rule& rule) { return rule.holds(gpu); });
}

}  // namespace

arch::GpuSpec perturbed(const arch::GpuSpec& gpu, const std::vector<Jitter>& jitter, std::uint64_t seed,
                        std::size_t copy) {
  arch::GpuSpec out = gpu;
  if (copy == 0) return out;
  const std::uint64_t own = mix(mix(seed, hash_of(gpu.id)), copy);
  for (const Jitter& one : jitter) {
    const arch::Field& field = arch::fields()[one.field];
    const double number = std::get<double>(field.get(gpu));
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      // The key, not its place in the table: a new key must not move the others' draws.
      const double share = share_of(mix(own, hash_of(field.key), draw));
      double value = number * one.low * std::pow(one.high / one.low, share);
      if (field.kind == arch::Kind::count) value = std::round(value);
      if (value < field.low || value > field.high) continue;
      field.set(out, arch::Value{value});
      keep_tied(out);
      if (rules_hold(out)) break;
      field.set(out, arch::Value{number});
      keep_tied(out);
    }
  }
  return out;
}

}  // namespace noteg::dataset
