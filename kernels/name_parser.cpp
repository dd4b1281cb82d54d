// Kernel names of the FFMA families. Each parser takes the whole name or nothing: a name with a part that is not
// understood is refused, for that part may change the kernel.
#include <algorithm>
#include <charconv>

#include "kernels/config.hpp"
#include "kernels/name_tokens.hpp"

namespace noteg::kernels {
namespace {

constexpr std::size_t longest_name = 512;

// naive_tiled_sgemm_t16, naive_static_sgemm_t16: the tile an argument or a constant
std::optional<ParsedName> parse_naive(const Tokens& t) {
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
std::optional<ParsedName> parse_op_mm(const Tokens& t) {
  if (t.size() != 3 || t[0] != "op" || t[1] != "mm" || t[2] != "kernel") return std::nullopt;
  ParsedName parsed;
  parsed.config.family = Family::naive;
  return parsed;
}

// blocked_sgemm_128x64x16_t8x4_db
std::optional<ParsedName> parse_blocked(const Tokens& t) {
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

// cutlass_simt_sgemm_128x128_8x4_tn_align1 (CUTLASS: own frame) and cutlass_80_simt_sgemm_... (shipped in cuBLAS:
// the transposed problem).
std::optional<ParsedName> parse_cutlass_simt(const Tokens& t) {
  if (t.size() < 2 || t[0] != "cutlass") return std::nullopt;
  const bool shipped = t[1] == "80";
  const std::size_t i = shipped ? 2 : 1;
  if (t.size() != i + 6 || t[i] != "simt" || t[i + 1] != "sgemm") return std::nullopt;
  const auto tile = extents(t[i + 2], 2);
  const auto depth = extents(t[i + 3], 2);
  const auto layout = layout_from_blas(t[i + 4], shipped);
  const auto align = prefixed(t[i + 5], "align", 1);
  if (!tile || !depth || !layout || !align) return std::nullopt;
  ParsedName parsed;
  parsed.swapped = shipped;
  parsed.config.flavor = Flavor::cutlass;
  parsed.config.layout = *layout;
  set_tile(parsed, (*tile)[0], (*tile)[1], (*depth)[0]);
  parsed.config.stages = (*depth)[1];
  parsed.config.align_a = parsed.config.align_b = (*align)[0];
  return parsed;
}

// ampere_sgemm_128x64_tn, ampere_sgemm_32x32_sliced1x4_nn
std::optional<ParsedName> parse_cublas(const Tokens& t) {
  if (t.size() < 4 || t.size() > 5 || t[0] != "ampere" || t[1] != "sgemm") return std::nullopt;
  const auto tile = extents(t[2], 2);
  const auto layout = layout_from_blas(t.back(), true);
  if (!tile || !layout) return std::nullopt;
  ParsedName parsed;
  parsed.swapped = true;
  parsed.config.flavor = Flavor::cublas;
  parsed.config.layout = *layout;
  set_tile(parsed, (*tile)[0], (*tile)[1], 0);
  if (t.size() == 5) {
    const auto slices = prefixed(t[3], "sliced", 2);
    if (!slices || (*slices)[0] != 1) return std::nullopt;
    parsed.config.sliced_k = (*slices)[1];
  }
  return parsed;
}

// sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_...
// The letters are those of the transposed problem, the tile is along the row-major M and N; warpsize counts warps.
std::optional<ParsedName> parse_xmma(const Tokens& t) {
  if (t.size() < 15 || t[0] != "sm80" || t[1] != "xmma" || t[2] != "gemm") return std::nullopt;
  if (t[3] != "f32f32" || t[4] != "f32f32" || t[5] != "f32" || t[7] != "n" || t[11] != "ffma") return std::nullopt;
  const auto layout = layout_from_blas(t[6], true);
  const auto tile = prefixed(t[8], "tilesize", 3);
  const auto stages = prefixed(t[9], "stage", 1);
  const auto warps = prefixed(t[10], "warpsize", 3);
  if (!layout || !tile || !stages || !warps || t[14] != "execute") return std::nullopt;
  const auto align_a = prefixed(t[12], "aligna", 1);
  const auto align_c = prefixed(t[13], "alignc", 1);
  if (!align_a || !align_c) return std::nullopt;
  const int per_cta = *std::max_element(warps->begin(), warps->end());
  if (per_cta > 32 || (*tile)[0] % (*warps)[0] != 0 || (*tile)[1] % (*warps)[1] != 0) return std::nullopt;
  ParsedName parsed;
  KernelConfig& config = parsed.config;
  config.flavor = Flavor::xmma;
  config.layout = *layout;
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  config.stages = (*stages)[0];
  config.warp_m = (*tile)[0] / (*warps)[0];
  config.warp_n = (*tile)[1] / (*warps)[1];
  config.sliced_k = (*warps)[2];
  config.threads = 32 * (*warps)[0] * (*warps)[1] * (*warps)[2];
  // xmma counts alignment in bytes: aligna4 takes any f32 leading dimension.
  config.align_a = config.align_b = std::max(1, (*align_a)[0] / 4);
  config.align_c = std::max(1, (*align_c)[0] / 4);
  return parsed;
}

// "void cutlass::Kernel2<NAME>(NAME::Params)", as the CUDA tools print templates: NAME.
std::string_view inner_name(std::string_view name) {
  const std::size_t open = name.find("cutlass::Kernel");
  if (open == std::string_view::npos) return name;
  const std::size_t from = name.find('<', open);
  const std::size_t to = name.find('>', open);
  if (from == std::string_view::npos || to == std::string_view::npos || to < from) return name;
  return name.substr(from + 1, to - from - 1);
}

Diagnostic not_understood(std::string found) {
  return {"",
          0,
          0,
          "kernel_name",
          "a kernel name such as ampere_sgemm_128x64_tn or cutlass_simt_sgemm_128x128_8x4_tn_align1",
          std::move(found)};
}

}  // namespace

Tokens split_name(std::string_view name) {
  Tokens tokens;
  while (true) {
    const std::size_t end = name.find('_');
    tokens.push_back(name.substr(0, end));
    if (end == std::string_view::npos) return tokens;
    name.remove_prefix(end + 1);
  }
}

std::optional<std::vector<int>> extents(std::string_view token, std::size_t count) {
  std::vector<int> values;
  while (values.size() < count) {
    const bool last = values.size() + 1 == count;
    const std::size_t end = last ? token.size() : token.find('x');
    if (end == std::string_view::npos) return std::nullopt;
    int value = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + end, value);
    if (error != std::errc{} || stop != token.data() + end || value < 1 || value > 99999) return std::nullopt;
    values.push_back(value);
    token.remove_prefix(last ? end : end + 1);
  }
  return values;
}

std::optional<std::vector<int>> prefixed(std::string_view token, std::string_view prefix, std::size_t count) {
  if (!token.starts_with(prefix)) return std::nullopt;
  return extents(token.substr(prefix.size()), count);
}

void set_tile(ParsedName& parsed, int a, int b, int k) {
  parsed.config.tile = parsed.swapped ? Tile{b, a, k} : Tile{a, b, k};
}

Result<ParsedName> parse_kernel_name(std::string_view kernel_name) {
  if (kernel_name.empty()) return not_understood("an empty name");
  if (kernel_name.size() > longest_name)
    return not_understood("a name of " + std::to_string(kernel_name.size()) + " characters");
  if (std::any_of(kernel_name.begin(), kernel_name.end(), [](char c) { return c < ' ' || c > '~'; }))
    return not_understood("a name with bytes that are not printable");
  const Tokens tokens = split_name(inner_name(kernel_name));
  if (std::optional<Result<ParsedName>> parsed = parse_hopper_name(tokens)) {
    if (*parsed) (*parsed)->config.name = std::string(kernel_name);
    return *std::move(parsed);
  }
  for (const auto parser :
       {parse_naive, parse_op_mm, parse_blocked, parse_cutlass_simt, parse_cublas, parse_xmma, parse_tensor_name}) {
    if (std::optional<ParsedName> parsed = parser(tokens)) {
      parsed->config.name = std::string(kernel_name);
      return *std::move(parsed);
    }
  }
  return not_understood("\"" + std::string(kernel_name) + "\"");
}

Result<KernelConfig> config_from_name(std::string_view kernel_name) {
  const Result<ParsedName> parsed = parse_kernel_name(kernel_name);
  if (!parsed) return parsed.errors();
  return parsed->config;
}

}  // namespace noteg::kernels
