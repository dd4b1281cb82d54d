#include "sim/operators/expert_layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/operators/memory_kernel.hpp"
#include "sim/support/arithmetic.hpp"
#include "sim/support/text.hpp"

namespace noteg::operators {
namespace {

std::int64_t sum_of(const Histogram& loads) { return std::accumulate(loads.begin(), loads.end(), std::int64_t{0}); }

std::int64_t experts_at_work(const Histogram& loads) {
  return std::max<std::int64_t>(1, std::ranges::count_if(loads, [](std::int64_t rows) { return rows > 0; }));
}

// Of the densest part of a histogram first: the sum of floors is filled up from the largest fractions.
Histogram whole_loads(const std::vector<double>& shares, std::int64_t all, std::int64_t most) {
  Histogram out(shares.size());
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < shares.size(); ++i)
    out[i] = std::min(most, static_cast<std::int64_t>(std::floor(shares[i])));
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return shares[a] - std::floor(shares[a]) > shares[b] - std::floor(shares[b]);
  });
  std::int64_t rest = all - sum_of(out);
  while (rest > 0) {
    const std::int64_t before = rest;
    for (const std::size_t i : order)
      if (rest > 0 && out[i] < most) ++out[i], --rest;
    if (rest == before) break;
  }
  return out;
}

MemoryKernel kernel_of(const char* name, double rows, double columns, double inputs, double operations, double special,
                       kernels::DataType type) {
  MemoryKernel k;
  k.name = name;
  k.rows = std::max(1.0, rows);
  k.columns = std::max(1.0, columns);
  k.inputs = inputs;
  k.operations = operations;
  k.special = special;
  k.in = k.out = type;
  return k;
}

// Reads of A that several experts share come from L2 after the first.
void share_rows(gpu::Traffic& traffic, const GroupedGemm& gemm, double all_rows) {
  if (gemm.rows_read <= 0 || gemm.rows_read >= all_rows) return;
  const double bytes = static_cast<double>(gemm.k) * kernels::bytes_of(gemm.config.dtype_in);
  const double again = (all_rows - gemm.rows_read) * bytes;
  const double read = std::max(0.5 * traffic.dram_read_bytes, traffic.dram_read_bytes - again);
  const double part = traffic.dram_read_bytes > 0 ? read / traffic.dram_read_bytes : 1;
  traffic.dram_read_bytes = read;
  traffic.compulsory_bytes *= part;
  traffic.footprint_bytes = std::max(0.0, traffic.footprint_bytes - again);
}

Diagnostic wrong_layer(std::string key, std::string expected, const std::string& found) {
  return {"", 0, 0, std::move(key), std::move(expected), "\"" + found + "\""};
}

constexpr std::int64_t most_tokens = 1 << 26, most_experts = 4096;

// "12:0:7": tokens of each expert.
std::optional<Histogram> loads_from(std::string_view text) {
  Histogram out;
  while (true) {
    const std::string_view part = text.substr(0, text.find(':'));
    const std::optional<long long> rows = parse_integer(part);
    if (!rows || *rows < 0 || *rows > most_tokens || out.size() >= static_cast<std::size_t>(most_experts))
      return std::nullopt;
    out.push_back(*rows);
    if (part.size() == text.size()) break;
    text.remove_prefix(part.size() + 1);
  }
  return sum_of(out) > 0 ? std::optional(out) : std::nullopt;
}

// What a line says, before the histogram is made.
struct Written {
  ExpertLayer layer;
  std::int64_t experts = 0;
  Routing routing = Routing::balanced;
};

std::optional<Diagnostic> set_word(Written& w, const LineWord& word) {
  if (word.key == "dtype") {
    const auto type = kernels::data_type_from(word.value);
    if (!type || kernels::bytes_of(*type) != 2) return wrong_layer("dtype", "bf16 or f16", word.value);
    w.layer.type = *type;
    return std::nullopt;
  }
  if (word.key == "routing") {
    if (word.value != "balanced" && word.value != "power_law")
      return wrong_layer("routing", "balanced or power_law", word.value);
    w.routing = word.value == "balanced" ? Routing::balanced : Routing::power_law;
    return std::nullopt;
  }
  if (word.key == "loads") {
    const auto loads = loads_from(word.value);
    if (!loads)
      return wrong_layer("loads", "tokens of each expert with colons between, for example 12:0:7", word.value);
    w.layer.loads = *loads;
    return std::nullopt;
  }
  const std::optional<long long> number = parse_integer(word.value);
  const std::int64_t most = word.key == "experts" || word.key == "topk" ? most_experts : most_tokens;
  std::int64_t per_token = 0;
  std::int64_t* const field = word.key == "tokens"         ? &w.layer.tokens
                              : word.key == "experts"      ? &w.experts
                              : word.key == "hidden"       ? &w.layer.hidden
                              : word.key == "intermediate" ? &w.layer.intermediate
                              : word.key == "topk"         ? &per_token
                                                           : nullptr;
  if (field == nullptr)
    return wrong_layer("--experts", "tokens, experts, topk, hidden, intermediate, dtype, routing or loads", word.key);
  if (!number || *number < 1 || *number > most)
    return wrong_layer(word.key, "an integer from 1 to " + std::to_string(most), word.value);
  *field = *number;
  if (per_token > 0) w.layer.experts_per_token = static_cast<int>(per_token);
  return std::nullopt;
}

}  // namespace

