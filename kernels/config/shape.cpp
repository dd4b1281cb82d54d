#include "kernels/config/shape.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace noteg::kernels {
namespace {

struct TypeName {
  std::string_view text;
  DataType type;
};

// The first spelling of each type is the one printed; the others are what measured files and libraries use.
constexpr std::array<TypeName, 29> type_names{{
    {"f32", DataType::f32},         {"fp32", DataType::f32},      {"float", DataType::f32},
    {"float32", DataType::f32},     {"tf32", DataType::tf32},     {"tfloat32", DataType::tf32},
    {"f16", DataType::f16},         {"fp16", DataType::f16},      {"half", DataType::f16},
    {"float16", DataType::f16},     {"bf16", DataType::bf16},     {"bfloat16", DataType::bf16},
    {"f8e4m3", DataType::f8e4m3},   {"e4m3", DataType::f8e4m3},   {"fp8", DataType::f8e4m3},
    {"fp8_e4m3", DataType::f8e4m3}, {"f8e5m2", DataType::f8e5m2}, {"e5m2", DataType::f8e5m2},
    {"s8", DataType::s8},           {"int8", DataType::s8},       {"uint8", DataType::s8},
    {"s4", DataType::s4},           {"int4", DataType::s4},       {"s32", DataType::s32},
    {"int32", DataType::s32},       {"mxfp8", DataType::mxfp8},   {"mxfp4", DataType::mxfp4},
    {"nvfp4", DataType::nvfp4},     {"nvf4", DataType::nvfp4},
}};

std::optional<std::int64_t> positive_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string_view name_of(DataType type) {
  for (const TypeName& entry : type_names)
    if (entry.type == type) return entry.text;
  return "?";
}

std::optional<DataType> data_type_from(std::string_view text) {
  for (const TypeName& entry : type_names)
    if (entry.text == text) return entry.type;
  return std::nullopt;
}

double bytes_of(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32:  // stored as 32 bits, rounded by the tensor core
    case DataType::s32: return 4;
    case DataType::f16:
    case DataType::bf16: return 2;
    case DataType::f8e4m3:
    case DataType::f8e5m2:
    case DataType::mxfp8:
    case DataType::s8: return 1;
    case DataType::mxfp4:
    case DataType::nvfp4:
    case DataType::s4: return 0.5;
  }
  return 0;
}

double scale_bytes_of(DataType type) {
  constexpr double mx_block = 32, nv_block = 16;  // values that share a scale (PTX: block scaling)
  if (type == DataType::nvfp4) return 1 / nv_block;
  return type == DataType::mxfp8 || type == DataType::mxfp4 ? 1 / mx_block : 0;
}

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::nn: return "nn";
    case Layout::nt: return "nt";
    case Layout::tn: return "tn";
    case Layout::tt: return "tt";
  }
  return "?";
}

std::optional<Layout> layout_from(std::string_view text) {
  for (Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt})
    if (text == name_of(layout)) return layout;
  return std::nullopt;
}

std::optional<Layout> layout_from_blas(std::string_view letters, bool swapped) {
  const std::optional<Layout> as_written = layout_from(letters);
  if (!as_written) return std::nullopt;
  const bool first_t = letters[0] == 't';
  const bool second_t = letters[1] == 't';
  // Column-major: first operand t = contiguous along K, second operand n = contiguous along K.
  // Swapped: the library's first operand is our B (along N), its second is our A (along M).
  const bool a_along_k = swapped ? !second_t : first_t;
  const bool b_along_n = swapped ? !first_t : second_t;
  if (a_along_k) return b_along_n ? Layout::nn : Layout::nt;
  return b_along_n ? Layout::tn : Layout::tt;
}

std::optional<GemmShape> shape_from(std::string_view text) {
  std::array<std::int64_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t end = i < 2 ? text.find_first_of("xX") : text.size();
    if (end == std::string_view::npos) return std::nullopt;
    const std::optional<std::int64_t> value = positive_number(text.substr(0, end));
    if (!value) return std::nullopt;
    values[i] = *value;
    text.remove_prefix(i < 2 ? end + 1 : end);
  }
  return GemmShape{values[0], values[1], values[2], 1};
}

}  // namespace noteg::kernels
