// Fields of a file as texts, and how they become columns of numbers and words.
#pragma once

#include <string>
#include <vector>

#include "sim/dataset/read_table.hpp"
#include "sim/support/text_rows.hpp"

namespace noteg::dataset {

struct Cells {
  std::vector<std::string> names;
  TextRows rows;
  std::vector<int> lines;         // parallel to rows; empty: the file has no lines
  std::vector<Column> described;  // by the file itself
};

[[nodiscard]] Result<Table> table_of(const std::string& file, const Cells& cells, const KnownColumns& known);

}  // namespace noteg::dataset
