// What a model asks of a GPU, one line of a workload: an operation with its dimensions, without saying how it is run.
// The words and dimensions are those of measured files, so that such a file is a workload as it stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::workload {

enum class Op : std::uint8_t {
  linear,              // C = A B^T, weights B [N, K]
  bmm,                 // batched, both operands row-major
  gemm,                // any layout
  linear_quant,        // 16-bit activations made 8-bit, then a GEMM of 8-bit floats
  gemm_weight_only,    // 16-bit activations, narrower weights
  attention_prefill,   // batch sequences, M queries each, N keys, head dimension K
  attention_decode,    // the same with few queries
  attention_backward,  // of a training step
  moe,                 // batch experts, M tokens, intermediate size N, hidden size K
  elementwise,         // M x N elements, `reads` arrays in, `writes` arrays out
  all_reduce,          // M x N elements over `ranks` GPUs
};

[[nodiscard]] std::string_view name_of(Op op);
[[nodiscard]] std::optional<Op> op_from(std::string_view text);
[[nodiscard]] std::vector<std::string> op_names();

struct Operation {
  std::string name;
  Op op = Op::linear;
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  std::int64_t count = 1;       // how often in a block
  kernels::KernelConfig frame;  // types and layout only
  double weight_bytes = 0;      // per element, of gemm_weight_only
  int heads = 1, kv_heads = 1;  // of attention, per sequence
  bool causal = false;
  int top_k = 1;                 // experts per token
  bool gated = true;             // two matrices to the intermediate size
  double reads = 1, writes = 1;  // of elementwise, arrays
  double element_bytes = 0;      // of elementwise and all_reduce; 0: that of the type
  int ranks = 1;

  [[nodiscard]] double element_size() const {
    return element_bytes > 0 ? element_bytes : kernels::bytes_of(frame.dtype_in);
  }
  [[nodiscard]] double elements() const { return static_cast<double>(m) * static_cast<double>(n); }
};

// Operations that follow each other, the whole `repeat` times: a layer of a model.
struct Block {
  std::string name;
  std::int64_t repeat = 1;
  std::vector<Operation> operations;
};

// Types of operands, accumulators and result as a library has them: 16-bit results from 8-bit operands.
void set_types(Operation& operation, kernels::DataType type);

// "256x4096x4096", "32 x 256x4096x128", with heads where there are some.
[[nodiscard]] std::string shape_text(const Operation& operation);

// Lists of operations as users write them: CSV with the columns of measured files, or YAML with the same keys.

struct Column {
  std::string_view name, accepts, otherwise, meaning;
};

// For the documentation: what a line may hold.
[[nodiscard]] const std::vector<Column>& columns();

// Every mistake with file, line and column. Columns that are not known are left alone, keys are not.
[[nodiscard]] Result<std::vector<Operation>> read_operations_csv(const std::string& path);
[[nodiscard]] Result<std::vector<Operation>> parse_operations_csv(std::string_view text, const std::string& file);
[[nodiscard]] Result<std::vector<Operation>> operations_of(const YamlDocument& document);

}  // namespace noteg::workload
