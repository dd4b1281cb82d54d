// Registers and local memory of triton kernels as ptxas 13.0 compiled them for sm_80 (block scales: sm_89): the
// configurations of Inductor's list, row-major operands, compiled by Triton 3.6 from a template like Inductor's. One
// entry is by the rule instead: half, 128x128x32 with 8 warps takes 128 there and lets two CTAs onto an SM, but ran one
// at a time in the times of Triton 3.0 on an A100 (AlnisM/autoheuristic-datasets: FITTED on the three shapes with all
// configurations, which are not of the fitted half).
#include "kernels/families/triton/triton.hpp"

#include <algorithm>
#include <array>

namespace noteg::kernels {
namespace {

enum class Operands : std::uint8_t { half, tf32, f32, weights8, scaled8 };

struct Compiled {
  Operands operands;
  Tile tile;
  int warps, registers, stack_bytes;
};

constexpr std::array<Compiled, 88> table{{
    {Operands::half, {16, 32, 16}, 2, 32, 0},        {Operands::half, {16, 32, 32}, 2, 40, 0},
    {Operands::half, {16, 64, 64}, 4, 48, 0},        {Operands::half, {16, 128, 128}, 4, 100, 0},
    {Operands::half, {32, 32, 16}, 2, 56, 0},        {Operands::half, {32, 32, 128}, 4, 56, 0},
    {Operands::half, {32, 64, 32}, 8, 39, 0},        {Operands::half, {64, 32, 32}, 8, 40, 0},
    {Operands::half, {64, 32, 128}, 4, 96, 0},       {Operands::half, {64, 64, 16}, 4, 70, 0},
    {Operands::half, {64, 64, 32}, 4, 80, 0},        {Operands::half, {64, 64, 64}, 8, 64, 0},
    {Operands::half, {64, 64, 128}, 4, 127, 0},      {Operands::half, {64, 128, 32}, 4, 128, 0},
    {Operands::half, {64, 128, 32}, 8, 96, 0},       {Operands::half, {64, 128, 64}, 4, 168, 0},
    {Operands::half, {64, 128, 128}, 4, 168, 0},     {Operands::half, {128, 64, 32}, 2, 232, 0},
    {Operands::half, {128, 64, 32}, 4, 154, 0},      {Operands::half, {128, 64, 32}, 8, 96, 0},
    {Operands::half, {128, 64, 64}, 8, 99, 0},       {Operands::half, {128, 64, 128}, 8, 126, 0},
    {Operands::half, {128, 128, 32}, 4, 228, 0},     {Operands::half, {128, 128, 32}, 8, 138, 0},
    {Operands::half, {128, 128, 64}, 4, 253, 0},     {Operands::half, {128, 128, 64}, 8, 174, 0},
    {Operands::half, {128, 256, 32}, 8, 226, 0},     {Operands::half, {256, 128, 64}, 8, 255, 0},
    {Operands::tf32, {16, 32, 16}, 2, 47, 0},        {Operands::tf32, {16, 32, 32}, 2, 54, 0},
    {Operands::tf32, {16, 64, 64}, 4, 72, 0},        {Operands::tf32, {32, 32, 16}, 2, 64, 0},
    {Operands::tf32, {32, 32, 128}, 4, 64, 0},       {Operands::tf32, {32, 64, 32}, 8, 48, 0},
    {Operands::tf32, {64, 32, 32}, 8, 47, 0},        {Operands::tf32, {64, 64, 16}, 4, 68, 0},
    {Operands::tf32, {64, 64, 32}, 4, 92, 0},        {Operands::tf32, {64, 64, 64}, 8, 80, 0},
    {Operands::tf32, {64, 64, 128}, 4, 154, 0},      {Operands::tf32, {64, 128, 32}, 4, 128, 0},
    {Operands::tf32, {64, 128, 32}, 8, 77, 0},       {Operands::tf32, {64, 128, 64}, 4, 181, 0},
    {Operands::tf32, {128, 64, 32}, 2, 240, 0},      {Operands::tf32, {128, 64, 32}, 4, 168, 0},
    {Operands::tf32, {128, 64, 32}, 8, 80, 0},       {Operands::tf32, {128, 64, 64}, 8, 125, 0},
    {Operands::tf32, {128, 128, 32}, 4, 226, 0},     {Operands::tf32, {128, 128, 32}, 8, 130, 0},
    {Operands::tf32, {128, 128, 64}, 4, 242, 0},     {Operands::tf32, {128, 128, 64}, 8, 163, 0},
    {Operands::tf32, {128, 256, 32}, 8, 243, 0},     {Operands::tf32, {256, 128, 64}, 8, 253, 0},
    {Operands::f32, {16, 32, 16}, 2, 48, 0},         {Operands::f32, {16, 32, 32}, 2, 56, 0},
    {Operands::f32, {16, 64, 64}, 4, 66, 0},         {Operands::f32, {32, 32, 16}, 2, 72, 0},
    {Operands::f32, {32, 32, 128}, 4, 64, 0},        {Operands::f32, {32, 64, 32}, 8, 48, 0},
    {Operands::f32, {64, 32, 32}, 8, 48, 0},         {Operands::f32, {64, 64, 16}, 4, 96, 0},
    {Operands::f32, {64, 64, 32}, 4, 119, 0},        {Operands::f32, {64, 64, 64}, 8, 76, 0},
    {Operands::f32, {64, 64, 128}, 4, 154, 0},       {Operands::f32, {64, 128, 32}, 4, 168, 0},
    {Operands::f32, {64, 128, 32}, 8, 101, 0},       {Operands::f32, {64, 128, 64}, 4, 194, 0},
    {Operands::f32, {128, 64, 32}, 2, 255, 200},     {Operands::f32, {128, 64, 32}, 4, 168, 0},
    {Operands::f32, {128, 64, 32}, 8, 101, 0},       {Operands::f32, {128, 64, 64}, 8, 128, 0},
    {Operands::f32, {128, 128, 32}, 4, 255, 120},    {Operands::f32, {128, 128, 32}, 8, 170, 0},
    {Operands::f32, {128, 128, 64}, 4, 255, 536},    {Operands::f32, {128, 128, 64}, 8, 185, 0},
    {Operands::f32, {128, 256, 32}, 8, 255, 88},     {Operands::f32, {256, 128, 64}, 8, 255, 488},
    {Operands::weights8, {16, 32, 32}, 4, 43, 0},    {Operands::weights8, {16, 32, 128}, 2, 71, 0},
    {Operands::weights8, {16, 64, 64}, 4, 60, 0},    {Operands::weights8, {16, 64, 128}, 4, 72, 0},
    {Operands::weights8, {16, 128, 32}, 8, 54, 0},   {Operands::weights8, {16, 128, 128}, 4, 96, 0},
    {Operands::weights8, {64, 64, 32}, 4, 92, 0},    {Operands::weights8, {64, 128, 64}, 4, 161, 0},
    {Operands::weights8, {128, 64, 32}, 4, 142, 0},  {Operands::weights8, {128, 128, 32}, 4, 225, 0},
    {Operands::weights8, {128, 128, 64}, 4, 255, 0}, {Operands::scaled8, {64, 128, 128}, 4, 242, 0},
}};

Operands operands_of(const KernelConfig& config) {
  if (config.dtype_b) return Operands::weights8;
  if (is_float8(config.dtype_in)) return Operands::scaled8;
  if (config.dtype_in == DataType::tf32) return Operands::tf32;
  return config.dtype_in == DataType::f32 ? Operands::f32 : Operands::half;
}

}  // namespace

std::optional<TritonRegisters> known_triton_registers(const KernelConfig& config) {
  const int warps = config.threads.value_or(128) / 32;
  const auto found = std::ranges::find_if(table, [&](const Compiled& row) {
    return row.operands == operands_of(config) && row.tile == config.tile && row.warps == warps;
  });
  if (found == table.end()) return std::nullopt;
  return TritonRegisters{found->registers, found->stack_bytes};
}

}  // namespace noteg::kernels
