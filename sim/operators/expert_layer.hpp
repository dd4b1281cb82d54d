// A layer of experts as vLLM runs it: tokens are sorted by expert, one grouped product makes 2N columns of each token's
// experts, an activation halves them, a second grouped product goes back to K columns, and a sum over the experts of a
// token ends it. Routing is a histogram: how many tokens each expert got. Left out: choosing the experts (a softmax
// before it), communication between GPUs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/support/result.hpp"

namespace noteg::operators {

// Tokens of each expert.
using Histogram = std::vector<std::int64_t>;

enum class Routing : std::uint8_t { balanced, power_law };
// balanced: all alike, as far as they divide. power_law: loads whose density falls with the power `exponent` between 1
// and 0.8 of the tokens, at even quantiles (where a sampler would draw at random), brought to the sum.
[[nodiscard]] Histogram route(std::int64_t tokens, int experts, int experts_per_token, Routing routing,
                              double exponent = 1.01);

struct ExpertLayer {
  std::int64_t tokens = 1, hidden = 1, intermediate = 1;  // K and N of the rank
  int experts_per_token = 1;
  kernels::DataType type = kernels::DataType::bf16;
  Histogram loads;
  std::optional<kernels::KernelConfig> config = std::nullopt;  // of both products; absent: expert_config
};

// tokens, experts, topk, hidden and intermediate as key=value; also dtype, routing (balanced or power_law) and, in
// place of experts and routing, loads: the tokens of each expert with colons between. All mistakes at once.
[[nodiscard]] Result<ExpertLayer> expert_layer_from(std::string_view line);

// A product of each expert's rows with its own weights: C_e = A_e B_e. One launch, rows of tiles one expert after
// another.
struct GroupedGemm {
  kernels::KernelConfig config;  // triton, not resolved
  std::int64_t n = 1, k = 1;
  Histogram rows;
  double rows_read = 0;  // distinct rows of A in memory
};
[[nodiscard]] Result<gpu::KernelLaunch> grouped_launch(const arch::GpuSpec& gpu, const GroupedGemm& gemm,
                                                       gpu::L2State l2, gpu::SmCache& cache);

// The tile that vLLM takes at so many rows of an expert; and what its releases before 0.20 took for layers without a
// table of their own (get_default_config of fused_moe).
[[nodiscard]] kernels::KernelConfig expert_config(double rows_of_expert, kernels::DataType type);
[[nodiscard]] kernels::KernelConfig early_expert_config(std::int64_t tokens, std::int64_t experts,
                                                        kernels::DataType type);

struct Step {
  std::string_view name;
  gpu::SimReport report;
};
// In the order in which they run; the layer's time is the sum of theirs.
[[nodiscard]] Result<std::vector<Step>> simulate_experts(const arch::GpuSpec& gpu, const ExpertLayer& layer,
                                                         const gpu::SimOptions& options, gpu::SmCache& cache);

}  // namespace noteg::operators
