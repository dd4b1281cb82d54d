// Pieces of kernel names: profilers print fields joined by underscores, and extents joined by x. One reader per scheme,
// each in a file of its own; docs/reference/kernel-names.md says what every part means and where that is known from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"

namespace noteg::kernels::names {

using Tokens = std::vector<std::string_view>;

[[nodiscard]] Tokens split_name(std::string_view name);  // at underscores; "a__b" has an empty token

// 128x64x8 with exactly `count` extents of 1 to 99999; nothing for anything else.
[[nodiscard]] std::optional<std::vector<int>> extents(std::string_view token, std::size_t count);

// The token after a fixed prefix, as extents: prefixed("w64x64", "w", 2).
[[nodiscard]] std::optional<std::vector<int>> prefixed(std::string_view token, std::string_view prefix,
                                                       std::size_t count);

// "void cutlass::Kernel2<NAME>(NAME::Params)" and its mangled form, as the CUDA tools print templates: NAME. Any other
// name as it is.
[[nodiscard]] std::string_view template_argument(std::string_view name);

// A over B of a library's name, laid along this program's M and N.
void set_tile(ParsedName& parsed, int a, int b, int k);

// A library works on the transposed problem, so the grid dimension that moves fastest lies along our N (NeuSight: the
// grids of all 10,526 oblong launches of ampere_sgemm kernels).
void set_library_frame(ParsedName& parsed);

// s16816gemm, h1688gemm, i16832gemm, s161616gemm: the accumulator's letter, then the shape of one multiplication, then
// what the operands are rounded to where they lie in memory as something else (s1688tf32gemm).
struct InstructionName {
  DataType acc = DataType::f32;
  std::string_view shape;    // "16816"
  std::string_view rounded;  // "tf32"; mostly empty
};
[[nodiscard]] std::optional<InstructionName> instruction_name(std::string_view token);

// The type names that stand before and behind an instruction, and the operands' type where there is none behind.
[[nodiscard]] std::optional<DataType> operand_type(const InstructionName& instruction, std::optional<DataType> named);

// m16n8kK from "16816"; nothing where the model has no such multiplication. 161616 (wmma) is two of 16x8x16.
[[nodiscard]] std::optional<Tile> mma_shape(std::string_view shape);

[[nodiscard]] Diagnostic refused(std::string expected, std::string found);
[[nodiscard]] inline Diagnostic refused_part(std::string expected, std::string_view part) {
  return refused(std::move(expected), "\"" + std::string(part) + "\"");
}

// ---- The schemes. Nothing: the name is of another scheme. An error names the part that is not understood or modelled.
using Reading = std::optional<Result<ParsedName>>;

[[nodiscard]] Reading read_own(const Tokens& tokens);
[[nodiscard]] Reading read_attention(std::string_view name);
[[nodiscard]] Reading read_flash3(std::string_view name);
[[nodiscard]] Reading read_low_bit(std::string_view name);
[[nodiscard]] Reading read_triton(std::string_view name);   // naive_tiled_*, blocked_*, the H200 measurements
[[nodiscard]] Reading read_cublas(const Tokens& tokens);    // ampere_sgemm_*, turing_*, volta_*
[[nodiscard]] Reading read_cutlass(const Tokens& tokens);   // cutlass_80_tensorop_*, cutlass_simt_*
[[nodiscard]] Reading read_cutlass3(const Tokens& tokens);  // cutlass3x_sm90_*
[[nodiscard]] Reading read_xmma(const Tokens& tokens);      // sm80_xmma_gemm_*
[[nodiscard]] Reading read_nvjet(const Tokens& tokens);     // nvjet_*

// What a name is that is no GEMM of this model, and what to use instead; nothing for a name that is not known.
[[nodiscard]] std::optional<Diagnostic> not_a_gemm(std::string_view name);

// A name of each scheme and of the commonest tiles: what a mistyped one is compared with.
[[nodiscard]] std::span<const std::string_view> well_known_names();

}  // namespace noteg::kernels::names
