#include "sim/workload/model.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::workload {
namespace {

namespace fs = std::filesystem;

struct NumberKey {
  std::string_view key;
  int ModelSpec::*member;
  bool required;
  long long low;
};

constexpr std::array number_keys{
    NumberKey{"layers", &ModelSpec::layers, true, 1},
    NumberKey{"hidden", &ModelSpec::hidden, true, 1},
    NumberKey{"heads", &ModelSpec::heads, true, 1},
    NumberKey{"kv_heads", &ModelSpec::kv_heads, false, 1},
    NumberKey{"head_size", &ModelSpec::head_size, false, 1},
    NumberKey{"intermediate", &ModelSpec::intermediate, true, 1},
    NumberKey{"vocabulary", &ModelSpec::vocabulary, false, 0},
    NumberKey{"experts", &ModelSpec::experts, false, 1},
    NumberKey{"experts_per_token", &ModelSpec::experts_per_token, false, 1},
    NumberKey{"expert_intermediate", &ModelSpec::expert_intermediate, false, 1},
    NumberKey{"shared_experts", &ModelSpec::shared_experts, false, 0},
    NumberKey{"dense_layers", &ModelSpec::dense_layers, false, 0},
};

class ModelReader {
 public:
  explicit ModelReader(const YamlDocument& document) : top_(document.file, document.root, "", errors_) {
    model_.file = document.file;
  }

  Result<ModelSpec> read() {
    model_.name = top_.text("model").value_or("");
    for (const NumberKey& key : number_keys) read_number(key);
    if (!given("kv_heads")) model_.kv_heads = model_.heads;
    if (!given("head_size")) model_.head_size = model_.hidden / std::max(1, model_.heads);
    if (!given("expert_intermediate")) model_.expert_intermediate = model_.intermediate;
    if (top_.has("gated")) model_.gated = top_.boolean("gated").value_or(true);
    if (top_.has("causal")) model_.causal = top_.boolean("causal").value_or(true);
    read_type();
    top_.report_unknown();
    check();
    if (!errors_.empty()) return errors_;
    return model_;
  }

 private:
  [[nodiscard]] bool given(std::string_view key) { return top_.has(key); }

  void read_number(const NumberKey& key) {
    if (!key.required && !top_.has(key.key)) return;
    std::optional<YamlMapping> entry = top_.mapping(key.key);
    if (!entry) return;
    constexpr long long most = 100000000;
    if (const std::optional<long long> value = entry->integer("value", key.low, most))
      model_.*key.member = static_cast<int>(*value);
    (void)entry->text("source");
    entry->report_unknown();
  }

  void read_type() {
    if (!top_.has("dtype")) return;
    const std::optional<std::string> text = top_.text("dtype");
    if (!text) return;
    if (const auto type = kernels::data_type_from(*text))
      model_.dtype = *type;
    else
      top_.report(*top_.optional("dtype"), "dtype", "f16, bf16, f8e4m3 or another type of operands", *text);
  }

  void rule(bool holds, std::string_view key, std::string expected) {
    const YamlNode* at = top_.optional(key);
    if (holds) return;
    const YamlNode& node = at != nullptr ? *at : top_.node();
    const YamlNode* value = at != nullptr ? at->find("value") : nullptr;
    top_.report(node, key, std::move(expected), value != nullptr ? value->describe() : "nothing");
  }

  void check() {
    if (!errors_.empty()) return;
    rule(model_.heads % model_.kv_heads == 0, "kv_heads", "a divisor of heads");
    const bool moe = model_.experts > 0;
    rule(!moe || (model_.experts_per_token >= 1 && model_.experts_per_token <= model_.experts), "experts_per_token",
         "at least 1 and at most experts");
    rule(moe || model_.experts_per_token + model_.shared_experts == 0, "experts", "a number, with experts_per_token");
    rule(model_.dense_layers <= model_.layers, "dense_layers", "at most layers");
  }

  Diagnostics errors_;
  YamlMapping top_;
  ModelSpec model_;
};

std::vector<fs::path> directories() { return search_path("NOTEG_MODEL_PATH", NOTEG_MODEL_SOURCE_DIR, "models", {}); }

}  // namespace

double ModelSpec::parameters() const {
  const double h = hidden, q = static_cast<double>(heads) * head_size, kv = static_cast<double>(kv_heads) * head_size;
  const double matrices = gated ? 3 : 2;
  const double attention = h * (q + 2 * kv) + q * h;
  const double dense = matrices * h * intermediate;
  const double sparse = matrices * h * expert_intermediate * (experts + shared_experts) + h * experts;
  const int plain = experts > 0 ? dense_layers : layers;
  return layers * attention + plain * dense + (layers - plain) * sparse + 2.0 * vocabulary * h;
}

double ModelSpec::cache_bytes_per_token() const {
  return causal ? 2.0 * layers * kv_heads * head_size * kernels::bytes_of(dtype) : 0;
}

const std::vector<ModelKey>& model_keys() {
  static const std::vector<ModelKey> keys{
      {"model", "Name of the model; makes the file a model file.", ""},
      {"layers", "Transformer layers.", ""},
      {"hidden", "Hidden size.", ""},
      {"heads", "Attention heads.", ""},
      {"kv_heads", "Heads of keys and values.", "heads"},
      {"head_size", "Dimension of a head.", "hidden / heads"},
      {"intermediate", "Intermediate size of the MLP.", ""},
      {"gated", "true: two matrices lead there (SwiGLU).", "true"},
      {"causal", "false: an encoder, without cache and decode.", "true"},
      {"vocabulary", "Rows of the last matrix.", "0: none"},
      {"experts", "Experts of an MoE layer.", "none"},
      {"experts_per_token", "Experts that each token goes to.", ""},
      {"expert_intermediate", "Intermediate size of an expert.", "intermediate"},
      {"shared_experts", "Experts that every token goes to.", "0"},
      {"dense_layers", "Layers without experts.", "0"},
      {"dtype", "Type of weights and activations.", "bf16"},
  };
  return keys;
}

bool is_model(const YamlDocument& document) { return document.root.find("model") != nullptr; }

Result<ModelSpec> model_of(const YamlDocument& document) { return ModelReader(document).read(); }

Result<fs::path> find_workload_file(const std::string& name) {
  if (is_file(name)) return fs::path(name);
  std::error_code failed;
  if (fs::exists(name, failed) && !fs::is_directory(name, failed)) return fs::path(name);  // a pipe
  for (const fs::path& directory : directories())
    if (const fs::path file = directory / (to_lower(name) + ".yaml"); is_file(file)) return file;
  const std::vector<std::string> near = nearest_names(name, shipped_models(), 3);
  return Diagnostic{"",
                    0,
                    0,
                    "FILE",
                    "a file, or a model: " + join_or(shipped_models()),
                    "\"" + name + "\"" + (near.empty() ? "" : " (did you mean " + join_or(near) + "?)")};
}

std::vector<std::string> shipped_models() {
  std::set<std::string> names;
  for (const fs::path& directory : directories()) {
    std::error_code failed;
    for (fs::directory_iterator file(directory, failed), end; !failed && file != end; file.increment(failed))
      if (file->path().extension() == ".yaml") names.insert(file->path().stem().string());
  }
  return {names.begin(), names.end()};
}

}  // namespace noteg::workload