Result<ExpertLayer> expert_layer_from(std::string_view line) {
  Written w;
  const std::vector<LineWord> words = words_of_line(line);
  Diagnostics errors = repeated_keys(words);
  std::vector<std::string> seen;
  for (const LineWord& word : words) {
    seen.push_back(word.key);
    if (!word.has_value)
      errors.push_back(wrong_layer("--experts", "key=value", word.key));
    else if (const auto error = set_word(w, word))
      errors.push_back(*error);
  }
  const auto has = [&](std::string_view key) { return std::ranges::find(seen, key) != seen.end(); };
  for (const char* key : {"tokens", "topk", "hidden", "intermediate"})
    if (!has(key)) errors.push_back(wrong_layer(key, "a number", ""));
  if (has("loads") && (has("experts") || has("routing")))
    errors.push_back(wrong_layer("loads", "no experts and no routing beside it", "both"));
  if (!has("loads") && w.experts < w.layer.experts_per_token)
    errors.push_back(wrong_layer("experts", "at least topk", std::to_string(w.experts)));
  if (!errors.empty()) return errors;
  if (!has("loads"))
    w.layer.loads = route(w.layer.tokens, static_cast<int>(w.experts), w.layer.experts_per_token, w.routing);
  return w.layer;
}

Histogram route(std::int64_t tokens, int experts, int experts_per_token, Routing routing, double exponent) {
  const std::int64_t all = tokens * experts_per_token;
  std::vector<double> shares(static_cast<std::size_t>(std::max(1, experts)));
  // Few choices: between a hundredth and two tokens (the sampler of AIConfigurator).
  const bool many = all > experts;
  const double least = many ? 1 : 0.01, most = many ? std::max(2.0, 0.8 * static_cast<double>(tokens)) : 2;
  const double power = 1 - exponent;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double quantile = (static_cast<double>(i) + 0.5) / static_cast<double>(shares.size());
    const double low = std::pow(least, power), high = std::pow(most, power);
    shares[i] = routing == Routing::balanced ? 1 : std::pow((high - low) * quantile + low, 1 / power);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share *= static_cast<double>(all) / sum;
  return whole_loads(shares, all, tokens);
}

namespace {

kernels::KernelConfig triton_of(kernels::DataType type, kernels::Tile tile, int warps, int stages, int group_log2) {
  kernels::KernelConfig c;
  c.family = kernels::Family::triton;
  c.dtype_in = c.dtype_out = type;
  c.layout = kernels::Layout::nt;
  c.raster = kernels::Raster::along_n;
  c.tile = tile;
  c.threads = 32 * warps;
  c.stages = stages;
  c.swizzle_log2 = group_log2;
  c.gathers_rows = true;
  return c;
}

// Strides are arguments of the kernel. Of these Triton's compiler knows whether 16 divides them and nothing else, so
// that rows of 232 numbers, which 8 divides, are read one by one.
void by_known_strides(GroupedGemm& gemm) {
  constexpr std::int64_t known = 16;
  const auto width = [](std::int64_t stride) { return stride % known == 0 ? std::nullopt : std::optional<int>(1); };
  gemm.config.align_a = gemm.config.align_b = width(gemm.k);
  gemm.config.align_c = width(gemm.n);
}

// Rows that a table names lie anywhere in A: pieces of a tile's rows lie in as many pages, of which L2's translation
// knows some. Over the reads of a step, as many reads as the others wait for.
double waits_for_translation(const arch::L2Spec& l2, const GroupedGemm& gemm, double all_rows) {
  const double bytes = kernels::bytes_of(gemm.config.dtype_in);
  const double rows = gemm.rows_read > 0 ? gemm.rows_read : all_rows;
  const kernels::Tile& tile = gemm.config.tile;
  return gpu::untranslated(l2, rows * static_cast<double>(gemm.k) * bytes) *
         gpu::translation_beats(l2, tile.k * bytes) * tile.m / (tile.m + tile.n);
}

}  // namespace

kernels::KernelConfig expert_config(double rows_of_expert, kernels::DataType type) {
  if (rows_of_expert <= 16) return triton_of(type, {16, 64, 128}, 4, 4, 0);
  if (rows_of_expert <= 32) return triton_of(type, {32, 64, 128}, 4, 4, 0);
  if (rows_of_expert <= 96) return triton_of(type, {64, 64, 64}, 4, 4, 0);
  return triton_of(type, {128, 128, 64}, 8, 4, 3);
}

