// Kernels that cuBLAS 12 and 13 generate for Hopper: nvjet_sm90_hsh_160x256_64x4_2x1_v_bz_coopA_TNN, before cuBLAS 13
// without the generation: nvjet_hsh_160x256_64x4_2x1_v_bz_coopA_TNN.
#include "kernels/names/library_name.hpp"
#include "kernels/names/tokens.hpp"
#include "sim/support/nearest_name.hpp"

namespace noteg::kernels::names {
namespace {

constexpr int group_rows = 64;     // of a warpgroup's multiplication
constexpr int most_columns = 256;  // of it; its columns lie along the other side of the tile

std::optional<DataType> type_of(char letter) {
  switch (letter) {
    case 'h': return DataType::f16;
    case 't': return DataType::bf16;
    case 's': return DataType::f32;
    case 'q': return DataType::f8e4m3;
    default: return std::nullopt;
  }
}

// hsh: A and B, sum, C. qqtst: A, B, C, sum, D. sss_tf32: f32 multiplied as tf32.
std::optional<Diagnostic> read_types(std::string_view letters, bool as_tf32, KernelConfig& config) {
  const bool long_form = letters.size() == 5;
  const auto in = letters.empty() ? std::nullopt : type_of(letters[0]);
  const auto out = letters.empty() ? std::nullopt : type_of(letters.back());
  const bool known = (letters.size() == 3 || (long_form && letters[0] == letters[1])) && in && out &&
                     letters[letters.size() - 2] == 's' && out != DataType::f8e4m3 && as_tf32 == (in == DataType::f32);
  if (!known)
    return refused_part(
        "types of an nvjet kernel that are modelled: h or t (f16, bf16) or qq_ (e4m3), s (adds in f32), then h, t or s",
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
};

std::optional<Diagnostic> read_extents(const Tokens& t, std::size_t at, Parts& parts) {
  const auto tile = extents(t[at], 2), depth = extents(t[at + 1], 2), cluster = extents(t[at + 2], 2);
  if (!tile) return refused_part("an nvjet kernel's tile, for example 128x256", t[at]);
  if (!depth) return refused_part("an nvjet kernel's depth and stages, for example 64x4", t[at + 1]);
  if (!cluster) return refused_part("an nvjet kernel's cluster, for example 2x1", t[at + 2]);
  parts = {*tile, *depth, *cluster, t.back(), false, false};
  return std::nullopt;
}

bool is_operand_letter(char letter) { return letter == 'N' || letter == 'T'; }

// h or v; bz (beta is zero) or badd (C is added); coopA: two warpgroups halve the tile along its rows, coopB: along its
// columns, neither: they take tiles in turns; splitK: a second kernel adds (H200M: splitKreduce_kernel); bias.
std::optional<Diagnostic> read_flags(const Tokens& t, std::size_t at, Parts& parts, KernelConfig& config) {
  if (t[at] == "2cta" || t[at] == "1cta")
    return refused_part("an nvjet kernel of Hopper (pairs of CTAs are Blackwell's)", t[at]);
  if (t[at] != "h" && t[at] != "v") return refused_part("an nvjet kernel's order of tiles, h or v", t[at]);
  config.raster = t[at] == "h" ? Raster::along_m : Raster::along_n;
  for (++at; at + 1 < t.size(); ++at) {
    if (t[at] == "bz") continue;
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
  const int columns = (first_gives_rows ? config.tile.m : config.tile.n) / (parts.halves_columns ? 2 : 1);
  if (columns > most_columns)
    return refused_part("an nvjet tile of at most 256 columns per multiplication (wider ones take several)",
                        std::to_string(columns));
  const int step = static_cast<int>(32 / bytes_of(config.dtype_in));
  config.instruction = first_gives_rows ? Tile{columns, group_rows, step} : Tile{group_rows, columns, step};
  return std::nullopt;
}

}  // namespace

Reading read_nvjet(const Tokens& t) {
  if (t[0] != "nvjet") return std::nullopt;
  std::size_t at = 1;
  if (at < t.size() && t[at].starts_with("sm")) {
    if (t[at] != "sm90")
      return refused_part(
          "an nvjet kernel of Hopper, sm90 (Blackwell's tensor memory and its multiplications are not modelled)",
          t[at]);
    ++at;
  }
  const bool as_tf32 = at + 1 < t.size() && t[at + 1] == "tf32";
  if (t.size() < at + (as_tf32 ? 8 : 7))
    return refused_part("an nvjet name such as nvjet_sm90_hsh_128x256_64x4_1x2_h_bz_coopA_TNN", t.back());
  ParsedName parsed;
  parsed.swapped = true;
  KernelConfig& config = parsed.config;
  config.family = Family::wgmma;
  config.flavor = Flavor::xmma;
  config.persistent = true;
  if (const auto mistake = read_types(t[at], as_tf32, config)) return *mistake;
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
  config.schedule = parts.halves_rows || parts.halves_columns ? Schedule::coop : Schedule::pingpong;
  if (const auto mistake = set_multiplication(parts, config)) return *mistake;
  return parsed;
}

}  // namespace noteg::kernels::names
