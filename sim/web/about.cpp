// What the page offers: GPUs, kernels, switches, counters; and the curves of the occupancy calculator.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/report/counters.hpp"
#include "sim/support/text_file.hpp"
#include "sim/web/live.hpp"

namespace noteg::web {
namespace {

using Json = nlohmann::ordered_json;

Json gpus_json() {
  Json list = Json::array();
  for (const std::string& id : arch::list_gpu_ids()) {
    const Result<arch::GpuSpec> gpu = arch::load_gpu(id);
    if (!gpu) continue;
    list.push_back({{"id", id},
                    {"name", gpu->name},
                    {"names", gpu->names},
                    {"sm", gpu->sm.name},
                    {"chip", gpu->chip},
                    {"sms", gpu->sms},
                    {"l2_mib", gpu->l2.size.value / 1048576},
                    {"dram", gpu->dram.type},
                    {"dram_gb_per_s", gpu->dram.bandwidth.value * 1e-9},
                    {"boost_mhz", gpu->clock.boost.value * 1e-6},
                    {"power_w", gpu->power.limit.value},
                    {"has_tma", gpu->sm.has_tma}});
  }
  return list;
}

Json kernels_json() {
  Json list = Json::array();
  for (const std::string& name : kernels::shipped_kernels()) {
    const Result<std::filesystem::path> path = kernels::find_kernel_file(name);
    const Result<kernels::KernelConfig> config = kernels::load_kernel_file(name);
    if (!path || !config) continue;
    const Result<std::string> text = read_text_file(*path);
    list.push_back({{"name", name},
                    {"family", name_of(config->family)},
                    {"dtype", name_of(config->dtype_in)},
                    {"text", text ? *text : ""}});
  }
  return list;
}

Json switches_json() {
  Json list = Json::array();
  for (const gpu::SwitchInfo& row : gpu::switch_table())
    list.push_back({{"name", row.name}, {"values", row.values}, {"sentence", row.sentence}, {"removes", row.removes}});
  return list;
}

Json counters_json() {
  Json list = Json::array();
  for (const report::Counter& counter : report::counter_table())
    list.push_back({{"name", counter.name}, {"unit", base_text(counter.unit)}, {"sentence", counter.sentence}});
  return list;
}

Json curve(const arch::OccupancySpec& sm, const std::vector<int>& values,
           const std::function<gpu::CtaResources(int)>& cta_of) {
  Json rows = Json::array();
  for (const int value : values) {
    const Result<gpu::SmOccupancy> fits = gpu::occupancy_of(sm, cta_of(value));
    rows.push_back({value, fits ? fits->warps_per_sm : 0});
  }
  return rows;
}

std::vector<int> steps(int first, int last, int step) {
  std::vector<int> out;
  for (int value = first; value <= last; value += step) out.push_back(value);
  return out;
}

}  // namespace

std::string about() {
  return Json{
      {"gpus", gpus_json()}, {"kernels", kernels_json()}, {"switches", switches_json()}, {"counters", counters_json()}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string occupancy_curves(const arch::GpuSpec& gpu, const gpu::SimReport& r) {
  const arch::OccupancySpec& sm = gpu.sm.occupancy;
  const int ctas = std::max(1, r.occupancy.ctas_per_sm);
  const gpu::CtaResources cta{32 * std::max(1, r.occupancy.warps_per_sm / ctas), r.registers_per_thread,
                              r.shared_bytes_per_cta};
  const int most_shared = static_cast<int>(sm.max_shared_per_cta.value);
  Json limits = Json::array();
  for (const auto& [count, limiter] : gpu::ctas_by_resource(sm, cta))
    limits.push_back({{"resource", name_of(limiter)}, {"ctas", std::min(count, sm.max_ctas)}});
  const auto with = [&](int gpu::CtaResources::*member) {
    return [&cta, member](int value) {
      gpu::CtaResources changed = cta;
      changed.*member = value;
      return changed;
    };
  };
  const auto with_shared = [&](int value) {
    gpu::CtaResources changed = cta;
    changed.shared_bytes = value;
    return changed;
  };
  return Json{{"at", {{"registers", cta.registers}, {"shared_bytes", cta.shared_bytes}, {"threads", cta.threads}}},
              {"warps", r.occupancy.warps_per_sm},
              {"max_warps", sm.max_warps},
              {"limiter", name_of(r.occupancy.limiter)},
              {"limits", limits},
              {"registers", curve(sm, steps(16, sm.max_registers_per_thread, 4), with(&gpu::CtaResources::registers))},
              {"shared_bytes", curve(sm, steps(0, most_shared, 1024), with_shared)},
              {"threads", curve(sm, steps(32, sm.max_threads_per_cta, 32), with(&gpu::CtaResources::threads))}}
      .dump();
}

}  // namespace noteg::web