kernels::KernelConfig early_expert_config(std::int64_t tokens, std::int64_t experts, kernels::DataType type) {
  const bool few = tokens <= experts;
  kernels::KernelConfig config = few ? triton_of(type, {16, 32, 64}, 4, 3, 0) : triton_of(type, {64, 64, 32}, 4, 3, 3);
  config.registers = few ? 48 : 96;  // with rows that a table names, as Triton 3.6 compiles the two for sm_80
  return config;
}

Result<gpu::KernelLaunch> grouped_launch(const arch::GpuSpec& gpu, const GroupedGemm& gemm, gpu::L2State l2,
                                         gpu::SmCache& cache) {
  const std::int64_t all = sum_of(gemm.rows), experts = experts_at_work(gemm.rows);
  // A mean expert stands for all: what its rows leave of a tile empty is put right below.
  const kernels::GemmShape mean{std::max<std::int64_t>(1, ceil_div(all, experts)), gemm.n, gemm.k, experts};
  gpu::SimOptions options;
  options.l2 = l2;
  Result<gpu::KernelLaunch> launch = gpu::launch_of(gpu, gemm.config, mean, options, cache);
  if (!launch) return launch.errors();
  const std::int64_t columns = ceil_div(gemm.n, gemm.config.tile.n);
  std::int64_t ctas = 0;
  for (const std::int64_t rows : gemm.rows) ctas += ceil_div(rows, gemm.config.tile.m) * columns;
  gpu::KernelLaunch& out = *launch;
  const double scale = static_cast<double>(ctas) / static_cast<double>(std::max<std::int64_t>(1, out.geometry.ctas));
  out.geometry.ctas = std::max<std::int64_t>(1, ctas);
  out.geometry.all_tiles = static_cast<double>(out.geometry.ctas);
  const double translation = 1 + waits_for_translation(gpu.l2, gemm, static_cast<double>(all));
  const auto of_all_experts = [&](gpu::Traffic& traffic) {
    traffic.read_beats *= translation;
    traffic.l2_read_bytes *= scale;
    traffic.l2_lookups *= scale;
    share_rows(traffic, gemm, static_cast<double>(all));
  };
  of_all_experts(out.traffic);
  if (out.when_l2_is_full) of_all_experts(*out.when_l2_is_full);
  if (out.warp_instructions) *out.warp_instructions *= scale;
  out.arithmetic.operations = 2.0 * static_cast<double>(all) * static_cast<double>(gemm.n * gemm.k);
  return launch;
}

Result<std::vector<Step>> simulate_experts(const arch::GpuSpec& gpu, const ExpertLayer& layer,
                                           const gpu::SimOptions& options, gpu::SmCache& cache) {
  const auto tokens = static_cast<double>(layer.tokens), hidden = static_cast<double>(layer.hidden);
  const auto inner = static_cast<double>(layer.intermediate);
  const double choices = tokens * layer.experts_per_token;
  const double rows_of_expert = static_cast<double>(sum_of(layer.loads)) / static_cast<double>(layer.loads.size());
  std::vector<Step> steps;
  Diagnostics errors;
  const auto add = [&](std::string_view name, const Result<gpu::KernelLaunch>& launch) {
    Result<gpu::SimReport> report = launch ? gpu::simulate_launch(gpu, *launch, options, cache) : launch.errors();
    if (report)
      steps.push_back({name, std::move(*report)});
    else
      errors.insert(errors.end(), report.errors().begin(), report.errors().end());
  };
  const auto add_memory = [&](std::string_view name, const MemoryKernel& k) {
    add(name, memory_launch(gpu, k, gpu::L2State::warm));
  };
  const auto add_product = [&](std::string_view name, std::int64_t n, std::int64_t k, double rows_read) {
    GroupedGemm gemm{layer.config.value_or(expert_config(rows_of_expert, layer.type)), n, k, layer.loads, rows_read};
    by_known_strides(gemm);
    add(name, grouped_launch(gpu, gemm, options.l2, cache));
  };
  // One CTA counts all choices, then their rows are placed (moe_align_block_size of vLLM).
  MemoryKernel sorted = kernel_of("sort", 1, choices, 1, 4, 0, kernels::DataType::s32);
  add_memory("place tokens", sorted);
  sorted.one_cta = true;
  add_memory("count tokens of experts", sorted);
  add_product("first product", 2 * layer.intermediate, layer.hidden, tokens);
  add_memory("activation", kernel_of("silu_mul", choices, inner, 2, 4, 2, layer.type));
  add_product("second product", layer.hidden, layer.intermediate, 0);
  add_memory("sum over experts", kernel_of("sum", tokens, hidden, layer.experts_per_token, 1, 0, layer.type));
  if (!errors.empty()) return errors;
  return steps;
}

}  // namespace noteg::operators
