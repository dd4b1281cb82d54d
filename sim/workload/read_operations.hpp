// Lists of operations as users write them: CSV with the columns of measured files, or YAML with the same keys.
#pragma once

#include <string>
#include <vector>

#include "sim/support/yaml_reader.hpp"
#include "sim/workload/operation.hpp"

namespace noteg::workload {

struct Column {
  std::string_view name, accepts, otherwise, meaning;
};

// For the documentation: what a line may hold.
[[nodiscard]] const std::vector<Column>& columns();

// Every mistake with file, line and column. Columns that are not known are left alone, keys are not.
[[nodiscard]] Result<std::vector<Operation>> read_operations_csv(const std::string& path);
[[nodiscard]] Result<std::vector<Operation>> parse_operations_csv(std::string_view text, const std::string& file);
[[nodiscard]] Result<std::vector<Operation>> operations_of(const YamlDocument& document);

}  // namespace noteg::workload
