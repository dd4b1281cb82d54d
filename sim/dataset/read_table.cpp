#include "sim/dataset/read_table.hpp"

#include <filesystem>
#include <fstream>

#include "sim/dataset/cells.hpp"
#include "sim/dataset/read_sqlite.hpp"
#include "sim/support/csv.hpp"

namespace noteg::dataset {
namespace {

// Only asked of plain files: what is read of a pipe is gone.
bool is_sqlite(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  std::ifstream stream(path, std::ios::binary);
  std::string magic(16, '\0');
  stream.read(magic.data(), 16);
  return stream.gcount() == 16 && magic == std::string("SQLite format 3\0", 16);
}

Result<Cells> csv_cells(const std::string& path) {
  Result<CsvTable> csv = read_csv(path);
  if (!csv) return csv.errors();
  Cells cells;
  cells.names = std::move(csv->columns);
  cells.rows = std::move(csv->rows);
  cells.lines = std::move(csv->lines);
  return cells;
}

}  // namespace

Result<Table> read_table(const std::string& path, const KnownColumns& known) {
  const Result<Cells> cells = is_sqlite(path) ? sqlite_cells(path) : csv_cells(path);
  if (!cells) return cells.errors();
  if (cells->rows.empty()) return Diagnostic{path, 0, 0, "", "at least one row", "none"};
  return table_of(path, *cells, known);
}

}  // namespace noteg::dataset
