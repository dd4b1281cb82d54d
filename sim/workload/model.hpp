// A transformer as its configuration states it, and what one step of it asks of each GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/yaml_reader.hpp"
#include "sim/workload/operation.hpp"

namespace noteg::workload {

struct ModelSpec {
  std::string name;
  std::string file;
  int layers = 1, dense_layers = 0;  // dense_layers: of these without experts, where there are some
  int hidden = 1, heads = 1, kv_heads = 1, head_size = 1;
  int intermediate = 1;
  bool gated = true;   // two matrices lead to the intermediate size (SwiGLU)
  bool causal = true;  // false: an encoder
  int vocabulary = 0;  // rows of the last matrix; 0: none
  int experts = 0, experts_per_token = 0, expert_intermediate = 0, shared_experts = 0;
  kernels::DataType dtype = kernels::DataType::bf16;

  // Of all matrices, embeddings once.
  [[nodiscard]] double parameters() const;
  // Of keys and values, in all layers.
  [[nodiscard]] double cache_bytes_per_token() const;
};

// A number of a model file: key, what it is, and where a file that leaves it out has it from.
struct ModelKey {
  std::string_view key, meaning, otherwise;
};
[[nodiscard]] const std::vector<ModelKey>& model_keys();

// Whether a file describes a model, and not a list of operations.
[[nodiscard]] bool is_model(const YamlDocument& document);

// Every mistake; every number must name its source.
[[nodiscard]] Result<ModelSpec> model_of(const YamlDocument& document);

// A path, or the name of a shipped model (llama-3-8b). Searched: NOTEG_MODEL_PATH, the source tree, share/noteg/models.
[[nodiscard]] Result<std::filesystem::path> find_workload_file(const std::string& name_or_path);
[[nodiscard]] std::vector<std::string> shipped_models();

enum class Phase : std::uint8_t { prefill, decode, training };
[[nodiscard]] std::string_view name_of(Phase phase);
[[nodiscard]] std::optional<Phase> phase_from(std::string_view text);

struct StepRequest {
  Phase phase = Phase::prefill;
  std::int64_t tokens = 1;     // that the step takes in, over all sequences
  std::int64_t sequences = 1;  // they are of; decode: one token each
  std::int64_t context = 0;    // tokens of each sequence that lie in the cache already
  int tensor_parallel = 1;
};

// Errors: tokens that the sequences do not share evenly, heads or sizes that the GPUs do not.
[[nodiscard]] Result<std::vector<Block>> unfold(const ModelSpec& model, const StepRequest& request);

// Weights and cache of one GPU after the step, in bytes.
[[nodiscard]] double resident_bytes(const ModelSpec& model, const StepRequest& request);

}  // namespace noteg::workload
