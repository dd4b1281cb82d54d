#include "sim/gpu/occupancy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace noteg::gpu {

namespace {

constexpr int unlimited = std::numeric_limits<int>::max();

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

int ctas_by_registers(const arch::OccupancySpec& sm, const CtaResources& cta, int warps) {
  if (cta.registers <= 0) return unlimited;
  const std::int64_t per_warp = round_up(std::int64_t{cta.registers} * 32, sm.register_allocation_unit);
  const std::int64_t held = sm.registers / per_warp / sm.warp_allocation_granularity * sm.warp_allocation_granularity;
  return static_cast<int>(held / warps);
}

int ctas_by_shared(const arch::OccupancySpec& sm, const CtaResources& cta, std::int64_t per_cta) {
  if (cta.shared_bytes < 0) return 0;
  const double most =
      sm.shared_configs.empty() ? 0.0 : std::max_element(sm.shared_configs.begin(), sm.shared_configs.end())->value;
  return static_cast<int>(most / static_cast<double>(per_cta));
}

int warps_of(const CtaResources& cta) { return (cta.threads + 31) / 32; }

std::int64_t shared_per_cta(const arch::OccupancySpec& sm, const CtaResources& cta) {
  return round_up(cta.shared_bytes + static_cast<std::int64_t>(sm.shared_reserved_per_cta.value),
                  std::max<std::int64_t>(1, static_cast<std::int64_t>(sm.shared_allocation_unit.value)));
}

Diagnostics misfits(const arch::OccupancySpec& sm, const CtaResources& cta) {
  Diagnostics out;
  const auto too_much = [&](std::string key, std::string most, std::string found) {
    out.push_back({"", 0, 0, std::move(key), "at most " + std::move(most), std::move(found)});
  };
  if (cta.threads < 1) out.push_back({"", 0, 0, "threads", "at least 1 thread", std::to_string(cta.threads)});
  if (cta.threads > sm.max_threads_per_cta)
    too_much("threads", std::to_string(sm.max_threads_per_cta) + " threads per CTA", std::to_string(cta.threads));
  if (cta.registers > sm.max_registers_per_thread) {
    too_much("registers", std::to_string(sm.max_registers_per_thread) + " registers per thread",
             std::to_string(cta.registers));
  }
  if (static_cast<double>(cta.shared_bytes) > sm.max_shared_per_cta.value) {
    too_much("shared_bytes",
             std::to_string(static_cast<std::int64_t>(sm.max_shared_per_cta.value)) + " bytes of shared memory per CTA",
             std::to_string(cta.shared_bytes));
  }
  return out;
}

}  // namespace

ResourceLimits ctas_by_resource(const arch::OccupancySpec& sm, const CtaResources& cta) {
  const int warps = std::max(1, warps_of(cta));
  // In this order a tie names the resource that the kernel itself asks for.
  return {{{ctas_by_registers(sm, cta, warps), Limiter::registers},
           {ctas_by_shared(sm, cta, shared_per_cta(sm, cta)), Limiter::shared_memory},
           {std::min(sm.max_warps / warps, sm.max_threads / std::max(1, cta.threads)), Limiter::warps},
           {sm.max_ctas, Limiter::ctas}}};
}

Result<SmOccupancy> occupancy_of(const arch::OccupancySpec& sm, const CtaResources& cta) {
  if (Diagnostics errors = misfits(sm, cta); !errors.empty()) return errors;
  const int warps = warps_of(cta);
  const ResourceLimits limits = ctas_by_resource(sm, cta);
  const auto least =
      std::min_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (least->first < 1) {
    return Diagnostic{"",
                      0,
                      0,
                      std::string(name_of(least->second)),
                      "a CTA that fits one SM",
                      std::to_string(warps) + " warps of " + std::to_string(cta.registers) + " registers and " +
                          std::to_string(cta.shared_bytes) + " bytes of shared memory"};
  }
  SmOccupancy out;
  out.ctas_per_sm = least->first;
  out.warps_per_sm = out.ctas_per_sm * warps;
  out.limiter = least->second;
  out.cta_slots = sm.max_ctas;
  for (const auto& [ctas, limiter] : limits)
    if (limiter == Limiter::shared_memory) out.cta_slots = std::min(out.cta_slots, ctas);
  const double needed = cta.shared_bytes > 0 ? static_cast<double>(shared_per_cta(sm, cta)) * out.ctas_per_sm : 0.0;
  out.shared_carve_out = sm.unified_l1_shared;
  for (const Bytes config : sm.shared_configs) {
    if (config.value >= needed && config < out.shared_carve_out) out.shared_carve_out = config;
  }
  out.l1_bytes = sm.unified_l1_shared - out.shared_carve_out;
  return out;
}

std::string_view name_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::registers: return "registers";
    case Limiter::shared_memory: return "shared_memory";
    case Limiter::warps: return "warps";
    case Limiter::ctas: return "ctas";
    case Limiter::grid: return "grid";
  }
  return "grid";
}

}  // namespace noteg::gpu
