// A data set on disk, and as much of SQLite as that takes: statements, values, errors as exceptions that name the file.
#pragma once

#include <sqlite3.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dataset/columns.hpp"
#include "sim/dataset/items.hpp"
#include "sim/dataset/run_rows.hpp"
#include "sim/support/result.hpp"

namespace noteg::dataset {

// A file that could not be written or read to the end: full disk, no permission, damage. The message is for users.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Database;

class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  void bind(int place, const Value& value);  // places from 1; absent values become NULL
  void bind(int place, std::int64_t number);
  void bind(int place, std::string_view text);
  void bind_null(int place);
  [[nodiscard]] bool step();  // true: a row is at hand
  void run();                 // to the end, then ready for the next values

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;  // shortest numbers; "" for NULL; other bytes shown
  [[nodiscard]] bool is_null(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void check(int status) const;

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Access : std::uint8_t { read, write };
  Database(std::string path, Access access);  // write: creates the file where there is none

  void run(std::string_view sql);
  [[noreturn]] void fail(int status) const;
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// "name", with quotes inside doubled.
[[nodiscard]] std::string quoted_name(std::string_view name);

// A data set on disk, being written: the tables rows, columns and meta. A row is there in full or not at all, whenever
// the program is killed (write-ahead log); a file belongs to one sweep, one version of its GPUs and one shard.
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
