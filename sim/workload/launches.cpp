#include "sim/workload/launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/support/arithmetic.hpp"

namespace noteg::workload {
namespace {

using kernels::Layout;

// Keys come in pages of so many tokens (vLLM's block size), so that rows stay aligned.
constexpr std::int64_t page = 16;

std::int64_t in_pages(double keys) { return page * ceil_div(static_cast<std::int64_t>(std::ceil(keys)), page); }

double product(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

Launch gemm(std::string what, const kernels::GemmShape& shape, kernels::KernelConfig frame, Layout layout) {
  frame.layout = layout;
  return {std::move(what), GemmLaunch{shape, frame}};
}

Launch stream(std::string what, double read, double written, double resident) {
  return {std::move(what), StreamLaunch{read, written, resident}};
}

// The mean over its queries of the keys that each attends to.
double keys_of(const Operation& o) {
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n);
  return o.causal && o.m > 1 ? std::max(1.0, n - (m - 1) / 2) : n;
}

// Rows of one GEMM: the heads that share keys stand below each other where queries are few.
struct AttentionShape {
  std::int64_t rows = 1, keys = 1, dimension = 1, batch = 1;
};

AttentionShape attention_shape(const Operation& o) {
  const std::int64_t group = std::max(1, o.heads / std::max(1, o.kv_heads));
  const bool few = o.m * group <= 64;
  return {few ? o.m * group : o.m, in_pages(keys_of(o)), o.k, o.batch * (few ? o.kv_heads : o.heads)};
}

bool has_fused_kernel(const Operation& o) {
  const kernels::DataType type = o.frame.dtype_in;
  const bool two_bytes = type == kernels::DataType::f16 || type == kernels::DataType::bf16;
  return two_bytes && o.k >= 16 && o.k <= 256 && o.k % 16 == 0 && o.heads % std::max(1, o.kv_heads) == 0;
}

// FlashAttention-2: scores stay in the SM, keys and values come through the cache in pages.
Expansion fused_prefill(const Operation& o) {
  constexpr std::int64_t block = 64;  // rows of queries of a head that lie together
  AttentionLaunch launch;
  const int key_heads = std::max(1, o.kv_heads);
  const std::int64_t group = o.heads / key_heads;
  launch.shape = {block * ceil_div(o.m, block) * group, 2 * o.k, o.n, o.batch * key_heads};
  launch.kernel.family = kernels::Family::attention;
  launch.kernel.dtype_in = launch.kernel.dtype_out = o.frame.dtype_in;
  launch.kernel.attention.causal = o.causal;
  launch.kernel.attention.group = static_cast<int>(group);
  launch.kernel.attention.page = static_cast<int>(page);
  launch.kernel.tile = {static_cast<int>(block), static_cast<int>(2 * o.k), o.k <= 64 ? 256 : o.k <= 128 ? 128 : 64};
  Expansion out;
  out.launches.push_back({"attention", launch});
  out.modelled_as = "one fused kernel (FlashAttention-2)";
  return out;
}

// One query for each head: keys and values are read once, and nothing else takes time.
Expansion fused_decode(const Operation& o) {
  const double size = o.element_size(), heads = static_cast<double>(o.batch) * std::max(1, o.kv_heads);
  const double cache = 2 * heads * product(in_pages(keys_of(o)), o.k) * size;
  const double queries = static_cast<double>(o.batch) * o.heads * product(o.m, o.k) * size;
  Expansion out;
  out.launches.push_back(stream("attention", cache + queries, queries, queries));
  out.modelled_as = "a memory kernel that reads keys and values once (fused)";
  return out;
}

Expansion attention(const Operation& o) {
  if (has_fused_kernel(o)) return o.m > 1 ? fused_prefill(o) : fused_decode(o);
  const AttentionShape s = attention_shape(o);
  const double scores = product(s.rows, s.keys) * static_cast<double>(s.batch) * o.element_size();
  Expansion out;
  out.launches.push_back(gemm("Q K^T", {s.rows, s.keys, s.dimension, s.batch}, o.frame, Layout::nt));
  out.launches.push_back(stream("softmax", scores, scores, scores));
  out.launches.push_back(gemm("P V", {s.rows, s.dimension, s.keys, s.batch}, o.frame, Layout::nn));
  out.modelled_as = "two batched GEMMs and a softmax kernel, scores through memory (not fused)";
  return out;
}

// Scores once more, then the gradients of V, P, Q and K.
Expansion attention_backward(const Operation& o) {
  const AttentionShape s = attention_shape(o);
  const double scores = product(s.rows, s.keys) * static_cast<double>(s.batch) * o.element_size();
  Expansion out;
  out.launches.push_back(gemm("Q K^T", {s.rows, s.keys, s.dimension, s.batch}, o.frame, Layout::nt));
  out.launches.push_back(gemm("dV", {s.keys, s.dimension, s.rows, s.batch}, o.frame, Layout::tn));
  out.launches.push_back(gemm("dP", {s.rows, s.keys, s.dimension, s.batch}, o.frame, Layout::nt));
  out.launches.push_back(stream("softmax backward", 2 * scores, scores, scores));
  out.launches.push_back(gemm("dQ", {s.rows, s.dimension, s.keys, s.batch}, o.frame, Layout::nn));
  out.launches.push_back(gemm("dK", {s.keys, s.dimension, s.rows, s.batch}, o.frame, Layout::tn));
  out.modelled_as = "five batched GEMMs and a softmax kernel, scores through memory (not fused)";
  return out;
}

Expansion experts(const Operation& o) {
  const double tokens = static_cast<double>(o.m), routed = tokens * o.top_k, size = o.element_size();
  const double active = active_experts(static_cast<double>(o.batch), o.top_k, tokens);
  const auto groups = std::max<std::int64_t>(1, std::llround(active));
  const std::int64_t rows = ceil_div(o.m * o.top_k, groups);
  const double hidden = routed * static_cast<double>(o.k) * size, inner = routed * static_cast<double>(o.n) * size;
  const std::int64_t first = o.gated ? 2 * o.n : o.n;
  Expansion out;
  out.launches.push_back(stream("gather", hidden, hidden, hidden));
  out.launches.push_back(gemm("experts up", {rows, first, o.k, groups}, o.frame, Layout::nt));
  out.launches.push_back(stream("activation", (o.gated ? 2 : 1) * inner, inner, (o.gated ? 2 : 1) * inner));
  out.launches.push_back(gemm("experts down", {rows, o.k, o.n, groups}, o.frame, Layout::nt));
  out.launches.push_back(stream("combine", hidden, hidden / o.top_k, hidden));
  out.modelled_as = fmt::format(
      "grouped GEMMs of {} experts with {} tokens each (even routing), and three memory kernels", groups, rows);
  return out;
}

Expansion quantised(const Operation& o) {
  const double elements = product(o.m, o.k) * static_cast<double>(o.batch);
  Expansion out;
  out.launches.push_back(stream("quantise", 2 * elements, elements, 2 * elements));
  out.launches.push_back(gemm("GEMM", {o.m, o.n, o.k, o.batch}, o.frame, o.frame.layout));
  out.modelled_as = "a quantising kernel and a GEMM";
  return out;
}

Expansion weight_only(const Operation& o) {
  const double weights = product(o.n, o.k) * static_cast<double>(o.batch);
  Expansion out;
  out.launches.push_back(stream("unpack weights", weights * o.weight_bytes, weights * o.element_size(), 0));
  out.launches.push_back(gemm("GEMM", {o.m, o.n, o.k, o.batch}, o.frame, o.frame.layout));
  out.modelled_as = "a kernel that unpacks the weights and a 16-bit GEMM (a fused kernel reads them once)";
  return out;
}

}  // namespace

double active_experts(double experts, double top_k, double tokens) {
  return experts * (1 - portable::pow(1 - std::min(1.0, top_k / experts), tokens));
}

double Launch::flops() const {
  const auto* product = std::get_if<GemmLaunch>(&work);
  const auto* attention = std::get_if<AttentionLaunch>(&work);
  return product != nullptr ? product->shape.flops() : attention != nullptr ? attention->shape.flops() : 0;
}

std::string Launch::identity() const {
  if (const auto* g = std::get_if<GemmLaunch>(&work))
    return fmt::format("gemm {} {} {} {} {} {} {} {}", g->shape.m, g->shape.n, g->shape.k, g->shape.batch,
                       name_of(g->frame.dtype_in), name_of(g->frame.dtype_acc), name_of(g->frame.dtype_out),
                       name_of(g->frame.layout));
  if (const auto* a = std::get_if<AttentionLaunch>(&work))
    return fmt::format("attention {} {} {} {} {} {} {}", a->shape.m, a->shape.n, a->shape.k, a->shape.batch,
                       name_of(a->kernel.dtype_in), a->kernel.attention.causal, a->kernel.attention.group);
  if (const auto* s = std::get_if<StreamLaunch>(&work))
    return fmt::format("stream {} {} {}", s->read_bytes, s->write_bytes, s->resident_bytes);
  const auto& c = std::get<CollectiveLaunch>(work);
  return fmt::format("all_reduce {} {}", c.bytes, c.ranks);
}

Expansion launches_of(const Operation& o) {
  const double moved = o.elements() * o.element_size();
  switch (o.op) {
    case Op::linear:
    case Op::bmm:
    case Op::gemm: return {{gemm("GEMM", {o.m, o.n, o.k, o.batch}, o.frame, o.frame.layout)}, ""};
    case Op::linear_quant: return quantised(o);
    case Op::gemm_weight_only: return weight_only(o);
    case Op::attention_prefill:
    case Op::attention_decode: return attention(o);
    case Op::attention_backward: return attention_backward(o);
    case Op::moe: return experts(o);
    case Op::elementwise:
      return {{stream("memory kernel", moved * o.reads, moved * o.writes, moved)}, "a memory kernel"};
    case Op::all_reduce: return {{{"all-reduce", CollectiveLaunch{moved, o.ranks}}}, "latency and bandwidth of a ring"};
  }
  return {};
}

double flops_of(const Operation& o) {
  const double whole = 2 * product(o.m, o.n) * static_cast<double>(o.k) * static_cast<double>(o.batch);
  const double attended =
      4 * static_cast<double>(o.batch) * o.heads * static_cast<double>(o.m) * keys_of(o) * static_cast<double>(o.k);
  switch (o.op) {
    case Op::linear:
    case Op::bmm:
    case Op::gemm:
    case Op::linear_quant:
    case Op::gemm_weight_only: return whole;
    case Op::attention_prefill:
    case Op::attention_decode: return attended;
    case Op::attention_backward: return 2.5 * attended;
    case Op::moe: return 2 * static_cast<double>(o.m) * o.top_k * (o.gated ? 3 : 2) * product(o.n, o.k);
    case Op::elementwise:
    case Op::all_reduce: return 0;
  }
  return 0;
}

}  // namespace noteg::workload
