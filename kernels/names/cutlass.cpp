// CUTLASS 2, own builds (cutlass_tensorop_...: its own frame) and what cuBLAS ships (cutlass_80_tensorop_...: the
// transposed problem): cutlass_simt_sgemm_128x128_8x4_tn_align1, cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_
// 32x3_nn_align8, cutlass_75_wmma_tensorop_f16_s161616gemm_f16_32x32_128x1_tn_align1.
#include <algorithm>

#include "kernels/names/tokens.hpp"

namespace noteg::kernels::names {
namespace {

// The end of every name: 128x64_32x6_nn_align8. Kernels of generation 75 may leave depth and stages out: CUTLASS's
// Turing kernels are 64 bytes deep and have two stages.
struct Ending {
  std::vector<int> tile;
  std::optional<std::vector<int>> depth;  // and stages
  Layout layout = Layout::nn;
  int align = 1;
};

Result<Ending> read_ending(const Tokens& t, std::size_t at, bool shipped, bool may_leave_depth) {
  Ending ending;
  const auto tile = at < t.size() ? extents(t[at], 2) : std::nullopt;
  if (!tile)
    return refused_part("a tile such as 128x128 behind the types (relu is the one addition that is modelled)",
                        at < t.size() ? t[at] : t.back());
  ending.tile = *tile;
  if (at + 1 < t.size()) ending.depth = extents(t[at + 1], 2);
  if (ending.depth)
    ++at;
  else if (!may_leave_depth)
    return refused_part("depth and stages behind the tile, for example 32x4", at + 1 < t.size() ? t[at + 1] : t.back());
  const auto layout = at + 1 < t.size() ? layout_from_blas(t[at + 1], shipped) : std::nullopt;
  const auto align = at + 2 < t.size() ? prefixed(t[at + 2], "align", 1) : std::nullopt;
  if (!layout || !align || t.size() != at + 3)
    return refused_part("letters of layout and an alignment at the end, for example tn_align8",
                        t.size() > at + 3 ? t[at + 3] : t.back());
  ending.layout = *layout;
  ending.align = (*align)[0];
  return ending;
}

ParsedName parsed_of(const Ending& ending, bool shipped) {
  ParsedName parsed;
  parsed.swapped = shipped;
  KernelConfig& config = parsed.config;
  config.flavor = Flavor::cutlass;
  config.layout = ending.layout;
  if (shipped) set_library_frame(parsed);
  set_tile(parsed, ending.tile[0], ending.tile[1], ending.depth ? (*ending.depth)[0] : 0);
  config.stages = ending.depth ? (*ending.depth)[1] : 2;
  config.align_a = config.align_b = ending.align;
  return parsed;
}

Reading read_simt(const Tokens& t, std::size_t at, bool shipped) {
  if (at >= t.size() || t[at] != "sgemm")
    return refused_part("sgemm (CUDA-core kernels of f32)", at < t.size() ? t[at] : t.back());
  const Result<Ending> ending = read_ending(t, at + 1, shipped, false);
  if (!ending) return ending.errors();
  return parsed_of(*ending, shipped);
}

// Warps of 16x16 results, four at most (H200M: 32x32 runs 128 threads).
void set_wmma(KernelConfig& config) { config.threads = 32 * std::clamp(config.tile.m * config.tile.n / 256, 1, 4); }

Reading read_tensor(const Tokens& t, std::size_t at, bool shipped, bool turing) {
  const bool wmma = t[at - 1] == "tensorop" && t[at - 2] == "wmma";
  const auto named_out = at < t.size() ? data_type_from(t[at]) : std::nullopt;
  if (named_out) ++at;
  const auto instruction = at < t.size() ? instruction_name(t[at]) : std::nullopt;
  if (!instruction)
    return refused_part("an instruction of a GEMM such as s16816gemm", at < t.size() ? t[at] : t.back());
  const auto shape = mma_shape(instruction->shape);
  if (!shape) return refused_part("a multiplication that is modelled: 1688, 16816, 16832 or 161616", t[at]);
  std::size_t next = at + 1;
  if (next < t.size() && t[next] == "relu") ++next;
  const auto named_in = next < t.size() ? data_type_from(t[next]) : std::nullopt;
  if (named_in) ++next;
  const auto in = operand_type(*instruction, named_in);
  if (!named_in && next < t.size() && !extents(t[next], 2))
    return refused_part("relu, the type of the operands or the tile behind the instruction", t[next]);
  if (!in) return refused_part("operands of a type that the tensor cores take as it lies in memory", t[at]);
  const Result<Ending> ending = read_ending(t, next, shipped, turing);
  if (!ending) return ending.errors();
  ParsedName parsed = parsed_of(*ending, shipped);
  KernelConfig& config = parsed.config;
  config.family = Family::mma;
  config.dtype_in = *in;
  config.dtype_acc = instruction->acc;
  config.dtype_out = named_out.value_or(instruction->acc);
  config.instruction = *shape;
  if (wmma) set_wmma(config);
  return parsed;
}

}  // namespace

Reading read_cutlass(const Tokens& t) {
  if (t[0] != "cutlass" || t.size() < 3) return std::nullopt;
  const bool shipped = t[1] == "75" || t[1] == "80";
  std::size_t at = shipped ? 2 : 1;
  if (t[at] == "simt") return read_simt(t, at + 1, shipped);
  if (t[at] == "wmma") ++at;
  if (at < t.size() && t[at] == "tensorop") return read_tensor(t, at + 1, shipped, t[1] == "75");
  return std::nullopt;
}

}  // namespace noteg::kernels::names
