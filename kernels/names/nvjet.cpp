// Kernels that cuBLAS 12 and 13 generate for Hopper and for the Blackwell of data centres:
// nvjet_sm90_hsh_160x256_64x4_2x1_v_bz_coopA_TNN, before cuBLAS 13 without the generation,
// nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT, with block scales
// nvjet_sm100_ootst_128x128_256x7_4x1_2cta_v_bx_Avec16UE4M3_Bvec16UE4M3_TNT. The tile is that of one CTA: of a pair
// each has half of one operand, as its stages show (six of 32 KiB in the second).
#include "kernels/config/config_file.hpp"
#include "kernels/families/family.hpp"
#include "kernels/names/tokens.hpp"
#include "sim/support/text.hpp"

namespace noteg::kernels::names {
namespace {

constexpr int warpgroup_rows = 64;  // of a warpgroup's multiplication
constexpr int most_columns = 256;   // of it; its columns lie along the other side of the tile

std::optional<DataType> type_of(char letter) {
  switch (letter) {
    case 'h': return DataType::f16;
    case 't': return DataType::bf16;
    case 's': return DataType::f32;
    case 'q': return DataType::f8e4m3;
    case 'o': return DataType::nvfp4;
    default: return std::nullopt;
  }
}

// hsh: A and B, sum, C. qqtst: A, B, C, sum, D. sss_tf32: f32 multiplied as tf32.
std::optional<Diagnostic> read_types(std::string_view letters, bool as_tf32, KernelConfig& config) {
  const bool long_form = letters.size() == 5;
  const auto in = letters.empty() ? std::nullopt : type_of(letters[0]);
  const auto out = letters.empty() ? std::nullopt : type_of(letters.back());
  const bool known = (letters.size() == 3 || (long_form && letters[0] == letters[1])) && in && out &&
                     letters[letters.size() - 2] == 's' && bytes_of(*out) >= 2 && as_tf32 == (in == DataType::f32);
  if (!known)
    return refused_part(
        "types of an nvjet kernel that are modelled: h or t (f16, bf16) or qq_ (e4m3) or oo_ (nvfp4), s (adds in f32), "
        "then h, t or s",
        letters);
  config.dtype_in = as_tf32 ? DataType::tf32 : *in;
  config.dtype_acc = DataType::f32;
  config.dtype_out = *out;
  return std::nullopt;
}

// The library's own frame: the first extent of tile and cluster runs along its M, which is our N.
struct Parts {
  std::vector<int> tile, depth, cluster;
  std::string_view layout;
  bool halves_rows = false, halves_columns = false;
  bool pair = false;  // of CTAs, on Blackwell
};

std::optional<Diagnostic> read_extents(const Tokens& t, std::size_t at, Parts& parts) {
  const auto tile = extents(t[at], 2), depth = extents(t[at + 1], 2), cluster = extents(t[at + 2], 2);
  if (!tile) return refused_part("an nvjet kernel's tile, for example 128x256", t[at]);
  if (!depth) return refused_part("an nvjet kernel's depth and stages, for example 64x4", t[at + 1]);
  if (!cluster) return refused_part("an nvjet kernel's cluster, for example 2x1", t[at + 2]);
  parts = {*tile, *depth, *cluster, t.back(), false, false, false};
  return std::nullopt;
}

bool is_operand_letter(char letter) { return letter == 'N' || letter == 'T'; }

// h or v: CTAs go along our M in bands of eight and then along N, or the other way round (sectors that the SMs ask for
// in 57 launches on our H100 are 12 % from the model's so, 17 % the other way; small grids of v had 36 and 62 % too
// many); bz (beta is zero) or badd (C is added); coopA: two warpgroups halve the tile along its rows, coopB: along its
// columns, neither: they take tiles in turns; splitK: a second kernel adds (H200M: splitKreduce_kernel); bias; algo2:
// 8-bit floats whose k tiles are added in FP32 (the kernels of cuBLAS 13.0 that do not add fast, on our H100).
std::optional<Diagnostic> read_flags(const Tokens& t, std::size_t at, Parts& parts, KernelConfig& config) {
  if (multiplies_in_tensor_memory(config) && (t[at] == "2cta" || t[at] == "1cta"))
    parts.pair = t[at++] == "2cta";
  else if (t[at] == "2cta" || t[at] == "1cta")
    return refused_part("an nvjet kernel of Hopper (pairs of CTAs are Blackwell's)", t[at]);
  if (t[at] != "h" && t[at] != "v") return refused_part("an nvjet kernel's order of tiles, h or v", t[at]);
  config.raster = t[at] == "h" ? Raster::along_n : Raster::along_m;
  for (++at; at + 1 < t.size(); ++at) {
    if (t[at] == "bz" || t[at] == "bx" || t[at].starts_with("Avec") || t[at].starts_with("Bvec")) continue;
    if (t[at] == "algo2" && bytes_of(config.dtype_in) < 2) continue;
    if (t[at] == "badd")
      config.reads_c = true;
    else if (t[at] == "splitK")
      config.split_k_mode = SplitKMode::parallel;
    else if (t[at] == "coopA")
      parts.halves_rows = true;
    else if (t[at] == "coopB")
      parts.halves_columns = true;
    else if (t[at] == "bias")
      config.bias = true;
    else
      return refused_part("a part of nvjet names that is modelled: bz, badd, splitK, coopA, coopB or bias", t[at]);
  }
  const std::string_view letters = t.back();
  if (letters.size() != 3 || !is_operand_letter(letters[0]) || !is_operand_letter(letters[1]) ||
      !is_operand_letter(letters[2]))
    return refused_part("three letters at the end of an nvjet name, for example TNN", letters);
  return std::nullopt;
}

// The last letter of the layout tells which operand gives the 64 rows of a multiplication: the first with T, the second
// with N (H200M, and the multiplications of NNT, NTN and NNN kernels that nvFuser's authors list).
std::optional<Diagnostic> set_multiplication(const Parts& parts, KernelConfig& config) {
  const bool first_gives_rows = parts.layout[2] == 'T';
  if (multiplies_in_tensor_memory(config)) {  // the first operand lies along our N
    const int share = parts.pair ? 2 : 1;
    config.instruction = {config.tile.m * (first_gives_rows ? 1 : share),
                          config.tile.n * (first_gives_rows ? share : 1),
                          static_cast<int>(32 / bytes_of(config.dtype_in))};
    return std::nullopt;
  }
  const int columns = (first_gives_rows ? config.tile.m : config.tile.n) / (parts.halves_columns ? 2 : 1);
  if (columns > most_columns)
    return refused_part("an nvjet tile of at most 256 columns per multiplication (wider ones take several)",
                        std::to_string(columns));
  const int step = static_cast<int>(32 / bytes_of(config.dtype_in));
  config.instruction = first_gives_rows ? Tile{columns, warpgroup_rows, step} : Tile{warpgroup_rows, columns, step};
  return std::nullopt;
}

// nvjet_sm120_tst_mma_64x128x64_8_32x64x64_tmaAB_bz_TNNN: mma.sync; CTA tile, stages, warp tile, what TMA brings.
Result<ParsedName> read_nvjet_mma(const Tokens& t) {
  if (t.size() < 9 || t[3] != "mma")
    return refused_part("an nvjet name of sm120 such as nvjet_sm120_tst_mma_64x128x64_8_32x64x64_tmaAB_bz_TNNN",
                        t.back());
  ParsedName parsed;
  parsed.swapped = true;
  KernelConfig& config = parsed.config;
  config.family = Family::mma;
  config.flavor = Flavor::xmma;
  if (const auto mistake = read_types(t[2], false, config)) return *mistake;
  const auto tile = extents(t[4], 3), stages = extents(t[5], 1), warp = extents(t[6], 3);
  if (!tile) return refused_part("a tile, for example 64x128x64", t[4]);
  if (!stages) return refused_part("a number of stages", t[5]);
  if (!warp) return refused_part("a warp tile, for example 32x64x64", t[6]);
  const std::string_view letters = t.back();
  const auto layout = letters.size() == 4 ? layout_from_blas(to_lower(letters.substr(0, 2)), true) : std::nullopt;
  if (!layout) return refused_part("four letters at the end, for example TNNN", letters);
  config.layout = *layout;
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  config.stages = (*stages)[0];
  config.warp_m = (*warp)[1];
  config.warp_n = (*warp)[0];
  config.swizzle_log2 = nvjet_band_log2;
  config.async_copy = true;  // bulk copies; the model's are of single threads
  return parsed;
}

}  // namespace

Reading read_nvjet(const Tokens& t) {
  if (t[0] != "nvjet") return std::nullopt;
  if (t.size() > 3 && t[1] == "sm120") return read_nvjet_mma(t);
  std::size_t at = 1;
  bool is_blackwell = false;
  if (at < t.size() && t[at].starts_with("sm")) {
    is_blackwell = t[at] == "sm100" || t[at] == "sm103";
    if (t[at] != "sm90" && !is_blackwell) return refused_part("an nvjet kernel of sm90, sm100, sm103 or sm120", t[at]);
    ++at;
  }
  const bool as_tf32 = at + 1 < t.size() && t[at + 1] == "tf32";
  if (t.size() < at + (as_tf32 ? 8 : 7))
    return refused_part("an nvjet name such as nvjet_sm90_hsh_128x256_64x4_1x2_h_bz_coopA_TNN", t.back());
  ParsedName parsed;
  parsed.swapped = true;
  KernelConfig& config = parsed.config;
  config.family = is_blackwell ? Family::tcgen05 : Family::wgmma;
  config.flavor = Flavor::xmma;
  config.persistent = true;
  if (const auto mistake = read_types(t[at], as_tf32, config)) return *mistake;
  if (config.dtype_in == DataType::nvfp4 && !is_blackwell)
    return refused_part("types of an nvjet kernel of Hopper, which has no 4-bit floats", t[at]);
  at += as_tf32 ? 2 : 1;
  Parts parts;
  if (const auto mistake = read_extents(t, at, parts)) return *mistake;
  if (const auto mistake = read_flags(t, at + 3, parts, config)) return *mistake;
  config.layout = *layout_from_blas(to_lower(parts.layout.substr(0, 2)), true);
  set_tile(parsed, parts.tile[0], parts.tile[1], parts.depth[0]);
  config.stages = parts.depth[1];
  config.swizzle_log2 = nvjet_band_log2;
  config.cluster_n = parts.cluster[0];
  config.cluster_m = parts.cluster[1];
  if (!is_blackwell) config.schedule = parts.halves_rows || parts.halves_columns ? Schedule::coop : Schedule::pingpong;
  if (const auto mistake = set_multiplication(parts, config)) return *mistake;
  return parsed;
}

}  // namespace noteg::kernels::names
