// Kernels of NVIDIA's xmma generator, shipped in cuBLAS:
// sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_tensor16x8x16_execute_kernel__5x_cublas
// sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas
// The letters are those of the transposed problem, tiles lie along the row-major M and N, and CTAs
// follow each other along that M (NeuSight: the grids of 1254 launches); warpsize counts warps.
#include <algorithm>
#include <array>

#include "kernels/names/tokens.hpp"

namespace noteg::kernels::names {
namespace {

// Two types in one word: bf16f32, e4m3bf16, i8i32.
struct TypePair {
  DataType first = DataType::f32, second = DataType::f32;
};

std::optional<DataType> one_type(std::string_view word) {
  if (word == "i8") return DataType::s8;
  if (word == "i32") return DataType::s32;
  static constexpr std::array known{"f32", "tf32", "f16", "bf16", "e4m3", "e5m2"};
  return std::find(known.begin(), known.end(), word) == known.end() ? std::nullopt : data_type_from(word);
}

std::optional<TypePair> type_pair(std::string_view word) {
  for (std::size_t cut = 2; cut + 2 <= word.size(); ++cut) {
    const auto first = one_type(word.substr(0, cut)), second = one_type(word.substr(cut));
    if (first && second) return TypePair{*first, *second};
  }
  return std::nullopt;
}

// A and C; what is multiplied and added; then the type of alpha and beta. f32 operands run as they are, or as tf32.
std::optional<Diagnostic> read_xmma_types(const Tokens& t, KernelConfig& config) {
  const auto stored = type_pair(t[3]), computed = type_pair(t[4]);
  if (!stored || !computed || !one_type(t[5]))
    return refused_part("types such as bf16bf16_bf16f32_f32 (A and C, product and sum, alpha)", !stored     ? t[3]
                                                                                                : !computed ? t[4]
                                                                                                            : t[5]);
  const bool as_stored = stored->first == computed->first;
  const bool as_tf32 = computed->first == DataType::tf32 && stored->first == DataType::f32;
  if (!as_stored && !as_tf32)
    return refused_part("operands of a type that is multiplied as it lies in memory, or f32 as tf32",
                        std::string(t[3]) + "_" + std::string(t[4]));
  config.dtype_in = computed->first;
  config.dtype_acc = computed->second;
  config.dtype_out = stored->second == DataType::tf32 ? DataType::f32 : stored->second;
  return std::nullopt;
}

struct Counts {
  std::optional<std::vector<int>> warps, groups;
  bool ffma = false;
};

// From behind the tile to "execute": stage4, warpsize2x2x1, cgasize2x1x1, tensor16x8x16, aligna4, bias.
Result<std::size_t> read_parts(const Tokens& t, std::size_t at, KernelConfig& config, Counts& counts) {
  for (; at < t.size() && t[at] != "execute" && t[at] != "kernel"; ++at) {
    const double element = bytes_of(config.dtype_in);
    const auto elements = [element](int bytes) { return std::max(1, static_cast<int>(bytes / element)); };
    if (const auto stages = prefixed(t[at], "stage", 1)) {
      config.stages = (*stages)[0];
    } else if (const auto groups = prefixed(t[at], "warpgroupsize", 3)) {
      counts.groups = groups;
    } else if (const auto warps = prefixed(t[at], "warpsize", 3)) {
      counts.warps = warps;
    } else if (const auto cluster = prefixed(t[at], "cgasize", 3); cluster && (*cluster)[2] == 1) {
      config.cluster_m = (*cluster)[0];
      config.cluster_n = (*cluster)[1];
    } else if (const auto shape = prefixed(t[at], "tensor", 3)) {
      config.instruction = {(*shape)[0], (*shape)[1], (*shape)[2]};
    } else if (const auto a = prefixed(t[at], "aligna", 1)) {  // in bytes: 4 takes any leading dimension of f32
      config.align_a = config.align_b = elements((*a)[0]);
    } else if (const auto c = prefixed(t[at], "alignc", 1)) {
      config.align_c = std::max(1, static_cast<int>((*c)[0] / bytes_of(config.dtype_out)));
    } else if (t[at] == "ffma") {
      counts.ffma = true;
    } else if (t[at] == "bias" && at + 1 < t.size() && one_type(t[at + 1])) {
      config.bias = true;
      ++at;
    } else if (t[at] != "relu") {  // cuts at zero: no time of its own
      return refused_part(
          "a part of xmma names that is modelled: stage, warpsize, warpgroupsize, cgasize, tensor, "
          "aligna, alignc, ffma, bias or relu",
          t[at]);
    }
  }
  if (at == t.size()) return refused_part("a whole xmma name, down to execute_kernel", t.back());
  return at;
}

// Cut to warps of 32 threads; the third count slices the tile's K.
std::optional<Diagnostic> set_warps(const Counts& counts, KernelConfig& config) {
  if (!counts.warps || !config.stages) return refused_part("stages and warps, stage4_warpsize2x2x1", "neither");
  const std::vector<int>& warps = *counts.warps;
  if (*std::max_element(warps.begin(), warps.end()) > 32 || config.tile.m % warps[0] != 0 ||
      config.tile.n % warps[1] != 0)
    return refused_part("a number of warps that divides the tile", "warpsize" + std::to_string(warps[0]));
  config.warp_m = config.tile.m / warps[0];
  config.warp_n = config.tile.n / warps[1];
  config.sliced_k = warps[2];
  config.threads = 32 * warps[0] * warps[1] * warps[2];
  return std::nullopt;
}

// H200M: 384 threads whatever the name says, so one group per tile means two that take tiles in turns.
std::optional<Diagnostic> set_groups(const Counts& counts, KernelConfig& config) {
  if (!counts.groups) return refused_part("warpgroups of a tile, warpgroupsize1x1x1 or 2x1x1", "none");
  const std::vector<int>& groups = *counts.groups;
  if (groups[0] > 2 || groups[1] != 1 || groups[2] != 1)
    return refused_part("warpgroups that share a tile's rows, warpgroupsize1x1x1 or 2x1x1",
                        "warpgroupsize" + std::to_string(groups[0]) + "x" + std::to_string(groups[1]) + "x" +
                            std::to_string(groups[2]));
  config.instruction = {};  // tensor64x128x32 repeats the tile's columns
  config.schedule = groups[0] == 2 ? Schedule::coop : Schedule::pingpong;
  return std::nullopt;
}

// execute_segment_k_on_kernel: CTAs share the K of a tile and add in turn; execute_split_k_kernel likewise.
bool splits_k(const Tokens& t, std::size_t execute) {
  for (std::size_t i = execute; i + 2 < t.size(); ++i) {
    if (t[i] == "segment" && t[i + 1] == "k" && t[i + 2] == "on") return true;
    if (t[i] == "split" && t[i + 1] == "k") return true;
  }
  return false;
}

bool is_generation(std::string_view token) {
  return token == "sm75" || token == "sm80" || token == "sm86" || token == "sm89" || token == "sm90";
}

}  // namespace

Reading read_xmma(const Tokens& t) {
  if (t.size() < 3 || t[1] != "xmma" || t[2] != "gemm") return std::nullopt;
  if (!is_generation(t[0])) return refused_part("an xmma kernel for sm75 to sm90", t[0]);
  if (t.size() < 9) return refused_part("a whole xmma name, down to execute_kernel", t.back());
  ParsedName parsed;
  KernelConfig& config = parsed.config;
  config.flavor = Flavor::xmma;
  if (const auto mistake = read_xmma_types(t, config)) return *mistake;
  const auto layout = layout_from_blas(t[6], true);
  const auto tile = prefixed(t[8], "tilesize", 3);
  if (!layout || t[7] != "n" || !tile)
    return refused_part("layout and tile such as tn_n_tilesize128x128x32", !layout ? t[6] : t[7] != "n" ? t[7] : t[8]);
  config.layout = *layout;
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  Counts counts;
  const Result<std::size_t> end = read_parts(t, 9, config, counts);
  if (!end) return end.errors();
  const bool hopper = t[0] == "sm90";
  if (const auto mistake = hopper ? set_groups(counts, config) : set_warps(counts, config)) return *mistake;
  if (counts.ffma != (config.dtype_in == DataType::f32 && !hopper) || (hopper && config.dtype_in == DataType::f32))
    return refused_part("f32 with ffma, other types on tensor cores", t[4]);
  config.family = hopper ? Family::wgmma : counts.ffma ? Family::simt : Family::mma;
  if (splits_k(t, *end)) config.split_k_mode = SplitKMode::serial;
  return parsed;
}

}  // namespace noteg::kernels::names
