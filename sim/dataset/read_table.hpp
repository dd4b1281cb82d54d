// A data set from a file: CSV (also gzipped), or the table `rows` of an SQLite file. Columns take their group from the
// file's own table `columns(name, unit, meaning, grp)` where it has one, otherwise from the names that are known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sim/dataset/table.hpp"
#include "sim/support/result.hpp"

namespace noteg::dataset {

// What is known about a column of this name; nothing: group other.
using KnownColumns = std::function<std::optional<Column>(std::string_view name)>;

// A column is a number where most of its fields are; true and false are 1 and 0; a blank field is absent.
// Errors, each with its place: missing or damaged file, no rows, a text among numbers, NaN or an infinity, a `rows`
// that is no table (a view may have no end), bytes that are no text in UTF-8, more fields than TextRows hold.
[[nodiscard]] Result<Table> read_table(const std::string& path, const KnownColumns& known);

}  // namespace noteg::dataset
