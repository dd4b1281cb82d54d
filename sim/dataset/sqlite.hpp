// SQLite with the three things that we need: statements, values, errors as exceptions that name the file.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/dataset/columns.hpp"

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

}  // namespace noteg::dataset
