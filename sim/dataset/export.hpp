// What one does with a finished data set: as CSV, described, put together from shards.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/dataset/store.hpp"
#include "sim/support/result.hpp"

namespace noteg::dataset {

// row_id, the columns of the groups wanted (all where none is named), error; rows by row_id. Throws StoreError and
// OutputError.
// out: a path, or "-" for standard output; a plain file is replaced only once the new one is whole.
void export_csv(const std::string& data_set, const std::string& out, const std::vector<Group>& groups);

struct DataSetInfo {
  std::size_t rows = 0, expected = 0, failed = 0;
  std::string sweep_hash, shard;
  std::map<std::string, std::size_t> columns_by_group;
  std::map<std::string, std::size_t> rows_by_gpu, rows_by_family;
  struct Range {
    std::string name, unit;
    double low = 0, mean = 0, high = 0;
  };
  std::vector<Range> targets;
  std::vector<std::pair<std::string, std::size_t>> errors;  // the most frequent ones
};

// Errors: no data set. Throws StoreError where it is damaged.
[[nodiscard]] Result<DataSetInfo> data_set_info(const std::string& path);

// What the columns of a data set hold, and which of them go with its targets.
struct Description {
  struct Column {
    std::string name, unit;
    Group group = Group::other;
    std::size_t missing = 0, different = 0;  // rows; values or words
    double low = 0, mean = 0, high = 0;      // of numbers
    std::string words;                       // of texts, at most eight
    double correlation = 0;                  // of ranks, with the first target
  };
  std::size_t rows = 0, shapes = 0;
  std::string target;           // blank: there is none
  std::vector<Column> columns;  // those that differ, and targets
};
[[nodiscard]] Description describe(const Table& table);

// Where rows of another file lie outside: per column the share of its rows beyond the numbers, or with words, that the
// data set holds. Measured files name their columns M, N, K, dtype_in ...; these are understood. Worst first.
struct Outside {
  std::string column, unit, holds;  // holds: what the data set does
  double share = 0;
  std::string example;  // a value that lies outside
};
struct Coverage {
  std::size_t rows = 0, inside = 0;  // inside in every column that both have
  std::vector<Outside> outside;
};
[[nodiscard]] Coverage coverage_of(const Table& known, const Table& asked);

// The shards of one sweep as one data set. Errors: another sweep, other GPU numbers, an output that is there already. A
// row that two shards hold is the same in both and taken once. Throws StoreError.
struct Merged {
  std::size_t rows = 0, expected = 0;
};
[[nodiscard]] Result<Merged> merge_data_sets(const std::vector<std::string>& parts, const std::string& out);

}  // namespace noteg::dataset
