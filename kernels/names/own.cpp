// Names of kernels that people time themselves: the naive kernel of GPPerf, and the kernels of the H200 measurements.
#include "kernels/names/tokens.hpp"

namespace noteg::kernels::names {
namespace {

// naive_tiled_sgemm_t16, naive_static_sgemm_t16: the tile an argument or a constant
std::optional<ParsedName> read_naive(const Tokens& t) {
  if (t.size() != 4 || t[0] != "naive" || (t[1] != "tiled" && t[1] != "static") || t[2] != "sgemm") return std::nullopt;
  const auto side = prefixed(t[3], "t", 1);
  if (!side) return std::nullopt;
  ParsedName parsed;
  parsed.config.family = Family::naive;
  parsed.config.static_tile = t[1] == "static";
  set_tile(parsed, (*side)[0], (*side)[0], (*side)[0]);
  return parsed;
}

// op_mm_kernel: the naive kernel of the GPPerf measurements; its tile is a launch argument, not in the name.
std::optional<ParsedName> read_op_mm(const Tokens& t) {
  if (t.size() != 3 || t[0] != "op" || t[1] != "mm" || t[2] != "kernel") return std::nullopt;
  ParsedName parsed;
  parsed.config.family = Family::naive;
  return parsed;
}

// blocked_sgemm_128x64x16_t8x4_db
std::optional<ParsedName> read_blocked(const Tokens& t) {
  if (t.size() != 5 || t[0] != "blocked" || t[1] != "sgemm") return std::nullopt;
  const auto tile = extents(t[2], 3);
  const auto thread = prefixed(t[3], "t", 2);
  if (!tile || !thread || (t[4] != "sb" && t[4] != "db")) return std::nullopt;
  ParsedName parsed;
  parsed.config.family = Family::blocked;
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  parsed.config.thread_m = (*thread)[0];
  parsed.config.thread_n = (*thread)[1];
  parsed.config.stages = t[4] == "db" ? 2 : 1;
  return parsed;
}

struct Types {
  DataType in, acc;
};

// f16_f32acc
std::optional<Types> read_types(std::string_view in, std::string_view acc) {
  if (!acc.ends_with("acc")) return std::nullopt;
  const auto in_type = data_type_from(in);
  const auto acc_type = data_type_from(acc.substr(0, acc.size() - 3));
  if (!in_type || !acc_type) return std::nullopt;
  return Types{*in_type, *acc_type};
}

// cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_tn[_splitkserial]
std::optional<ParsedName> read_mma(const Tokens& t) {
  if (t.size() < 8 || t.size() > 9 || t[0] != "cutlass" || t[1] != "tensorop") return std::nullopt;
  const auto types = read_types(t[2], t[3]);
  const auto tile = extents(t[4], 2);
  const auto depth = extents(t[5], 2);
  const auto warp = prefixed(t[6], "w", 2);
  const auto layout = layout_from_blas(t[7], false);
  if (!types || !tile || !depth || !warp || !layout) return std::nullopt;
  if (t.size() == 9 && t[8] != "splitkserial") return std::nullopt;
  ParsedName parsed;
  KernelConfig& config = parsed.config;
  config.family = Family::mma;
  config.flavor = Flavor::cutlass;
  config.dtype_in = types->in;
  config.dtype_acc = config.dtype_out = types->acc;
  set_tile(parsed, (*tile)[0], (*tile)[1], (*depth)[0]);
  config.stages = (*depth)[1];
  config.warp_m = (*warp)[0];
  config.warp_n = (*warp)[1];
  config.layout = *layout;
  if (t.size() == 9) config.split_k_mode = SplitKMode::serial;
  return parsed;
}

// cutlass_sm90_wgmma_f16_f32acc_64x128x64_1x1_ws: A row-major, B column-major in all of them (tn). Results are of 16
// bits in all of them that multiply 8- or 16-bit floats.
std::optional<ParsedName> read_wgmma(const Tokens& t) {
  if (t.size() != 8 || t[0] != "cutlass" || t[1] != "sm90" || t[2] != "wgmma") return std::nullopt;
  const auto types = read_types(t[3], t[4]);
  const auto tile = extents(t[5], 3);
  const auto cluster = extents(t[6], 2);
  const auto schedule = schedule_from(t[7]);
  if (!types || !tile || !cluster || !schedule) return std::nullopt;
  ParsedName parsed;
  KernelConfig& config = parsed.config;
  config.family = Family::wgmma;
  config.flavor = Flavor::cutlass;
  config.layout = Layout::nt;
  const DataType in = types->in;
  config.dtype_in = in;
  config.dtype_acc = types->acc;
  config.dtype_out = in == DataType::bf16 ? in : bytes_of(in) <= 2 ? DataType::f16 : types->acc;
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  config.cluster_m = (*cluster)[0];
  config.cluster_n = (*cluster)[1];
  config.schedule = schedule;
  return parsed;
}

}  // namespace

Reading read_own(const Tokens& tokens) {
  for (const auto reader : {read_naive, read_op_mm, read_blocked, read_mma, read_wgmma})
    if (std::optional<ParsedName> parsed = reader(tokens)) return *std::move(parsed);
  return std::nullopt;
}

}  // namespace noteg::kernels::names
