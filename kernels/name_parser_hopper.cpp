// Names of Hopper's library kernels: nvjet_sm90_* of cuBLAS 12 and 13, cutlass3x_sm90_* of CUTLASS 3. What a name says
// beyond tile, cluster, schedule and types is refused by name, for it may change the kernel.
#include <algorithm>

#include "kernels/name_tokens.hpp"

namespace noteg::kernels {
namespace {

Diagnostic part(std::string expected, std::string_view found) {
  return {"", 0, 0, "kernel_name", std::move(expected), "\"" + std::string(found) + "\""};
}

// Rows of a warpgroup's multiplication are 64; its columns lie along the other side of the tile.
constexpr int group_rows = 64;

// ---- nvjet_sm90_hsh_160x256_64x4_2x1_v_bz_coopA_TNN

std::optional<DataType> nvjet_type(char letter) {
  switch (letter) {
    case 'h': return DataType::f16;
    case 't': return DataType::bf16;
    case 's': return DataType::f32;
    default: return std::nullopt;
  }
}

// The library's own frame: the first extent of tile and cluster runs along its M, which is our N. The last letter of
// the layout tells which of its operands gives the 64 rows of a multiplication: the first in TNT, the second in TNN
// (H200M: tiles of 72, 96, 112, 144 and 160 come first in TNN, of 8, 16, 48, 72 and 160 second in TNT). coopA: two
// warpgroups halve the tile along those rows; coopB: along its columns; neither: they take tiles in turns.
struct NvjetParts {
  std::vector<int> tile, depth, cluster;
  bool splits_k = false, halves_rows = false, halves_columns = false, first_gives_rows = false;
};

std::optional<Diagnostic> read_nvjet_flags(const Tokens& t, NvjetParts& parts) {
  if (t[6] != "h" && t[6] != "v") return part("an nvjet kernel's order of tiles, h or v", t[6]);
  if (t[7] != "bz") return part("an nvjet kernel without C, bz", t[7]);
  for (std::size_t i = 8; i + 1 < t.size(); ++i) {
    if (t[i] == "splitK")
      parts.splits_k = true;
    else if (t[i] == "coopA")
      parts.halves_rows = true;
    else if (t[i] == "coopB")
      parts.halves_columns = true;
    else
      return part("a part of nvjet names that is modelled: splitK, coopA or coopB", t[i]);
  }
  if (t.back() != "TNN" && t.back() != "TNT")
    return part("an nvjet kernel of operands that lie along K, TNN or TNT", t.back());
  parts.first_gives_rows = t.back() == "TNT";
  return std::nullopt;
}

Result<ParsedName> nvjet_kernel(const Tokens& t, const NvjetParts& parts) {
  ParsedName parsed;
  parsed.swapped = true;
  KernelConfig& config = parsed.config;
  config.family = Family::wgmma;
  config.flavor = Flavor::xmma;
  config.layout = Layout::nt;
  const auto in = nvjet_type(t[2][0]), acc = nvjet_type(t[2][1]), out = nvjet_type(t[2][2]);
  config.dtype_in = *in;
  config.dtype_acc = *acc;
  config.dtype_out = *out;
  set_tile(parsed, parts.tile[0], parts.tile[1], parts.depth[0]);
  config.stages = parts.depth[1];
  config.cluster_n = parts.cluster[0];
  config.cluster_m = parts.cluster[1];
  config.persistent = true;
  config.schedule = parts.halves_rows || parts.halves_columns ? Schedule::coop : Schedule::pingpong;
  config.raster = t[6] == "h" ? Raster::along_m : Raster::along_n;
  const int columns = (parts.first_gives_rows ? config.tile.m : config.tile.n) / (parts.halves_columns ? 2 : 1);
  const int step = static_cast<int>(32 / bytes_of(*in));
  config.instruction = parts.first_gives_rows ? Tile{columns, group_rows, step} : Tile{group_rows, columns, step};
  if (parts.splits_k) config.split_k_mode = SplitKMode::parallel;  // a second kernel adds (H200M: splitKreduce_kernel)
  return parsed;
}

Result<ParsedName> parse_nvjet(const Tokens& t) {
  if (t.size() < 9 || t[1] != "sm90")
    return part("an nvjet name such as nvjet_sm90_hsh_128x256_64x4_1x2_h_bz_coopA_TNN", t.size() < 2 ? t[0] : t[1]);
  const auto in = t[2].size() == 3 ? nvjet_type(t[2][0]) : std::nullopt;
  if (!in || *in == DataType::f32 || t[2][1] != 's' || !nvjet_type(t[2][2]))
    return part("types of an nvjet kernel that are modelled: h or t (f16, bf16), s (adds in f32), then h, t or s",
                t[2]);
  const auto tile = extents(t[3], 2), depth = extents(t[4], 2), cluster = extents(t[5], 2);
  if (!tile) return part("an nvjet kernel's tile, for example 128x256", t[3]);
  if (!depth) return part("an nvjet kernel's depth and stages, for example 64x4", t[4]);
  if (!cluster) return part("an nvjet kernel's cluster, for example 2x1", t[5]);
  NvjetParts parts{*tile, *depth, *cluster};
  if (const auto mistake = read_nvjet_flags(t, parts)) return *mistake;
  return nvjet_kernel(t, parts);
}

// ---- cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8
//      _warpspecialized_pingpong_epi_tma

// s64x128x16gemm, i64x128x32gemm, s64x128x8tf32gemm, s64x128x32spgemm
std::optional<Tile> cutlass_instruction(std::string_view token) {
  if (!token.ends_with("gemm") || token.empty()) return std::nullopt;
  token.remove_suffix(4);
  for (const std::string_view kind : {"tf32", "sp"})
    if (token.ends_with(kind)) token.remove_suffix(kind.size());
  const auto shape = extents(token.substr(1), 3);
  if (!shape || (*shape)[0] != group_rows) return std::nullopt;
  return Tile{(*shape)[0], (*shape)[1], (*shape)[2]};
}

std::optional<DataType> cutlass_type(std::string_view token) {
  if (token == "void") return DataType::f32;  // no C
  return data_type_from(token);
}

// "", warpspecialized, warpspecialized_cooperative, warpspecialized_pingpong, then epi_tma.
std::optional<Diagnostic> read_cutlass_schedule(const Tokens& t, std::size_t at, KernelConfig& config) {
  if (at < t.size() && t[at] == "stream")
    return part("a CUTLASS 3 kernel that cuts no tile in two (stream-K is not modelled)", "stream_k");
  if (at >= t.size() || t[at] != "warpspecialized")
    return part("a CUTLASS 3 schedule that is modelled: warpspecialized[_cooperative or _pingpong]",
                at < t.size() ? t[at] : "the end of the name");
  config.schedule = Schedule::ws;
  for (++at; at < t.size(); ++at) {
    if (t[at] == "cooperative")
      config.schedule = Schedule::coop;
    else if (t[at] == "pingpong")
      config.schedule = Schedule::pingpong;
    else if (t[at] == "epi" && at + 1 < t.size() && t[at + 1] == "tma")
      ++at;
    else
      return part("a part of CUTLASS 3 schedules that is modelled: cooperative, pingpong or epi_tma",
                  t[at] == "epi" && at + 1 < t.size() ? t[at + 1] : t[at]);
  }
  return std::nullopt;
}

Result<ParsedName> parse_cutlass3(const Tokens& t) {
  if (t.size() < 14 || t[1] != "sm90" || (t[2] != "tensorop" && t[2] != "sptensorop"))
    return part("a CUTLASS 3 name of tensor operations for sm90, down to its alignment", t.size() < 3 ? t[0] : t[2]);
  const auto instruction = cutlass_instruction(t[3]);
  const auto a = cutlass_type(t[4]), b = cutlass_type(t[5]), acc = cutlass_type(t[6]), out = cutlass_type(t[8]);
  const auto tile = extents(t[9], 3), cluster = extents(t[10], 3);
  const auto align = prefixed(t[13], "align", 1);
  if (!instruction) return part("a warpgroup instruction such as s64x128x16gemm", t[3]);
  if (!a || !b || *a != *b)
    return part("two operands of one type that is known", std::string(t[4]) + "_" + std::string(t[5]));
  if (!acc || !out) return part("known types of accumulator and result", std::string(t[6]) + "_" + std::string(t[8]));
  if (!tile || !cluster || (*cluster)[2] != 1)
    return part("a tile and a flat cluster, for example 128x128x64_2x1x1", t[9]);
  if (t[12].size() != 3 || (t[12][2] != 'n' && t[12][2] != 't') || !align)
    return part("three letters of layout and an alignment, for example tnn_align8", t[12]);
  ParsedName parsed;
  parsed.swapped = t[12][2] == 'n';  // C by columns is the transpose of ours by rows
  KernelConfig& config = parsed.config;
  const auto layout = layout_from_blas(t[12].substr(0, 2), parsed.swapped);
  if (!layout) return part("letters of layout t or n", t[12]);
  config.family = Family::wgmma;
  config.flavor = Flavor::cutlass;
  config.layout = *layout;
  config.dtype_in = *a == DataType::f32 ? DataType::tf32 : *a;
  config.dtype_acc = *acc;
  config.dtype_out = *out;
  config.sparse = t[2] == "sptensorop";
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  config.instruction = parsed.swapped ? Tile{instruction->n, instruction->m, instruction->k} : *instruction;
  config.cluster_m = parsed.swapped ? (*cluster)[1] : (*cluster)[0];
  config.cluster_n = parsed.swapped ? (*cluster)[0] : (*cluster)[1];
  if (t[11] != "0") {  // 0: as many as fit
    const auto stages = extents(t[11], 1);
    if (!stages) return part("a number of stages", t[11]);
    config.stages = (*stages)[0];
  }
  config.align_a = config.align_b = (*align)[0];
  if (const auto mistake = read_cutlass_schedule(t, 14, config)) return *mistake;
  return parsed;
}

}  // namespace

std::optional<Result<ParsedName>> parse_hopper_name(const Tokens& tokens) {
  if (tokens[0] == "nvjet") return parse_nvjet(tokens);
  if (tokens[0] == "cutlass3x") return parse_cutlass3(tokens);
  return std::nullopt;
}

}  // namespace noteg::kernels
