#include "sim/validate/expert_case.hpp"

#include <algorithm>

#include "sim/confidence/confidence.hpp"

namespace noteg::validate {

std::string read_experts(const MeasuredRow& row, const MeasuredData& data, MeasuredCase& measured) {
  const RowView view(data, row);
  const std::string_view notes = view.text(Column::notes), kernel = view.text(Column::kernel_name);
  const bool is_16_bit =
      measured.config.dtype_in == kernels::DataType::bf16 || measured.config.dtype_in == kernels::DataType::f16;
  if (measured.config.dtype_b || !is_16_bit)
    return "expert layers of narrow weights run on kernels that are not modelled (Marlin, FlashInfer)";
  if (kernel.find("marlin") != std::string_view::npos || kernel.find("cutlass") != std::string_view::npos)
    return "expert layers of other kernels than Triton's: not modelled";
  const std::optional<int> per_token = note_value(notes, "topk");
  if (!per_token || *per_token < 1 || *per_token > measured.shape.batch) return "notes: expected topk=T";
  operators::ExpertLayer layer;
  layer.tokens = measured.shape.m;
  layer.intermediate = measured.shape.n;
  layer.hidden = measured.shape.k;
  layer.experts_per_token = *per_token;
  layer.type = measured.config.dtype_in;
  const bool power_law = notes.find("distribution=power_law") != std::string_view::npos;
  layer.loads = operators::route(layer.tokens, static_cast<int>(std::min<std::int64_t>(measured.shape.batch, 4096)),
                                 *per_token, power_law ? operators::Routing::power_law : operators::Routing::balanced);
  // A100 rows are of vLLM 0.14.
  if (notes.find("vllm 0.1") != std::string_view::npos)
    layer.config = operators::early_expert_config(layer.tokens, measured.shape.batch, layer.type);
  measured.experts = std::move(layer);
  measured.config.family = kernels::Family::triton;
  return "";
}

Result<gpu::SimReport> expert_report(const MeasuredCase& measured, const arch::GpuSpec& gpu) {
  gpu::SmCache cache;
  Result<std::vector<operators::Step>> steps =
      operators::simulate_experts(gpu, *measured.experts, measured.options, cache);
  if (!steps) return steps.errors();
  const auto longest = std::ranges::max_element(
      *steps, [](const operators::Step& a, const operators::Step& b) { return a.report.time_us < b.report.time_us; });
  gpu::SimReport out = longest->report;
  out.kernel = operators::expert_config(static_cast<double>(measured.shape.m), measured.config.dtype_in);
  out.shape = measured.shape;
  out.time_us = out.energy_mj = out.warp_instructions = 0;
  out.memory.dram_read_bytes = out.memory.dram_write_bytes = 0;
  for (const operators::Step& step : *steps) {
    out.time_us += step.report.time_us;
    out.energy_mj += step.report.energy_mj;
    out.warp_instructions += step.report.warp_instructions;
    out.memory.dram_read_bytes += step.report.memory.dram_read_bytes;
    out.memory.dram_write_bytes += step.report.memory.dram_write_bytes;
  }
  out.power_w = out.energy_mj * 1e3 / out.time_us;
  out.activity_at = {};
  out.confidence = gpu::confidence_of(out, gpu, measured.options);
  return out;
}

}  // namespace noteg::validate
