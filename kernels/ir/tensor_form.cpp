#include "kernels/ir/tensor_form.hpp"

#include <algorithm>
#include <vector>

#include "kernels/families/family.hpp"
#include "sim/support/text.hpp"

namespace noteg::kernels {
namespace {

constexpr std::array<std::string_view, tensor_kind_count> kinds{
    "f16_f16",          "f16_f32",          "bf16_f32",         "tf32_f32",        "e4m3_f16",
    "e4m3_f32",         "s8_s32",           "s4_s32",           "wgmma_f16_f16",   "wgmma_f16_f32",
    "wgmma_bf16_f32",   "wgmma_tf32_f32",   "wgmma_e4m3_f16",   "wgmma_e4m3_f32",  "wgmma_s8_s32",
    "wgmma_s4_s32",     "e2m1_f32",         "tcgen05_f16_f16",  "tcgen05_f16_f32", "tcgen05_bf16_f32",
    "tcgen05_tf32_f32", "tcgen05_e4m3_f16", "tcgen05_e4m3_f32", "tcgen05_e2m1_f32"};

std::string_view type_text(DataType type) {
  return is_float8(type) ? "e4m3" : is_float4(type) ? "e2m1" : name_of(type);
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::vector<std::string_view> parts_of(std::string_view modifiers) {
  std::vector<std::string_view> parts;
  while (!modifiers.empty()) {
    if (modifiers.front() == '.') modifiers.remove_prefix(1);
    const std::string_view part = modifiers.substr(0, modifiers.find('.'));
    if (!part.empty()) parts.push_back(part);
    modifiers.remove_prefix(part.size());
  }
  return parts;
}

// 16816, 1688, 16832: m 16, n 8, the rest k.
std::optional<Tile> sync_shape(std::string_view text) {
  if (!text.starts_with("168") || text.size() < 4) return std::nullopt;
  const std::optional<long long> k = parse_integer(text.substr(3));
  if (!k || *k < 1 || *k > 1024) return std::nullopt;
  return Tile{16, 8, static_cast<int>(*k)};
}

// 64x128x16, of tcgen05 128x256x16 and 256x256x16 too
std::optional<Tile> group_shape(std::string_view text) {
  const std::size_t first = text.find('x');
  const std::size_t second = text.find('x', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto m = parse_integer(text.substr(0, first));
  const auto n = parse_integer(text.substr(first + 1, second - first - 1));
  const auto k = parse_integer(text.substr(second + 1));
  if (!m || !n || !k || (*m != 64 && *m != 128 && *m != 256) || *n < 8 || *n > 256 || *k < 1 || *k > 1024)
    return std::nullopt;
  return Tile{static_cast<int>(*m), static_cast<int>(*n), static_cast<int>(*k)};
}

// Of 8- and 4-bit floats; MX in front: with the block scales of that standard.
std::string_view sass_name(DataType type) {
  switch (type) {
    case DataType::f8e4m3: return "E4M3";
    case DataType::f8e5m2: return "E5M2";
    case DataType::mxfp8: return "MXE4M3";
    case DataType::mxfp4: return "MXE2M1";
    default: return "E2M1";
  }
}

std::optional<DataType> sass_type(std::string_view part) {
  for (const DataType type : {DataType::bf16, DataType::tf32, DataType::s8, DataType::s4}) {
    if (part == upper(name_of(type))) return type;
  }
  if (part == "E4M3") return DataType::f8e4m3;
  if (part == "E5M2") return DataType::f8e5m2;
  if (part == "MXE4M3") return DataType::mxfp8;
  if (part == "MXE2M1") return DataType::mxfp4;
  if (part == "E2M1") return DataType::nvfp4;
  return std::nullopt;
}

}  // namespace

std::string name_of(const TensorForm& form) {
  return std::string(form.sparse ? "sp_" : "") + "m" + std::to_string(form.shape.m) + "n" +
         std::to_string(form.shape.n) + "k" + std::to_string(form.shape.k) + "_" + std::string(type_text(form.in)) +
         "_" + std::string(type_text(form.acc));
}

Opcode opcode_of(const TensorForm& form) {
  const bool f8 = is_float8(form.in), f4 = is_float4(form.in);
  if (form.in_tensor_memory) return f4 ? Opcode::utcomma : f8 ? Opcode::utcqmma : Opcode::utchmma;
  if (form.warp_group) return Opcode::hgmma;
  if (form.in == DataType::s8 || form.in == DataType::s4) return Opcode::imma;
  return f8 || f4 ? Opcode::qmma : Opcode::hmma;
}

std::string modifiers_of(const TensorForm& form) {
  const Tile& s = form.shape;
  std::string text = form.sparse ? ".SP" : "";
  text += form.warp_group || form.in_tensor_memory
              ? "." + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k)
              : ".168" + std::to_string(s.k);
  const bool narrow = is_float8(form.in) || is_float4(form.in);
  const std::string in = narrow ? std::string(sass_name(form.in)) : upper(name_of(form.in));
  if (form.acc != DataType::s32) text += "." + upper(name_of(form.acc));
  if (form.in == DataType::bf16 || form.in == DataType::tf32) text += "." + in;
  if (narrow || form.acc == DataType::s32) text += "." + in + "." + in;
  return text;
}

std::optional<TensorForm> tensor_form_from(Opcode op, std::string_view modifiers) {
  TensorForm form;
  form.warp_group = op == Opcode::hgmma;
  form.in_tensor_memory = op == Opcode::utchmma || op == Opcode::utcqmma || op == Opcode::utcomma;
  form.in = op == Opcode::imma ? DataType::s8 : op == Opcode::qmma ? DataType::f8e4m3 : DataType::f16;
  std::optional<Tile> shape;
  bool acc_named = false;
  for (const std::string_view part : parts_of(modifiers)) {
    if (part == "SP") {
      form.sparse = true;
    } else if (part == "F16" || part == "F32") {
      form.acc = part == "F16" ? DataType::f16 : DataType::f32;
      acc_named = true;
    } else if (const auto type = sass_type(part)) {
      form.in = *type;
    } else if (!shape) {
      shape = form.warp_group || form.in_tensor_memory ? group_shape(part) : sync_shape(part);
    }
  }
  if (!shape) return std::nullopt;
  form.shape = *shape;
  if (!acc_named) form.acc = accumulators_for(form.in).type[0];
  return form;
}

double macs_of(const TensorForm& form) {
  return static_cast<double>(form.shape.m) * form.shape.n * form.shape.k * (form.sparse ? 0.5 : 1.0);
}

FormRegisters registers_of(const TensorForm& form) {
  const Tile& s = form.shape;
  const auto words = [](double elements, DataType type) {
    return std::max(1, static_cast<int>(elements * bytes_of(type) / (4 * 32)));
  };
  FormRegisters r;
  r.a = words(static_cast<double>(s.m) * s.k * (form.sparse ? 0.5 : 1.0), form.in);
  r.b = words(static_cast<double>(s.n) * s.k, form.in);
  r.c = words(static_cast<double>(s.m) * s.n, form.acc);
  r.meta = form.sparse ? 1 : 0;
  if (form.warp_group) {  // a warp holds a quarter of the rows, B stays in shared memory
    r.a /= 4;
    r.b = 0;
    r.c /= 4;
  }
  return r;
}

std::size_t tensor_kind(const TensorForm& form) {
  const std::string name = std::string(form.warp_group         ? "wgmma_"
                                       : form.in_tensor_memory ? "tcgen05_"
                                                               : "") +
                           std::string(type_text(form.in)) + "_" + std::string(type_text(form.acc));
  const auto found = std::find(kinds.begin(), kinds.end(), name);
  return found == kinds.end() ? 0 : static_cast<std::size_t>(found - kinds.begin());
}

std::string_view tensor_kind_name(std::size_t kind) { return kinds.at(kind); }

TensorForm tensor_form_of(const KernelConfig& config) {
  const Needs needs = traits_of(config).needs;
  // Of the families that run everywhere, those whose instruction has 64 rows multiply by warpgroups too (triton).
  const bool warp_group = needs == Needs::warpgroup_products || (needs == Needs::nothing && config.instruction.m == 64);
  const bool in_memory = needs == Needs::tensor_memory_products;
  Tile shape = config.instruction;
  if (warp_group && shape.m != 64) std::swap(shape.m, shape.n);  // its 64 rows lie along N
  if (in_memory) {                                               // the share of one CTA
    const MemoryFrame frame = memory_frame(config).value_or(MemoryFrame{128, 256, true, false});
    shape = {frame.rows, frame.columns, shape.k};
  }
  return {shape, config.dtype_in, config.dtype_acc, config.sparse, warp_group, in_memory};
}

std::optional<MemoryFrame> memory_frame(const KernelConfig& config) {
  const Tile &tile = config.tile, &ins = config.instruction;
  const auto fits = [](int rows, int columns) {
    return (rows == 64 || rows == 128) && columns >= 8 && columns <= 256 && columns % 8 == 0;
  };
  if (ins.m == 2 * tile.m && ins.n == tile.n && fits(tile.m, tile.n)) return MemoryFrame{tile.m, tile.n, true, true};
  if (ins.n == 2 * tile.n && ins.m == tile.m && fits(tile.n, tile.m)) return MemoryFrame{tile.n, tile.m, false, true};
  if (ins.m != tile.m || ins.n != tile.n) return std::nullopt;
  // 64 rows leave half of the tensor cores idle: 128 wherever they are.
  const bool along_m = fits(tile.m, tile.n), along_n = fits(tile.n, tile.m);
  if (along_m && (tile.m >= tile.n || tile.m == 128 || !along_n)) return MemoryFrame{tile.m, tile.n, true, false};
  if (along_n) return MemoryFrame{tile.n, tile.m, false, false};
  return std::nullopt;
}

AccumulatorTypes accumulators_for(DataType in) {
  switch (in) {
    case DataType::f16:
    case DataType::f8e4m3:
    case DataType::f8e5m2: return {{DataType::f32, DataType::f16}, 2};
    case DataType::bf16:
    case DataType::mxfp8:
    case DataType::mxfp4:
    case DataType::nvfp4:
    case DataType::tf32: return {{DataType::f32}, 1};
    case DataType::s8:
    case DataType::s4: return {{DataType::s32}, 1};
    case DataType::f32:
    case DataType::s32: return {};
  }
  return {};
}

}  // namespace noteg::kernels
