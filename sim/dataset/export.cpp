#include "sim/dataset/export.hpp"

#include <algorithm>

#include "sim/support/csv.hpp"
#include "sim/support/output_file.hpp"

namespace noteg::dataset {

void export_csv(const std::string& data_set, const std::string& out, const std::vector<Group>& groups) {
  Database database(data_set, Database::Access::read);
  std::string sql = "SELECT row_id";
  std::vector<std::string> header{"row_id"};
  Statement columns(database, "SELECT name, grp FROM columns ORDER BY rowid");
  while (columns.step()) {
    const std::optional<Group> group = group_from(columns.text(1));
    if (!groups.empty() && (!group || std::ranges::find(groups, *group) == groups.end())) continue;
    header.push_back(columns.text(0));
    sql += ", " + quoted_name(header.back());
  }
  header.emplace_back("error");
  Statement rows(database, sql + ", error FROM rows ORDER BY row_id");
  OutputFile output(out);
  output.write(csv_line(header));
  std::vector<std::string> fields(header.size());
  while (output.is_wanted() && rows.step()) {
    for (std::size_t c = 0; c < fields.size(); ++c) fields[c] = rows.text(static_cast<int>(c));
    output.write(csv_line(fields));
  }
  output.finish();
}

}  // namespace noteg::dataset
