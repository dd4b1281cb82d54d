// Kernels of CUTLASS 3 and 4 for Hopper and the Blackwell of data centres, as its profiler names them. What a name says
// beyond tile, cluster, schedule and types is refused by name, for it may change the kernel.
#include <utility>

#include "kernels/names/tokens.hpp"

namespace noteg::kernels::names {
namespace {

constexpr int group_rows = 64;  // of a warpgroup's multiplication

// cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8
// _warpspecialized_pingpong_epi_tma

// s64x128x16gemm, i64x128x32gemm, s64x128x8tf32gemm, s64x128x32spgemm; since 4.0 without the shape: gemm, tf32gemm.
std::optional<Tile> cutlass_instruction(std::string_view token) {
  if (!token.ends_with("gemm")) return std::nullopt;
  token.remove_suffix(4);
  for (const std::string_view kind : {"tf32", "sp"})
    if (token.ends_with(kind)) token.remove_suffix(kind.size());
  if (token.empty()) return Tile{};
  const auto shape = extents(token.substr(1), 3);
  if (!shape || (*shape)[0] != group_rows) return std::nullopt;
  return Tile{(*shape)[0], (*shape)[1], (*shape)[2]};
}

std::optional<DataType> cutlass_type(std::string_view token) {
  if (token == "void") return DataType::f32;  // no C
  return data_type_from(token);
}

// A, B, sum, C, D; f32 operands are multiplied as tf32.
std::optional<Diagnostic> read_cutlass3_types(const Tokens& t, KernelConfig& config) {
  const auto a = cutlass_type(t[4]), b = cutlass_type(t[5]), acc = cutlass_type(t[6]), out = cutlass_type(t[8]);
  if (!a || !b || *a != *b)
    return refused_part("two operands of one type that is known", std::string(t[4]) + "_" + std::string(t[5]));
  if (!acc || !out)
    return refused_part("known types of accumulator and result", std::string(t[6]) + "_" + std::string(t[8]));
  config.dtype_in = *a == DataType::f32 ? DataType::tf32 : *a;
  config.dtype_acc = *acc;
  config.dtype_out = *out;
  return std::nullopt;
}

// "", warpspecialized, warpspecialized_cooperative, warpspecialized_pingpong, then epi_tma.
std::optional<Diagnostic> read_cutlass_schedule(const Tokens& t, std::size_t at, KernelConfig& config) {
  if (at < t.size() && t[at] == "stream")
    return refused_part("a CUTLASS 3 kernel that cuts no tile in two (stream-K is not modelled)", "stream_k");
  if (at >= t.size() || t[at] != "warpspecialized")
    return refused_part("a CUTLASS 3 schedule that is modelled: warpspecialized[_cooperative or _pingpong]",
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
      return refused_part("a part of CUTLASS 3 schedules that is modelled: cooperative, pingpong or epi_tma",
                          t[at] == "epi" && at + 1 < t.size() ? t[at + 1] : t[at]);
  }
  return std::nullopt;
}

// cutlass3x_sm100_tensorop_gemm_bf16_bf16_f32_void_bf16_256x256x64_2x1x1_0_tnt_align8_2sm, older with the instruction
// before gemm. The tile is that of the products, of a pair both CTAs'.
Result<ParsedName> read_blackwell(const Tokens& t) {
  if (t.size() < 14 || t[2] != "tensorop" || !t[3].ends_with("gemm"))
    return refused_part(
        "a CUTLASS 3 name of tensor operations for sm100, down to its alignment (block scales: by keys)",
        t.size() < 4 ? t[1] : t[3]);
  const bool at_launch = t[10] == "0x0x1";  // the launch says the cluster
  const auto tile = extents(t[9], 3), cluster = extents(at_launch ? "1x1x1" : t[10], 3);
  const auto align = prefixed(t[13], "align", 1);
  if (!tile || !cluster || (*cluster)[2] != 1)
    return refused_part("a tile and a flat cluster, for example 256x128x64_2x1x1", t[9]);
  if (t[12].size() != 3 || (t[12][2] != 'n' && t[12][2] != 't') || !align)
    return refused_part("three letters of layout and an alignment, for example tnt_align8", t[12]);
  ParsedName parsed;
  parsed.swapped = t[12][2] == 'n';
  KernelConfig& config = parsed.config;
  if (const auto mistake = read_cutlass3_types(t, config)) return *mistake;
  const auto layout = layout_from_blas(t[12].substr(0, 2), parsed.swapped);
  if (!layout) return refused_part("letters of layout t or n", t[12]);
  bool pair = false;
  for (std::size_t at = 14; at < t.size(); ++at) {
    if (t[at] == "2sm" || t[at] == "1sm")
      pair = t[at] == "2sm";
    else if (t[at] != "epi" && t[at] != "tma" && t[at] != "warpspecialized")
      return refused_part("a part of CUTLASS names for sm100 that is modelled: 1sm or 2sm", t[at]);
  }
  config.family = Family::tcgen05;
  config.flavor = Flavor::cutlass;
  config.layout = *layout;
  const int share = pair ? 2 : 1, step = static_cast<int>(32 / bytes_of(config.dtype_in));
  set_tile(parsed, (*tile)[0] / share, (*tile)[1], (*tile)[2]);
  config.instruction = {config.tile.m * (parsed.swapped ? 1 : share), config.tile.n * (parsed.swapped ? share : 1),
                        step};
  const int along = at_launch ? share : (*cluster)[0], across = (*cluster)[1];  // a pair needs two along its rows
  config.cluster_m = parsed.swapped ? across : along;
  config.cluster_n = parsed.swapped ? along : across;
  config.align_a = config.align_b = (*align)[0];
  return parsed;
}

Result<ParsedName> read_parts(const Tokens& t) {
  if (t.size() > 1 && (t[1] == "sm100" || t[1] == "sm103")) return read_blackwell(t);
  if (t.size() > 1 && t[1].starts_with("sm1")) return refused_part("a CUTLASS 3 kernel of sm90, sm100 or sm103", t[1]);
  if (t.size() < 14 || t[1] != "sm90" || (t[2] != "tensorop" && t[2] != "sptensorop"))
    return refused_part("a CUTLASS 3 name of tensor operations for sm90, down to its alignment",
                        t.size() < 3 ? t[0] : t[2]);
  const auto instruction = cutlass_instruction(t[3]);
  const auto tile = extents(t[9], 3), cluster = extents(t[10], 3);
  const auto align = prefixed(t[13], "align", 1);
  if (!instruction) return refused_part("a warpgroup instruction such as s64x128x16gemm", t[3]);
  if (!tile || !cluster || (*cluster)[2] != 1)
    return refused_part("a tile and a flat cluster, for example 128x128x64_2x1x1", t[9]);
  if (t[12].size() != 3 || (t[12][2] != 'n' && t[12][2] != 't') || !align)
    return refused_part("three letters of layout and an alignment, for example tnn_align8", t[12]);
  ParsedName parsed;
  parsed.swapped = t[12][2] == 'n';  // C by columns is the transpose of ours by rows
  KernelConfig& config = parsed.config;
  if (const auto mistake = read_cutlass3_types(t, config)) return *mistake;
  const auto layout = layout_from_blas(t[12].substr(0, 2), parsed.swapped);
  if (!layout) return refused_part("letters of layout t or n", t[12]);
  config.family = Family::wgmma;
  config.flavor = Flavor::cutlass;
  config.layout = *layout;
  config.sparse = t[2] == "sptensorop";
  set_tile(parsed, (*tile)[0], (*tile)[1], (*tile)[2]);
  config.instruction = *instruction;
  if (parsed.swapped) std::swap(config.instruction.m, config.instruction.n);
  config.cluster_m = parsed.swapped ? (*cluster)[1] : (*cluster)[0];
  config.cluster_n = parsed.swapped ? (*cluster)[0] : (*cluster)[1];
  if (t[11] != "0") {  // 0: as many as fit
    const auto stages = extents(t[11], 1);
    if (!stages) return refused_part("a number of stages", t[11]);
    config.stages = (*stages)[0];
  }
  config.align_a = config.align_b = (*align)[0];
  if (const auto mistake = read_cutlass_schedule(t, 14, config)) return *mistake;
  return parsed;
}

}  // namespace

Reading read_cutlass3(const Tokens& t) {
  if (t[0] != "cutlass3x") return std::nullopt;
  return read_parts(t);
}

}  // namespace noteg::kernels::names
