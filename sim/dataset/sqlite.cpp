#include "sim/dataset/sqlite.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>

#include "sim/support/number_text.hpp"
#include "sim/support/text_bytes.hpp"

namespace noteg::dataset {
namespace {

constexpr int longest_value = 1 << 24;  // bytes: a sweep as it was read has less

// What SQLite's own sentence leaves open.
std::string advice(int status) {
  switch (status & 0xff) {
    case SQLITE_FULL:
      return " (free some space; rows written so far are safe, and the same command goes on from there)";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return " (is the folder there, and may it be written to?)";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return " (another program is writing to it)";
    case SQLITE_NOTADB: return " (a data set of noteg generate is an SQLite file)";
    case SQLITE_IOERR: return " (rows written so far are safe, and the same command goes on from there)";
    default: return "";
  }
}

}  // namespace

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

Database::Database(std::string path, Access access) : path_(std::move(path)) {
  const int flags = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path_.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(opened);
  if (status != SQLITE_OK) fail(status);
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, 5000);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest_value);
}

void Database::fail(int status) const {
  std::string why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(status);
  const int system = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  if (((status & 0xff) == SQLITE_IOERR || (status & 0xff) == SQLITE_CANTOPEN) && system != 0)
    why += std::string(": ") + std::strerror(system);
  throw StoreError(path_ + ": " + why + advice(status));
}

void Database::run(std::string_view sql) {
  const int status = sqlite3_exec(handle_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail(status);
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* prepared = nullptr;
  const int status =
      sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  statement_.reset(prepared);
  check(status);
}

void Statement::check(int status) const {
  if (status != SQLITE_OK) database_.fail(status);
}

void Statement::bind_null(int place) { check(sqlite3_bind_null(statement_.get(), place)); }

void Statement::bind(int place, std::int64_t number) { check(sqlite3_bind_int64(statement_.get(), place, number)); }

void Statement::bind(int place, std::string_view text) {
  check(sqlite3_bind_text(statement_.get(), place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
}

void Statement::bind(int place, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->empty()) return bind_null(place);
    return bind(place, std::string_view(*text));
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return bind(place, *whole);
  if (const auto* claim = std::get_if<bool>(&value)) return bind(place, std::int64_t{*claim ? 1 : 0});
  const double number = std::get<double>(value);
  if (!std::isfinite(number)) return bind_null(place);
  check(sqlite3_bind_double(statement_.get(), place, number));
}

bool Statement::step() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) database_.fail(status);
  return false;
}

void Statement::run() {
  while (step()) {}
  check(sqlite3_reset(statement_.get()));
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::string Statement::text(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT)
    return format_number(sqlite3_column_double(statement_.get(), column));
  const unsigned char* bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr) return "";
  std::string text = reinterpret_cast<const char*>(bytes);  // NOLINT: SQLite's own type for UTF-8
  return first_non_text(text) == std::string::npos ? text : printable(text);
}

}  // namespace noteg::dataset
