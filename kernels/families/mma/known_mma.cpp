#include "kernels/families/rules.hpp"

#include <array>

namespace noteg::kernels {
namespace {

struct KnownMma {
  DataType in, acc;
  Tile tile;
  int warp_m, warp_n, stages;
  Layout layout;
  bool takes_turns;  // serial split-K
  int registers;
};

// The H200 measurements: CUTLASS device::Gemm, CUDA 13, compiled for sm_90a.
constexpr std::array<KnownMma, 37> known{{
    {DataType::f16, DataType::f32, {64, 64, 32}, 32, 32, 4, Layout::nt, false, 96},
    {DataType::f16, DataType::f32, {64, 64, 64}, 32, 32, 3, Layout::nt, false, 94},
    {DataType::f16, DataType::f32, {128, 64, 32}, 64, 32, 3, Layout::nt, false, 146},
    {DataType::f16, DataType::f32, {128, 64, 64}, 64, 32, 3, Layout::nt, false, 160},
    {DataType::f16, DataType::f32, {64, 128, 32}, 32, 64, 4, Layout::nt, false, 146},
    {DataType::f16, DataType::f32, {128, 128, 32}, 64, 64, 2, Layout::nt, false, 250},
    {DataType::f16, DataType::f32, {128, 128, 32}, 64, 64, 3, Layout::nt, false, 228},
    {DataType::f16, DataType::f32, {128, 128, 32}, 64, 64, 4, Layout::nt, false, 228},
    {DataType::f16, DataType::f32, {128, 128, 32}, 64, 64, 5, Layout::nt, false, 228},
    {DataType::f16, DataType::f32, {128, 128, 64}, 64, 64, 3, Layout::nt, false, 242},
    {DataType::f16, DataType::f32, {256, 128, 32}, 64, 64, 3, Layout::nt, false, 226},
    {DataType::f16, DataType::f32, {256, 128, 64}, 64, 64, 3, Layout::nt, false, 242},
    {DataType::f16, DataType::f32, {128, 256, 32}, 64, 64, 3, Layout::nt, false, 224},
    {DataType::f16, DataType::f32, {128, 256, 64}, 64, 64, 3, Layout::nt, false, 242},
    {DataType::f16, DataType::f32, {256, 64, 32}, 64, 64, 4, Layout::nt, false, 230},
    {DataType::f16, DataType::f32, {128, 128, 32}, 64, 64, 4, Layout::tt, false, 228},
    {DataType::f16, DataType::f32, {128, 128, 32}, 64, 64, 4, Layout::tn, false, 218},
    {DataType::f16, DataType::f32, {128, 128, 32}, 32, 64, 4, Layout::nt, false, 132},
    {DataType::f16, DataType::f32, {128, 128, 32}, 64, 64, 4, Layout::nt, true, 230},
    {DataType::f16, DataType::f32, {64, 64, 64}, 32, 32, 3, Layout::nt, true, 96},
    {DataType::bf16, DataType::f32, {64, 64, 32}, 32, 32, 4, Layout::nt, false, 96},
    {DataType::bf16, DataType::f32, {128, 64, 32}, 64, 32, 4, Layout::nt, false, 146},
    {DataType::bf16, DataType::f32, {128, 128, 32}, 64, 64, 4, Layout::nt, false, 228},
    {DataType::bf16, DataType::f32, {128, 256, 64}, 64, 64, 3, Layout::nt, false, 242},
    {DataType::tf32, DataType::f32, {64, 64, 32}, 32, 32, 3, Layout::nt, false, 94},
    {DataType::tf32, DataType::f32, {128, 64, 16}, 64, 32, 5, Layout::nt, false, 146},
    {DataType::tf32, DataType::f32, {128, 128, 16}, 64, 64, 4, Layout::nt, false, 228},
    {DataType::tf32, DataType::f32, {128, 128, 32}, 64, 64, 3, Layout::nt, false, 242},
    {DataType::tf32, DataType::f32, {256, 128, 16}, 64, 64, 3, Layout::nt, false, 226},
    {DataType::s8, DataType::s32, {64, 64, 64}, 32, 32, 5, Layout::nt, false, 96},
    {DataType::s8, DataType::s32, {128, 64, 64}, 64, 32, 4, Layout::nt, false, 146},
    {DataType::s8, DataType::s32, {128, 128, 64}, 64, 64, 4, Layout::nt, false, 234},
    {DataType::s8, DataType::s32, {128, 128, 128}, 64, 64, 3, Layout::nt, false, 246},
    {DataType::s8, DataType::s32, {256, 128, 64}, 64, 64, 3, Layout::nt, false, 226},
    {DataType::f16, DataType::f16, {64, 64, 32}, 32, 32, 4, Layout::nt, false, 80},
    {DataType::f16, DataType::f16, {128, 128, 32}, 64, 64, 4, Layout::nt, false, 164},
    {DataType::f16, DataType::f16, {256, 128, 32}, 64, 64, 3, Layout::nt, false, 162},
}};

}  // namespace

std::optional<int> known_mma_registers(const KernelConfig& config) {
  if (config.flavor != Flavor::cutlass || config.sparse || config.sliced_k.value_or(1) != 1) return std::nullopt;
  const bool turns = config.split_k_mode == SplitKMode::serial;
  for (const KnownMma& row : known) {
    if (row.in == config.dtype_in && row.acc == config.dtype_acc && row.tile == config.tile &&
        row.warp_m == config.warp_m && row.warp_n == config.warp_n && row.stages == config.stages &&
        row.layout == config.layout && row.takes_turns == turns)
      return row.registers;
  }
  return std::nullopt;
}

}  // namespace noteg::kernels
