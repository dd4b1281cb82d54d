// A data set on disk, being written: the tables rows, columns and meta. A row is there in full or not at all, whenever
// the program is killed (write-ahead log); a file belongs to one sweep, one version of its GPUs and one shard.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sim/dataset/plan.hpp"
#include "sim/dataset/run_rows.hpp"
#include "sim/dataset/sqlite.hpp"
#include "sim/support/result.hpp"

namespace noteg::dataset {

inline constexpr int schema_version = 1;

class Store {
 public:
  // Opens what an earlier run of the same sweep has left, or begins a new file. Errors: a file of another sweep (says
  // what differs), of other GPU numbers, of another shard, of another version, or no data set at all; a file that
  // another process is writing, or that has hard links. Throws StoreError where the file cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path, const Sweep& sweep,
                                                           const Shard& shard);
  ~Store();

  [[nodiscard]] const std::vector<std::size_t>& rows_done() const { return done_; }  // ascending
  [[nodiscard]] std::size_t failed_before() const { return failed_; }

  // All of them or none. Throws StoreError.
  void write(const std::vector<FinishedRow>& rows);

  // Folds the log into the file, so that it is a single file that can be read anywhere.
  void finish();

 private:
  class Lock;
  Store(std::string path, std::unique_ptr<Lock> lock);
  void create(const Sweep& sweep, const Shard& shard);
  [[nodiscard]] Diagnostics check(const Sweep& sweep, const Shard& shard);
  void read_done();

  std::unique_ptr<Lock> lock_;
  Database database_;
  std::unique_ptr<Statement> insert_;
  std::vector<std::size_t> done_;
  std::size_t failed_ = 0;
};

// The numbers of a sweep's GPUs: rows of an edited GPU file must not mix with older ones.
[[nodiscard]] std::string gpu_fingerprint(const Sweep& sweep);

// Sweep and GPU numbers together: what all processes of a job must share.
[[nodiscard]] std::string fingerprint_of(const Sweep& sweep);

// A value of the table meta; nothing where it is not there.
[[nodiscard]] std::optional<std::string> meta_value(Database& database, std::string_view key);

// Is this an SQLite file with the tables of a data set? false: no tables at all yet.
[[nodiscard]] Result<bool> holds_data_set(Database& database);

// CREATE TABLE ... for all three, and the descriptions of the columns.
void create_tables(Database& database, const std::vector<Column>& columns);

// INSERT OR IGNORE INTO rows, with a place for the row, each column and the error.
[[nodiscard]] std::string insert_sql(const std::vector<Column>& columns);

void set_meta(Database& database, std::string_view key, std::string_view value);

}  // namespace noteg::dataset
