#include "sim/validate/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/validate/measured_set.hpp"

namespace noteg::validate {
namespace {

constexpr std::string_view positive_count = "an integer of at least 1";
constexpr std::string_view type_names =
    "f32, tf32, f16, bf16, f8e4m3, f8e5m2, mxfp8, mxfp4, nvfp4, s8 or s4 (fp32, fp16, fp8, int8 ... too)";
constexpr std::string_view by_name = "what kernel_name says, else the family's default (kernel-reference.md)";

// clang-format off
constexpr std::array<ColumnInfo, 37> table{{
    {Column::source, "source", "", Need::no, "the name of a collection", "a collection of your own",
     "Where the row is from. It decides what layout, M and N, L2 and the times mean: see the sources below."},
    {Column::gpu, "gpu", "", Need::always, "a GPU of noteg arch list, by any of its names", "",
     "The GPU. A row of one that no architecture file knows is skipped."},
    {Column::op, "op", "", Need::no, "gemm, linear, bmm, gemm_int8, gemm_mixed, gemm_weight_only, linear_quant, attention_prefill, attention_decode or gemm_naive_smem_tile", "gemm",
     "What the time holds: one GEMM; linear_quant: the kernel that quantises A too. Sources that fuse a bias do so for "
     "linear. gemm_mixed and gemm_weight_only: dtype_in is activations x weights, such as fp16xint4. Attention: batch is "
     "sequences, M query tokens, N keys, K the head size, and the notes say heads, kv_heads and causal. "
     "gemm_naive_smem_tile is of family naive."},
    {Column::dtype_in, "dtype_in", "", Need::unless_by_name, type_names, "", "Type of A and B."},
    {Column::dtype_acc, "dtype_acc", "", Need::no, "f32, f16 or s32",
     "what kernel_name says, else s32 for integer operands, f32 for others", "Type of the accumulators."},
    {Column::dtype_out, "dtype_out", "", Need::no, "f32, f16, bf16, s8 or s32",
     "what kernel_name says; library calls: dtype_in, bf16 where that has 8 bits; else dtype_acc on tensor cores and f32 "
     "on others",
     "Type of C."},
    {Column::layout, "layout", "", Need::no, "nn, nt, tn, tt or rr", "what kernel_name says, else nn, not transposed",
     "A then B. What the letters mean is the source's; rr is row-major A and B everywhere."},
    {Column::batch, "batch", "", Need::no, positive_count, "1", "Independent products in one launch."},
    {Column::m, "M", "", Need::always, positive_count, "", "Rows of A and of C."},
    {Column::n, "N", "", Need::always, positive_count, "", "Columns of B and of C."},
    {Column::k, "K", "", Need::always, positive_count, "", "Columns of A, rows of B."},
    {Column::kernel_name, "kernel_name", "", Need::no, "a name as profilers print it",
     "library call: --kernel auto chooses, --kernel recorded skips the row",
     "The kernel. It fills blanks of the columns below; where they say something else, they win."},
    {Column::family, "family", "", Need::no, "naive, blocked, clblast, simt, mma, wgmma or tcgen05 (cutlass_simt ... too), or cublas",
     "that of kernel_name, else of instr", "Kernel family. cublas: kernel_name decides."},
    {Column::instr, "instr", "", Need::no, "ffma (naive, blocked, clblast, simt), mma or wgmma", "that of the family",
     "What multiplies. It must fit the family, and is the family where that is unknown and the tile is given."},
    {Column::tile_m, "tile_m", "", Need::unless_by_name, positive_count, "", "CTA tile along the row's M. Library calls without a kernel_name have none."},
    {Column::tile_n, "tile_n", "", Need::unless_by_name, positive_count, "", "The same along N."},
    {Column::tile_k, "tile_k", "", Need::no, positive_count, by_name, "CTA tile along K."},
    {Column::warp_m, "warp_m", "", Need::no, positive_count, by_name, "Warp tile along the row's M."},
    {Column::warp_n, "warp_n", "", Need::no, positive_count, by_name, "Warp tile along the row's N."},
    {Column::thread_m, "thread_m", "", Need::no, positive_count, by_name,
     "Elements of C per thread along M. CUTLASS kernels: not read, their lanes divide a warp tile by a rule."},
    {Column::thread_n, "thread_n", "", Need::no, positive_count, by_name, "The same along N."},
    {Column::stages, "stages", "", Need::no, positive_count, by_name, "Shared-memory buffers of the pipeline."},
    {Column::threads, "threads", "", Need::no, positive_count, by_name, "Threads per CTA."},
    {Column::cluster, "cluster", "CTAs", Need::no, "MxN or MxNx1, 1x1 but for wgmma", by_name,
     "CTAs of a cluster along M and N."},
    {Column::schedule, "schedule", "", Need::no,
     "ws, coop or pingpong (wgmma), multistage_cp_async or pipelined_ldg_sts (simt, mma), single_buffer or "
     "double_buffer (blocked), sync2 (naive)",
     by_name, "How warps share the work, or how tiles get to shared memory."},
    {Column::split_k, "split_k", "", Need::no, positive_count, "kernel_name and grid_z, else 1",
     "CTAs that share one tile of C."},
    {Column::grid_x, "grid_x", "CTAs", Need::no, positive_count, "the family's raster",
     "The launch. It shows which coordinate moves fastest and, for kernels that split K, into how many slices."},
    {Column::grid_y, "grid_y", "CTAs", Need::no, positive_count, "the family's raster", "The same."},
    {Column::grid_z, "grid_z", "CTAs", Need::no, positive_count, "1", "The same; slices of K of library kernels."},
    {Column::regs, "regs", "", Need::no, positive_count, "the family's estimate", "Registers per thread."},
    {Column::smem_bytes, "smem_bytes", "B", Need::no, "an integer of at least 0", "from tile, stages and type",
     "Shared memory per CTA."},
    {Column::time_ms, "time_ms", "ms", Need::always, "a positive number", "", "One launch, as the source took it."},
    {Column::time_cold_ms, "time_cold_ms", "ms", Need::no, "a positive number", "skipped under --cold",
     "One launch whose operands are in DRAM; judged under --cold instead of time_ms."},
    {Column::sm_clock_mhz, "sm_clock_mhz", "MHz", Need::no, "a positive number", "solved for, in the source's clock mode",
     "SM clock of the run; the model then uses it."},
    {Column::power_w, "power_w", "W", Need::no, "a positive number", "power is not judged", "Mean board power."},
    {Column::energy_j_per_launch, "energy_j_per_launch", "J", Need::no, "a positive number", "energy is not judged",
     "Energy of one launch."},
    {Column::notes, "notes", "", Need::no, "key=value parts with semicolons", "nothing to add",
     "sliced_k=, raster_swizzle_log2=, beta!=0, splitKreduce, extra_kernels=, sustained_time_ms=, CLBlast's "
     "parameters; other parts are not read."},
}};
// clang-format on

std::string_view name_of(Convention convention) {
  switch (convention) {
    case Convention::row_major: return "n = not transposed, row-major C";
    case Convention::blas_swapped: return "a BLAS name's for C^T = B^T A^T; M and N row-major";
    case Convention::blas_storage: return "n / t: stored column- / row-major; C row-major";
    case Convention::blas_column_major: return "a BLAS name's, C column-major";
  }
  return "";
}

std::string source_row(std::string_view name, const MeasuredSet& set) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name, name_of(set.convention), gpu::name_of(set.l2),
                     set.host_included ? "yes" : "no", set.power_is_kernels ? "yes" : "no",
                     power::name_of(set.clock_mode), set.note);
}

