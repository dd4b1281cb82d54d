// A step of a model as operations of one GPU: matrices split over the GPUs of a tensor-parallel group as Megatron-LM
// does, first by columns, then by rows, with an all-reduce behind attention and behind the MLP.
#include <fmt/format.h>

#include <array>

#include "sim/workload/model.hpp"

namespace noteg::workload {
namespace {

constexpr std::array<std::string_view, 3> phases{"prefill", "decode", "training"};

class Unfolder {
 public:
  Unfolder(const ModelSpec& model, const StepRequest& request) : m_(model), r_(request), tp_(request.tensor_parallel) {}

  std::vector<Block> unfold() {
    const int dense = m_.experts > 0 ? m_.dense_layers : m_.layers;
    std::vector<Block> blocks;
    if (dense > 0) blocks.push_back({m_.experts > 0 ? "dense layer" : "layer", dense, layer(false)});
    if (dense < m_.layers) blocks.push_back({"expert layer", m_.layers - dense, layer(true)});
    if (m_.vocabulary > 0) blocks.push_back({"head", 1, head()});
    if (r_.phase == Phase::training) blocks.push_back({"optimiser", 1, optimiser()});
    return blocks;
  }

 private:
  [[nodiscard]] bool trains() const { return r_.phase == Phase::training; }

  Operation make(std::string name, Op op, std::int64_t m, std::int64_t n, std::int64_t k) const {
    Operation o;
    o.name = std::move(name);
    o.op = op;
    o.m = m;
    o.n = n;
    o.k = k;
    set_types(o, m_.dtype);
    o.frame.layout = kernels::Layout::nt;
    return o;
  }

  // Forward; of a training step also the gradients of the input, dY W, and of the weights, dY^T X.
  void linear(std::vector<Operation>& out, const std::string& name, std::int64_t m, std::int64_t n,
              std::int64_t k) const {
    out.push_back(make(name, Op::linear, m, n, k));
    if (!trains()) return;
    out.push_back(make(name + " dX", Op::gemm, m, k, n));
    out.back().frame.layout = kernels::Layout::nn;
    out.push_back(make(name + " dW", Op::gemm, n, k, m));
    out.back().frame.layout = kernels::Layout::tn;
  }

  // The backward pass reads the gradient beside what the forward pass read.
  void elementwise(std::vector<Operation>& out, const std::string& name, std::int64_t n, double reads,
                   double writes) const {
    out.push_back(make(name, Op::elementwise, r_.tokens, n, 1));
    out.back().reads = reads + (trains() ? reads + writes : 0);
    out.back().writes = writes + (trains() ? reads : 0);
  }

  void all_reduce(std::vector<Operation>& out) const {
    if (tp_ == 1) return;
    out.push_back(make("all-reduce", Op::all_reduce, r_.tokens, m_.hidden, 1));
    out.back().ranks = tp_;
    out.back().count = trains() ? 2 : 1;
  }

  void attention(std::vector<Operation>& out) const {
    const std::int64_t queries = r_.tokens / r_.sequences;
    Operation o = make("attention", r_.phase == Phase::decode ? Op::attention_decode : Op::attention_prefill, queries,
                       r_.context + queries, m_.head_size);
    o.batch = r_.sequences;
    o.heads = m_.heads / tp_;
    o.kv_heads = std::max(1, m_.kv_heads / tp_);
    o.causal = m_.causal;
    out.push_back(o);
    if (!trains()) return;
    o.name = "attention backward";
    o.op = Op::attention_backward;
    out.push_back(o);
  }

  void mlp(std::vector<Operation>& out, const std::string& name, std::int64_t intermediate) const {
    const std::int64_t inner = intermediate / tp_;
    linear(out, name + " up", r_.tokens, m_.gated ? 2 * inner : inner, m_.hidden);
    elementwise(out, name + " activation", inner, m_.gated ? 2 : 1, 1);
    linear(out, name + " down", r_.tokens, m_.hidden, inner);
  }

  void experts(std::vector<Operation>& out) const {
    linear(out, "router", r_.tokens, m_.experts, m_.hidden);
    Operation o = make("experts", Op::moe, r_.tokens, m_.expert_intermediate / tp_, m_.hidden);
    o.batch = m_.experts;
    o.top_k = m_.experts_per_token;
    o.gated = m_.gated;
    o.count = trains() ? 3 : 1;  // the two gradients of each matrix cost a forward pass each
    out.push_back(o);
    if (m_.shared_experts > 0) mlp(out, "shared experts", std::int64_t{m_.shared_experts} * m_.expert_intermediate);
  }

