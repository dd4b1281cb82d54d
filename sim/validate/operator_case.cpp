#include "sim/validate/operator_case.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/families/family.hpp"
#include "kernels/families/flash3/flash3_plan.hpp"
#include "sim/confidence/confidence.hpp"
#include "sim/gpu/gemm/gemm_traffic.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::validate {

namespace {

constexpr int rows_of_block = 64;  // of the kernel for paged caches
constexpr int page = 16;           // tokens, the usual size

int keys_of_block(int head) { return head <= 64 ? 256 : head <= 128 ? 128 : 64; }

constexpr std::int64_t least_blocks = 5;  // of keys, that FlashAttention-3 cuts into slices

// FlashAttention-3 on GPUs without warpgroups (tile_size_fwd_sm8x): its kernel for slices, or that for few keys.
void take_decoding_block(kernels::KernelConfig& c, int head, std::int64_t keys) {
  const int sliced = head <= 64 ? 80 : head <= 96 ? 48 : head <= 128 ? 112 : 64;
  const bool is_sliced = ceil_div(keys, std::int64_t{sliced}) >= least_blocks;
  c.tile = {128, 2 * head, is_sliced ? sliced : head <= 64 ? 112 : 64};
  c.threads = head > 128 || (head > 96 && is_sliced) ? 256 : 128;
}

double use_of(std::int64_t ctas, std::int64_t slots) {
  const double waves = static_cast<double>(ctas) / static_cast<double>(slots);
  return waves / std::ceil(waves);
}

// The smallest count of slices within 15 % of the best use of the SMs (num_splits_heuristic of both libraries); of
// FlashAttention-2 only counts that change the blocks of the longest slice.
int slices_for(std::int64_t ctas, std::int64_t slots, std::int64_t blocks, bool must_change) {
  constexpr double full_enough = 0.8, near_best = 0.85;
  if (static_cast<double>(ctas) >= full_enough * static_cast<double>(slots)) return 1;
  const std::int64_t most = std::min<std::int64_t>({128, slots, blocks});
  const auto counts = [&](std::int64_t n) {
    return !must_change || n == 1 || ceil_div(blocks, n) != ceil_div(blocks, n - 1);
  };
  double best = 0;
  for (std::int64_t n = 1; n <= most; ++n)
    if (counts(n)) best = std::max(best, use_of(ctas * n, slots));
  for (std::int64_t n = 1; n <= most; ++n)
    if (counts(n) && use_of(ctas * n, slots) >= near_best * best) return static_cast<int>(n);
  return 1;
}

// FlashAttention-3 bounds the slices as if there were one sequence, whose blocks of rows are `tiles`, and then gives
// each SM as many blocks of keys as its share of all and a tenth more (prepare_varlen_num_blocks_kernel).
int dynamic_slices(std::int64_t sequences, std::int64_t tiles, std::int64_t sms, std::int64_t blocks, bool is_bound) {
  constexpr std::int64_t most_sequences = 992, bound_of_graphs = 32;
  constexpr double margin = 1.1;
  if (sequences > most_sequences) return 1;
  const std::int64_t bound = is_bound                ? bound_of_graphs
                             : blocks < least_blocks ? 1
                                                     : slices_for(tiles, sms, blocks, false);
  const double share = static_cast<double>(sequences * tiles * blocks) * margin / static_cast<double>(sms);
  return static_cast<int>(
      std::clamp<std::int64_t>(ceil_div(blocks, static_cast<std::int64_t>(std::ceil(share))), 1, bound));
}

// vLLM and SGLang put the new keys and values into the pages of the cache by a kernel of its own, within the time.
operators::MemoryKernel cache_write(std::int64_t tokens, int values, std::string_view notes) {
  operators::MemoryKernel write;
  write.name = "cache write";
  write.rows = static_cast<double>(tokens);
  write.columns = 2.0 * values;
  write.operations = 0;
  write.scatters = true;
  write.caches = notes.find("vllm") != std::string_view::npos;
  return write;
}

// FlashAttention-3 counts the blocks of sequences of different lengths first (prepare_varlen_num_blocks).
operators::MemoryKernel block_counts(std::int64_t sequences) {
  operators::MemoryKernel count;
  count.name = "block counts";
  count.columns = static_cast<double>(sequences);
  count.operations = 20;
  count.one_cta = true;
  return count;
}

}  // namespace

