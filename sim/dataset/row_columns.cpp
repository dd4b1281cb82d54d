#include "sim/dataset/row_columns.hpp"

namespace noteg::dataset {

std::vector<Column> row_columns() {
  return {
      {"gpu_copy", "count", "0: the GPU as its file says; else the number of a perturbed copy", Group::other},
      {"label", "", "what tells replicas of one run apart, as the sweep names them", Group::other},
  };
}

std::vector<Column> all_row_columns() {
  std::vector<Column> all{{"row_id", "count", "number of the row in its sweep, from 0", Group::other}};
  for (Column& column : row_columns()) all.push_back(std::move(column));
  all.push_back({"error", "", "why the run is impossible; absent where it is not", Group::other});
  return all;
}

}  // namespace noteg::dataset