std::string_view need_text(Need need) {
  switch (need) {
    case Need::always: return "**needed**";
    case Need::unless_by_name: return "**needed** unless kernel_name says it";
    case Need::no: return "";
  }
  return "";
}

}  // namespace

std::span<const ColumnInfo> column_table() { return table; }

const ColumnInfo& info(Column column) { return table[static_cast<std::size_t>(column)]; }

const ColumnInfo* find_column(std::string_view name) {
  const auto found = std::ranges::find(table, name, &ColumnInfo::name);
  return found == table.end() ? nullptr : &*found;
}

std::string columns_help() {
  std::string text =
      "columns of the file, by name (* needed, + needed unless kernel_name says it; docs: measured-files.md)\n";
  for (const ColumnInfo& column : table) {
    const char mark = column.need == Need::always ? '*' : column.need == Need::unless_by_name ? '+' : ' ';
    const std::string unit = column.unit.empty() ? "" : fmt::format(" [{}]", column.unit);
    text += fmt::format("{} {:<24}{}\n", mark, fmt::format("{}{}", column.name, unit), column.expects);
  }
  return text;
}

std::string measured_reference() {
  std::string text =
      "# Measured files\n\n"
      "Made from the table of columns (`sim/validate/columns.cpp`), from which the reader, its errors and `noteg "
      "validate "
      "--help` come too; a test fails where it is\nout of date. `noteg validate`, `calibrate` and `train` read these "
      "files: CSV, also `.csv.gz`, with a header. Columns are found by name, in any order; others are\nkept, come out "
      "again under `--predictions`, and `--by` groups by them.\n\n"
      "A file that lacks a needed column is refused (exit status 2). A row that cannot be expressed is listed in "
      "`skipped` with its line and the reason. Blank, `nan`\nand `NaN` are absent.\n\n"
      "| column | unit | takes | where it is blank | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const ColumnInfo& column : table)
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", column.name, column.unit, column.expects,
                        column.need == Need::no ? column.fallback : need_text(column.need), column.meaning);
  text +=
      "\n## How blanks are filled\n\n"
      "1. A column that says something wins.\n2. A blank takes what `kernel_name` says.\n"
      "3. Kernels of published tutorials, which the program knows by `source` and name, take what their authors "
      "document.\n"
      "4. What is still unknown takes the default in the table.\n\n"
      "## Sources\n\nWhat a collection means by its columns. A source that is not listed is read as in the last row, "
      "and "
      "`noteg validate` says so.\n\n"
      "| source | letters of layout | L2 before a launch | host time in time_ms | power_w is the kernel's | clock "
      "where "
      "none is recorded | how it was taken |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const MeasuredSet& set : measured_sets()) text += source_row(set.source, set);
  return text + source_row("any other", measured_set_of(""));
}

}  // namespace noteg::validate