std::string read_attention(const MeasuredRow& row, const MeasuredData& data, MeasuredCase& measured) {
  const RowView view(data, row);
  const bool on_warpgroups =
      view.text(Column::instr) == "wgmma" || view.text(Column::kernel_name).find("fa3") != std::string_view::npos;
  const std::string_view notes = view.text(Column::notes);
  const std::optional<int> heads = note_value(notes, "heads"), key_heads = note_value(notes, "kv_heads");
  if (!heads || !key_heads || *key_heads < 1 || *heads % *key_heads != 0)
    return "notes: expected heads=H;kv_heads=G with G a divisor of H";
  const kernels::GemmShape tokens = measured.shape;
  const int group = *heads / *key_heads;
  kernels::KernelConfig& c = measured.config;
  c.family = on_warpgroups ? kernels::Family::flash3 : kernels::Family::attention;
  c.attention.causal = note_value(notes, "causal").value_or(0) != 0 && tokens.m > 1;
  c.attention.group = group;
  const bool is_vllm = notes.find("vllm") != std::string_view::npos;
  // vLLM's collector makes pages of 64 tokens for FlashAttention-3, SGLang's of one.
  c.attention.page = !on_warpgroups ? page : is_vllm ? 64 : 1;
  const int head = static_cast<int>(tokens.k);
  // FlashInfer, which SGLang takes on an A100, works on 128 rows and puts the heads of short queries side by side.
  const bool is_sglang = !on_warpgroups && view.text(Column::kernel_name) == "flash_attention";
  const bool is_flashinfer = is_sglang && tokens.m > 1;
  // Its single tokens are FlashAttention-3's: their times depend on sequences times key heads alone, rise with every
  // 108 of these (an SM holds one CTA of 128 rows), and fall with the slices that its rule gives.
  const bool decodes_on_mma = is_sglang && !is_flashinfer;
  measured.deals_slices = on_warpgroups || decodes_on_mma;
  const kernels::Tile wide{2 * rows_of_block, 2 * head, rows_of_block};
  const bool one_consumer = is_vllm && tokens.m * group <= 64;
  c.tile = on_warpgroups   ? kernels::flash3_block(head, c.attention.causal, true, one_consumer)
           : is_flashinfer ? wide
                           : kernels::Tile{rows_of_block, 2 * head, keys_of_block(head)};
  if (decodes_on_mma) take_decoding_block(c, head, tokens.n);
  // A decoded token's heads lie in one block of rows, those of FlashAttention-3 always do (PackGQA, which it takes for
  // sequences of different lengths); otherwise each head has blocks of its own.
  const bool packs = on_warpgroups || tokens.m == 1 || (is_flashinfer && tokens.m < c.tile.m);
  const std::int64_t rows = packs ? tokens.m * group : ceil_div(tokens.m, c.tile.m) * c.tile.m * group;
  measured.shape = {rows, 2 * tokens.k, tokens.n, tokens.batch * *key_heads};
  if (notes.find("paged KV cache") != std::string_view::npos)
    measured.before.push_back(cache_write(tokens.batch * tokens.m, *key_heads * head, notes));
  if (on_warpgroups) measured.before.push_back(block_counts(tokens.batch));
  // vLLM bounds the slices of batches that its graphs are captured for, up to 512 tokens.
  measured.key_heads = *key_heads;
  measured.bounds_slices = is_vllm && tokens.batch * tokens.m <= 512;
  return "";
}

void settle_key_slices(MeasuredCase& measured, const arch::GpuSpec& gpu) {
  kernels::KernelConfig& c = measured.config;
  if (!traits_of(c).keeps_scores) return;
  const std::int64_t blocks = ceil_div(measured.shape.k, c.tile.k), heads = std::max(1, measured.key_heads);
  if (measured.deals_slices) {
    const std::int64_t tiles = heads * ceil_div(measured.shape.m, c.tile.m);
    c.split_k = dynamic_slices(measured.shape.batch / heads, tiles, gpu.sms, blocks, measured.bounds_slices);
    // Tiles of a group of sequences, and the CTAs that take one each in between.
    constexpr double sequences = 31;
    c.attention.scans =
        1 + static_cast<int>(std::lround(gpu.sms / (sequences * static_cast<double>(tiles * c.split_k))));
  } else if (measured.shape.m <= c.tile.m && c.attention.group > 1) {
    // Of a single token only, whose heads were put into the rows of a block: with a key head each, none are.
    c.split_k = slices_for(measured.shape.batch, 2 * std::int64_t{gpu.sms}, blocks, true);
  }
  if (c.split_k > 1) c.split_k_mode = kernels::SplitKMode::parallel;
}

void cast_weights(MeasuredCase& measured) {
  kernels::KernelConfig& c = measured.config;
  if (!c.dtype_b) return;
  operators::MemoryKernel cast;
  cast.name = "cast of weights";
  cast.rows = static_cast<double>(measured.shape.k);
  cast.columns = static_cast<double>(measured.shape.n);
  cast.in = *c.dtype_b;
  cast.out = c.dtype_in;
  cast.operations = 0;
  cast.casts = true;
  measured.before.push_back(cast);
  c.dtype_b.reset();
}

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

Diagnostics settle_kernel(MeasuredCase& measured, const arch::GpuSpec& gpu, const Chooser& chooser) {
  measured.options.kernel_chosen = measured.choose_kernel;
  if (!measured.choose_kernel) return {};
  Result<kernels::KernelConfig> chosen = chooser(gpu, measured.config, measured.shape, measured.options);
  if (!chosen) return chosen.errors();
  measured.config = std::move(*chosen);
  return {};
}

void settle_l2(MeasuredCase& measured, const arch::GpuSpec& gpu) {
  if (measured.buffers < 1) return;
  const double copies = std::max(1, gpu.l2.partitions);
  const double set = gpu::footprint(measured.shape, kernels::bytes_of(measured.config.dtype_in) * copies,
                                    kernels::bytes_of(measured.config.dtype_out));
  if (set * measured.buffers <= gpu.l2.size.value) measured.options.l2 = gpu::L2State::warm;
}

}  // namespace noteg::validate
