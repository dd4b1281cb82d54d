// Names of tensor-core kernels. Only what the name says is filled in: family, types, tile, stages, warp tile, layout.
#include <algorithm>

#include "kernels/name_tokens.hpp"

namespace noteg::kernels {
namespace {

struct Types {
  DataType in, acc, out;
};

void set_types(KernelConfig& config, const Types& types) {
  config.dtype_in = types.in;
  config.dtype_acc = types.acc;
  config.dtype_out = types.out;
}

// bf16bf16, f16f16, tf32tf32, f32f32, e4m3e4m3, i8i8: two operand types of one kind, or in and accumulator.
std::optional<DataType> leading_type(std::string_view token) {
  if (token.starts_with("i8")) return DataType::s8;
  if (token.starts_with("i32")) return DataType::s32;
  for (std::size_t length = std::min<std::size_t>(token.size(), 4); length >= 2; --length)
    if (const auto type = data_type_from(token.substr(0, length))) return type;
  return std::nullopt;
}

std::optional<DataType> trailing_type(std::string_view token) {
  if (token.ends_with("i32")) return DataType::s32;
  for (std::size_t length = std::min<std::size_t>(token.size(), 4); length >= 2; --length)
    if (const auto type = data_type_from(token.substr(token.size() - length))) return type;
  return std::nullopt;
}

// s16816gemm, h16816gemm, i16832gemm, s1688gemm: accumulator letter, then the mma shape.
std::optional<DataType> accumulator_of(std::string_view token) {
  if (!token.ends_with("gemm") || token.size() < 8) return std::nullopt;
  for (const char digit : token.substr(1, token.size() - 5))
    if (digit < '0' || digit > '9') return std::nullopt;
  switch (token.front()) {
    case 's': return DataType::f32;
    case 'h': return DataType::f16;
    case 'i': return DataType::s32;
    default: return std::nullopt;
  }
}

// f16_f32acc, the names of the H200 measurements.
std::optional<Types> own_types(std::string_view in, std::string_view acc) {
  if (!acc.ends_with("acc")) return std::nullopt;
  const auto in_type = data_type_from(in);
  const auto acc_type = data_type_from(acc.substr(0, acc.size() - 3));
  if (!in_type || !acc_type) return std::nullopt;
  return Types{*in_type, *acc_type, *acc_type};
}

// cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_tn[_splitkserial]
std::optional<ParsedName> parse_own_mma(const Tokens& t) {
  if (t.size() < 8 || t.size() > 9 || t[0] != "cutlass" || t[1] != "tensorop") return std::nullopt;
  const auto types = own_types(t[2], t[3]);
  const auto tile = extents(t[4], 2);
  const auto depth = extents(t[5], 2);
  const auto warp = prefixed(t[6], "w", 2);
  const auto layout = layout_from_blas(t[7], false);
  if (!types || !tile || !depth || !warp || !layout) return std::nullopt;
  if (t.size() == 9 && t[8] != "splitkserial") return std::nullopt;
  ParsedName parsed;
  parsed.config.family = Family::mma;
  parsed.config.flavor = Flavor::cutlass;
  set_types(parsed.config, *types);
  set_tile(parsed, (*tile)[0], (*tile)[1], (*depth)[0]);
  parsed.config.stages = (*depth)[1];
  parsed.config.warp_m = (*warp)[0];
  parsed.config.warp_n = (*warp)[1];
  parsed.config.layout = *layout;
  if (t.size() == 9) parsed.config.split_k_mode = SplitKMode::serial;
  return parsed;
}

// cutlass_sm90_wgmma_f16_f32acc_64x128x64_1x1_ws: A row-major, B column-major in all of them (tn).
std::optional<ParsedName> parse_own_wgmma(const Tokens& t) {
  if (t.size() != 8 || t[0] != "cutlass" || t[1] != "sm90" || t[2] != "wgmma") return std::nullopt;
  const auto types = own_types(t[3], t[4]);
  const auto tile = extents(t[5], 3);
  const auto cluster = extents(t[6], 2);
  const auto schedule = schedule_from(t[7]);
  if (!types || !tile || !cluster || !schedule) return std::nullopt;
  ParsedName parsed;
  parsed.config.family = Family::wgmma;
  parsed.config.flavor = Flavor::cutlass;
  parsed.config.layout = Layout::nt;
  const DataType in = types->in;
  // Results are of 16 bits in all of them that multiply 8- or 16-bit floats.
  set_types(parsed.config, {in, types->acc,
                            in == DataType::bf16 ? in
                            : bytes_of(in) <= 2  ? DataType::f16
                                                 : types->acc});
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  parsed.config.cluster_m = (*cluster)[0];
  parsed.config.cluster_n = (*cluster)[1];
  parsed.config.schedule = schedule;
  return parsed;
}

// cutlass[_80]_tensorop_f16_s16816gemm_f16_128x128_32x4_tn_align8; operand and output type may be left out.
std::optional<ParsedName> parse_cutlass_mma(const Tokens& t) {
  if (t.size() < 7 || t[0] != "cutlass") return std::nullopt;
  const bool shipped = t[1] == "80" || t[1] == "75";
  const auto start = std::find(t.begin(), t.end(), "tensorop");
  const auto kind = std::find_if(t.begin(), t.end(), [](std::string_view s) { return accumulator_of(s).has_value(); });
  if (start == t.end() || kind == t.end() || t.end() - kind < 5) return std::nullopt;
  const auto layout = layout_from_blas(t[t.size() - 2], shipped);
  const auto depth = extents(t[t.size() - 3], 2);
  const auto tile = extents(t[t.size() - 4], 2);
  const auto align = prefixed(t.back(), "align", 1);
  if (!layout || !depth || !tile || !align) return std::nullopt;
  const auto named_in = leading_type(*(kind + 1));
  const DataType acc = *accumulator_of(*kind);
  const DataType in = named_in.value_or(DataType::tf32);  // s1688gemm without a type multiplies f32 as tf32
  const auto named_out = kind - start == 2 ? leading_type(*(kind - 1)) : std::nullopt;
  ParsedName parsed;
  parsed.swapped = shipped;
  parsed.config.family = Family::mma;
  parsed.config.flavor = Flavor::cutlass;
  parsed.config.layout = *layout;
  set_types(parsed.config, {in, acc, named_out.value_or(acc)});
  set_tile(parsed, (*tile)[0], (*tile)[1], (*depth)[0]);
  parsed.config.stages = (*depth)[1];
  parsed.config.align_a = parsed.config.align_b = (*align)[0];
  return parsed;
}

// ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn
std::optional<ParsedName> parse_cublas_mma(const Tokens& t) {
  if (t.size() < 6 || t[0] != "ampere") return std::nullopt;
  const auto kind = std::find_if(t.begin(), t.end(), [](std::string_view s) { return accumulator_of(s).has_value(); });
  const auto stages = std::find(t.begin(), t.end(), "stages");
  const auto layout = layout_from_blas(t.back(), true);
  if (kind == t.end() || stages == t.end() || t.end() - stages != 3 || kind > stages || !layout) return std::nullopt;
  const auto tile_at = std::find_if(kind, stages, [](std::string_view s) { return extents(s, 2).has_value(); });
  const auto depth = extents(*(stages + 1), 2);
  if (tile_at == stages || !depth) return std::nullopt;
  const auto tile = extents(*tile_at, 2);
  const DataType acc = *accumulator_of(*kind);
  const DataType in = data_type_from(t[1]).value_or(DataType::f16);  // ampere_h16816gemm: half throughout
  ParsedName parsed;
  parsed.swapped = true;
  parsed.config.family = Family::mma;
  parsed.config.flavor = Flavor::cublas;
  parsed.config.layout = *layout;
  set_types(parsed.config, {in, acc, in});
  set_tile(parsed, (*tile)[0], (*tile)[1], (*depth)[0]);
  parsed.config.stages = (*depth)[1];
  for (auto at = kind; at != stages; ++at) {
    if (const auto sliced = prefixed(*at, "sliced", 2)) parsed.config.sliced_k = (*sliced)[0] * (*sliced)[1];
  }
  return parsed;
}

// sm80_xmma_gemm_f16f16_f16f32_f16_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_execute_...,
// sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_...
std::optional<ParsedName> parse_xmma_tensor(const Tokens& t) {
  if (t.size() < 11 || (t[0] != "sm80" && t[0] != "sm90") || t[1] != "xmma" || t[2] != "gemm") return std::nullopt;
  const bool hopper = t[0] == "sm90";
  const auto in = leading_type(t[4]);
  const auto acc = trailing_type(t[4]);
  const auto out = leading_type(t[5]);
  const auto layout = layout_from_blas(t[6], true);
  const auto tile = prefixed(t[8], "tilesize", 3);
  if (!in || !acc || !out || !layout || !tile) return std::nullopt;
  ParsedName parsed;
  KernelConfig& config = parsed.config;
  config.family = hopper ? Family::wgmma : Family::mma;
  config.flavor = Flavor::xmma;
  config.layout = *layout;
  set_types(config, {*in, *acc, *out});
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  if (hopper) return prefixed(t[9], "warpgroupsize", 3) ? std::optional(parsed) : std::nullopt;
  const auto stages = prefixed(t[9], "stage", 1);
  const auto warps = prefixed(t[10], "warpsize", 3);
  if (!stages || !warps || t.size() < 12 || !t[11].starts_with("tensor")) return std::nullopt;
  if ((*tile)[0] % (*warps)[0] != 0 || (*tile)[1] % (*warps)[1] != 0) return std::nullopt;
  config.stages = (*stages)[0];
  config.warp_m = (*tile)[0] / (*warps)[0];
  config.warp_n = (*tile)[1] / (*warps)[1];
  return parsed;
}

}  // namespace

std::optional<ParsedName> parse_tensor_name(const Tokens& tokens) {
  for (const auto parser : {parse_own_mma, parse_own_wgmma, parse_cutlass_mma, parse_cublas_mma, parse_xmma_tensor})
    if (std::optional<ParsedName> parsed = parser(tokens)) return parsed;
  return std::nullopt;
}

}  // namespace noteg::kernels
