// Kernels that cuBLAS brings as hand-scheduled machine code, named after the generation they were first written for:
// ampere_sgemm_128x64_tn, ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn,
// turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn. They run on later generations too.
#include <algorithm>

#include "kernels/names/tokens.hpp"

namespace noteg::kernels::names {
namespace {

// Tiles of cuBLAS have sides of whole matrix instructions, FP32 kernels' too.
std::optional<std::vector<int>> cublas_tile(std::string_view token) {
  auto sides = extents(token, 2);
  if (sides && ((*sides)[0] % 16 != 0 || (*sides)[1] % 16 != 0)) return std::nullopt;
  return sides;
}

constexpr int depth_without_stages = 32;  // of 16-bit kernels that load through registers, as Turing's do

Reading read_sgemm(const Tokens& t) {
  const auto tile = t.size() < 4 || t.size() > 5 ? std::nullopt : cublas_tile(t[2]);
  if (!tile) return refused_part("a cuBLAS name such as ampere_sgemm_128x64_tn", t.size() < 3 ? t.back() : t[2]);
  const auto layout = layout_from_blas(t.back(), true);
  if (!layout) return refused_part("letters of layout nn, nt, tn or tt at the end", t.back());
  ParsedName parsed;
  parsed.swapped = true;
  parsed.config.flavor = Flavor::cublas;
  parsed.config.layout = *layout;
  set_library_frame(parsed);
  set_tile(parsed, (*tile)[0], (*tile)[1], 0);
  if (t.size() == 5) {
    const auto slices = prefixed(t[3], "sliced", 2);
    if (!slices || (*slices)[0] != 1) return refused_part("slices of the tile's K such as sliced1x4", t[3]);
    parsed.config.sliced_k = (*slices)[1];
  }
  return parsed;
}

// What stands between the tile and the layout: sliced1x2, ldg8, relu, f2f, stages_64x5.
std::optional<Diagnostic> read_parts(const Tokens& t, std::size_t from, KernelConfig& config) {
  for (std::size_t i = from; i + 1 < t.size(); ++i) {
    if (const auto slices = prefixed(t[i], "sliced", 2)) {
      config.sliced_k = (*slices)[0] * (*slices)[1];
    } else if (const auto width = prefixed(t[i], "ldg", 1)) {
      config.align_a = config.align_b = (*width)[0];
    } else if (t[i] == "stages" && i + 2 < t.size()) {
      const auto depth = extents(t[++i], 2);
      if (!depth) return refused_part("a depth and stages, for example stages_64x5", t[i]);
      config.tile.k = (*depth)[0];
      config.stages = (*depth)[1];
    } else if (t[i] != "relu" &&
               t[i] != "f2f") {  // able to cut at zero, converts f32 to the type of C: no time of its own
      return refused_part("a part of cuBLAS names that is modelled: slicedAxB, ldgN, relu, f2f or stages_KxS", t[i]);
    }
  }
  return std::nullopt;
}

Reading read_tensor(const Tokens& t, std::size_t at, const InstructionName& instruction) {
  const auto shape = mma_shape(instruction.shape);
  if (!shape)
    return refused_part("a multiplication that is modelled: 1688, 16816 or 16832 (884 is Volta's own)", t[at]);
  const auto named_out = at == 2 ? data_type_from(t[1]) : std::nullopt;
  if (at == 2 && !named_out) return refused_part("the type of C, for example fp16", t[1]);
  std::size_t next = at + 1;
  const auto named_in = next < t.size() ? data_type_from(t[next]) : std::nullopt;
  if (named_in) ++next;
  const auto in = operand_type(instruction, named_in);
  if (!in) return refused_part("operands of a type that the tensor cores take as it lies in memory", t[at]);
  const auto tile = next < t.size() ? cublas_tile(t[next]) : std::nullopt;
  if (!tile) return refused_part("a tile such as 128x64 behind the types", next < t.size() ? t[next] : t.back());
  const auto layout = layout_from_blas(t.back(), true);
  if (!layout) return refused_part("letters of layout nn, nt, tn or tt at the end", t.back());
  ParsedName parsed;
  parsed.swapped = true;
  KernelConfig& config = parsed.config;
  config.family = Family::mma;
  config.flavor = Flavor::cublas;
  config.layout = *layout;
  config.dtype_in = *in;
  config.dtype_acc = instruction.acc;
  config.dtype_out = named_out.value_or(instruction.acc);
  config.instruction = *shape;
  config.stages = 2;
  set_library_frame(parsed);
  set_tile(parsed, (*tile)[0], (*tile)[1], static_cast<int>(depth_without_stages * 2 / bytes_of(*in)));
  if (const auto mistake = read_parts(t, next + 1, config)) return *mistake;
  return parsed;
}

}  // namespace

Reading read_cublas(const Tokens& t) {
  if (t[0] != "ampere" && t[0] != "turing" && t[0] != "volta") return std::nullopt;
  if (t.size() < 2) return refused_part("a cuBLAS name such as ampere_sgemm_128x64_tn", t[0]);
  if (t[1] == "sgemm") return read_sgemm(t);
  for (const std::size_t at : {std::size_t{1}, std::size_t{2}})
    if (at < t.size())
      if (const auto instruction = instruction_name(t[at])) return read_tensor(t, at, *instruction);
  const auto gemm = std::find_if(t.begin(), t.end(), [](std::string_view part) { return part.ends_with("gemm"); });
  if (gemm == t.end()) return std::nullopt;
  return refused_part(
      "sgemm, or a tensor-core GEMM such as fp16_s16816gemm (half, double and complex FMA kernels are not modelled)",
      gemm == t.begin() + 2 ? std::string(t[1]) + "_" + std::string(*gemm) : std::string(*gemm));
}

}  // namespace noteg::kernels::names
