// The one table of columns of a measured file. The reader, its errors, `noteg validate --help` and
// docs/reference/measured-files.md all come from it. Columns that are not in it are kept, and rows can be grouped by
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace noteg::validate {

// In the order of the table.
enum class Column : std::uint8_t {
  source,
  gpu,
  op,
  dtype_in,
  dtype_acc,
  dtype_out,
  layout,
  batch,
  m,
  n,
  k,
  kernel_name,
  family,
  instr,
  tile_m,
  tile_n,
  tile_k,
  warp_m,
  warp_n,
  thread_m,
  thread_n,
  stages,
  threads,
  cluster,
  schedule,
  split_k,
  grid_x,
  grid_y,
  grid_z,
  regs,
  smem_bytes,
  time_ms,
  time_cold_ms,
  sm_clock_mhz,
  power_w,
  energy_j_per_launch,
  notes
};

enum class Need : std::uint8_t {
  always,          // a file without the column is refused, a row where it is blank is skipped
  unless_by_name,  // the same where kernel_name does not say it
  no
};

struct ColumnInfo {
  Column id;
  std::string_view name;
  std::string_view unit;  // empty: none
  Need need = Need::no;
  std::string_view expects;   // continues "expected ..."
  std::string_view fallback;  // what a blank means; empty where it is needed
  std::string_view meaning;
};

[[nodiscard]] std::span<const ColumnInfo> column_table();
[[nodiscard]] const ColumnInfo& info(Column column);
[[nodiscard]] const ColumnInfo* find_column(std::string_view name);  // nullptr: not in the table

// name [unit]   meaning, a line or a few each, for the help of commands that read measured files.
[[nodiscard]] std::string columns_help();

// docs/reference/measured-files.md: the table, how blanks are filled, and what each known source means by its columns.
[[nodiscard]] std::string measured_reference();

}  // namespace noteg::validate
