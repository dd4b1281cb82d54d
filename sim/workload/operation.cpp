#include "sim/workload/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace noteg::workload {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 11> names{"linear",
                                                 "bmm",
                                                 "gemm",
                                                 "linear_quant",
                                                 "gemm_weight_only",
                                                 "attention_prefill",
                                                 "attention_decode",
                                                 "attention_backward",
                                                 "moe",
                                                 "elementwise",
                                                 "all_reduce"};

}  // namespace

std::string_view name_of(Op op) { return names[static_cast<std::size_t>(op)]; }

std::optional<Op> op_from(std::string_view text) {
  if (text == "gemm_int8") return Op::linear;  // the type says the rest
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Op>(found - names.begin());
}

std::vector<std::string> op_names() { return {names.begin(), names.end()}; }

void set_types(Operation& operation, kernels::DataType type) {
  using kernels::DataType;
  kernels::KernelConfig& frame = operation.frame;
  const bool integer = type == DataType::s8 || type == DataType::s4;
  frame.dtype_in = type;
  frame.dtype_acc = integer ? DataType::s32 : DataType::f32;
  const DataType narrow = kernels::bytes_of(type) < 2 ? DataType::bf16 : type;
  frame.dtype_out = type == DataType::tf32 ? DataType::f32 : narrow;
}

std::string shape_text(const Operation& o) {
  switch (o.op) {
    case Op::elementwise: return fmt::format("{}x{} {:g} in {:g} out", o.m, o.n, o.reads, o.writes);
    case Op::all_reduce: return fmt::format("{}x{} over {}", o.m, o.n, o.ranks);
    case Op::attention_prefill:
    case Op::attention_decode:
    case Op::attention_backward:
      return fmt::format("{} seq {} q {} kv {}/{}x{}", o.batch, o.m, o.n, o.heads, o.kv_heads, o.k);
    case Op::moe: return fmt::format("{} of {} {} tok {}x{}", o.top_k, o.batch, o.m, o.n, o.k);
    case Op::linear:
    case Op::bmm:
    case Op::gemm:
    case Op::linear_quant:
    case Op::gemm_weight_only:
      return fmt::format("{}{}x{}x{}", o.batch > 1 ? fmt::format("{} x ", o.batch) : "", o.m, o.n, o.k);
  }
  return "";
}

}  // namespace noteg::workload