  std::vector<Operation> layer(bool sparse) const {
    std::vector<Operation> out;
    const std::int64_t q = std::int64_t{m_.heads / tp_} * m_.head_size;
    const std::int64_t kv = std::int64_t{std::max(1, m_.kv_heads / tp_)} * m_.head_size;
    elementwise(out, "norm 1", m_.hidden, 1, 1);
    linear(out, "qkv", r_.tokens, q + 2 * kv, m_.hidden);
    elementwise(out, "positions, cache", q + 2 * kv, 1, 1);
    attention(out);
    linear(out, "attention out", r_.tokens, m_.hidden, q);
    all_reduce(out);
    elementwise(out, "residual, norm 2", m_.hidden, 2, 2);
    if (sparse)
      experts(out);
    else
      mlp(out, "mlp", m_.intermediate);
    all_reduce(out);
    elementwise(out, "residual", m_.hidden, 2, 1);
    return out;
  }

  // Logits of the last token of each sequence; of all tokens in training.
  std::vector<Operation> head() const {
    std::vector<Operation> out;
    const std::int64_t rows = trains() ? r_.tokens : r_.sequences;
    linear(out, "logits", rows, m_.vocabulary / tp_, m_.hidden);
    return out;
  }

  // AdamW with 32-bit states: per parameter it reads weight, gradient and two moments, and writes all but the gradient,
  // and the 16-bit weight.
  std::vector<Operation> optimiser() const {
    constexpr double read = 4 + 2 + 4 + 4, written = 4 + 4 + 4 + 2;
    Operation o = make("AdamW", Op::elementwise, 1, 1, 1);
    o.m = static_cast<std::int64_t>(m_.parameters() / tp_);
    o.element_bytes = 1;
    o.reads = read;
    o.writes = written;
    return {o};
  }

  const ModelSpec& m_;
  const StepRequest& r_;
  int tp_;
};

Diagnostic wrong(std::string key, std::string expected, std::int64_t found) {
  return {"", 0, 0, std::move(key), std::move(expected), std::to_string(found)};
}

Diagnostics mistakes(const ModelSpec& m, const StepRequest& r) {
  Diagnostics errors;
  if (r.phase == Phase::decode && !m.causal)
    errors.push_back({"", 0, 0, "--phase", "prefill or training: " + m.name + " is an encoder", "\"decode\""});
  if (r.tokens % r.sequences != 0)
    errors.push_back(wrong("--tokens", fmt::format("a multiple of the {} sequences", r.sequences), r.tokens));
  if (r.phase == Phase::decode && r.tokens != r.sequences)
    errors.push_back(wrong("--sequences", "one for each token of a decode step, or nothing", r.sequences));
  const int tp = r.tensor_parallel;
  const int inner = m.experts > 0 ? m.expert_intermediate : m.intermediate;
  if (m.heads % tp != 0 || inner % tp != 0 || (m.kv_heads % tp != 0 && tp % m.kv_heads != 0))
    errors.push_back(wrong("--tensor-parallel",
                           fmt::format("a divisor of the {} heads, of the {} key heads (or a multiple) and of the "
                                       "intermediate size {}",
                                       m.heads, m.kv_heads, inner),
                           tp));
  return errors;
}

}  // namespace

std::string_view name_of(Phase phase) { return phases[static_cast<std::size_t>(phase)]; }

std::optional<Phase> phase_from(std::string_view text) {
  for (std::size_t i = 0; i < phases.size(); ++i)
    if (phases[i] == text) return static_cast<Phase>(i);
  return std::nullopt;
}

Result<std::vector<Block>> unfold(const ModelSpec& model, const StepRequest& request) {
  const Diagnostics errors = mistakes(model, request);
  if (!errors.empty()) return errors;
  return Unfolder(model, request).unfold();
}

double resident_bytes(const ModelSpec& model, const StepRequest& r) {
  const double weights = model.parameters() * kernels::bytes_of(model.dtype);
  const double states = r.phase == Phase::training ? model.parameters() * 14 : 0;  // gradient, master copy, two moments
  const double cached = static_cast<double>(r.context * r.sequences + r.tokens) * model.cache_bytes_per_token();
  return (weights + states + (r.phase == Phase::training ? 0 : cached)) / r.tensor_parallel;
}

}  // namespace noteg::workload
