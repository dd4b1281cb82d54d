#include "sim/dataset/store.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <sstream>

#include "arch/field.hpp"
#include "sim/dataset/sampling.hpp"
#include "sim/support/output_file.hpp"
#include "sim/support/text.hpp"

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

namespace {

std::string shard_text(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

// The first line in which two canonical sweeps differ.
std::string difference(const std::string& had, const std::string& has) {
  std::istringstream a(had), b(has);
  std::string old_line, new_line;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(a, old_line));
    const bool more_b = static_cast<bool>(std::getline(b, new_line));
    if (!more_a && !more_b) return "";
    if (!more_b) return fmt::format("\"{}\" is gone", old_line);
    if (!more_a) return fmt::format("\"{}\" is new", new_line);
    if (old_line != new_line) return fmt::format("\"{}\" was \"{}\"", new_line, old_line);
  }
}

}  // namespace

// Held while a process writes, so that a second one is turned away. The kernel drops it with the process, however that
// ends. A file of its own: SQLite's locks on the data set would be lost with any other handle that closes.
class Store::Lock {
 public:
  static std::unique_ptr<Lock> take(const std::string& data_set) {
    const std::string path = place_of(data_set) + ".lock";  // links to one data set share its lock
    while (true) {
      const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
      if (file < 0)
        throw StoreError(
            fmt::format("{}: {} (is the folder there, and may it be written to?)", data_set, std::strerror(errno)));
      std::unique_ptr<Lock> lock(new Lock(path, file));
      if (::flock(file, LOCK_EX | LOCK_NB) != 0) return nullptr;
      lock->held_ = true;
      struct stat now {};
      if (::fstat(file, &now) == 0 && now.st_nlink > 0) return lock;
      lock->held_ = false;  // removed by its last holder between the two calls
    }
  }
  ~Lock() {
    if (held_) ::unlink(path_.c_str());
    ::close(file_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Lock(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_;
  bool held_ = false;
};

namespace {

// SQLite keeps its log beside the name that it was given. Under another name of the same file nobody would find that
// log: rows would be lost, and two writers would not see each other.
bool has_other_names(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink > 1;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const Sweep& sweep, const Shard& shard) {
  if (has_other_names(path))
    return Diagnostic{path, 0, 0, "", "a file with one name (a copy has one)", "one with several: hard links"};
  std::unique_ptr<Lock> lock = Lock::take(path);
  if (!lock) return Diagnostic{path, 0, 0, "", "a file that no other run is writing", "one that is being written"};
  std::unique_ptr<Store> store(new Store(path, std::move(lock)));
  Result<bool> filled = holds_data_set(store->database_);
  if (!filled) return filled.errors();
  if (*filled) {
    if (Diagnostics errors = store->check(sweep, shard); !errors.empty()) return errors;
  }
  // Commits need no sync of the disk: a killed program loses none, a machine that loses power may lose the last ones.
  store->database_.run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
  if (!*filled) store->create(sweep, shard);
  store->read_done();
  store->insert_ = std::make_unique<Statement>(store->database_, insert_sql(stored_columns()));
  return store;
}

Store::Store(std::string path, std::unique_ptr<Lock> lock)
    : lock_(std::move(lock)), database_(std::move(path), Database::Access::write) {}

Store::~Store() = default;

void Store::create(const Sweep& sweep, const Shard& shard) {
  database_.run("BEGIN IMMEDIATE");
  create_tables(database_, stored_columns());
  set_meta(database_, "sweep", sweep.text);
  set_meta(database_, "sweep_canonical", sweep.canonical);
  set_meta(database_, "sweep_hash", fingerprint(sweep.canonical));
  set_meta(database_, "gpu_hash", gpu_fingerprint(sweep));
  set_meta(database_, "shard", shard_text(shard));
  set_meta(database_, "rows", std::to_string(sweep.rows));
  set_meta(database_, "noteg", NOTEG_VERSION);
  database_.run("COMMIT");
}

Diagnostics Store::check(const Sweep& sweep, const Shard& shard) {
  const std::string& file = database_.path();
  const auto meta = [&](std::string_view key) { return meta_value(database_, key).value_or(""); };
  if (meta("sweep_hash") != fingerprint(sweep.canonical))
    return {{file, 0, 0, "", "rows of this sweep (another sweep needs another file)",
             "rows of a sweep that differs: " + difference(meta("sweep_canonical"), sweep.canonical)}};
  if (meta("noteg") != NOTEG_VERSION)
    return {{file, 0, 0, "", "rows of noteg " NOTEG_VERSION " (a data set is finished by the version that began it)",
             "rows of noteg " + meta("noteg")}};
  if (meta("gpu_hash") != gpu_fingerprint(sweep))
    return {{file, 0, 0, "",
             "rows simulated with the GPU files as they are now (begin a new file, or bring the old GPU files back)",
             "rows from before a GPU file was changed"}};
  if (meta("shard") != shard_text(shard))
    return {{file, 0, 0, "", "rows of shard " + shard_text(shard) + " (each shard needs a file of its own)",
             "rows of shard " + meta("shard")}};
  Statement names(database_, "SELECT name FROM columns ORDER BY rowid");
  std::vector<std::string> found;
  while (names.step()) found.push_back(names.text(0));
  std::vector<std::string> wanted;
  for (const Column& column : stored_columns()) wanted.push_back(column.name);
  if (found != wanted)
    return {{file, 0, 0, "", "the columns of this version of noteg (begin a new file)", "those of another version"}};
  return {};
}

void Store::read_done() {
  Statement rows(database_, "SELECT row_id, error IS NOT NULL FROM rows ORDER BY row_id");
  while (rows.step()) {
    done_.push_back(static_cast<std::size_t>(rows.integer(0)));
    failed_ += rows.integer(1) != 0 ? 1 : 0;
  }
}

void Store::write(const std::vector<FinishedRow>& rows) {
  if (rows.empty()) return;
  database_.run("BEGIN IMMEDIATE");
  for (const FinishedRow& row : rows) {
    int place = 1;
    insert_->bind(place++, static_cast<std::int64_t>(row.row));
    for (const Value& value : row.values) insert_->bind(place++, value);
    insert_->bind(place, Value{row.error});
    insert_->run();
  }
  database_.run("COMMIT");
}

void Store::finish() {
  insert_.reset();
  database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database_.run("PRAGMA journal_mode=DELETE");
}

std::string fingerprint_of(const Sweep& sweep) { return fingerprint(sweep.canonical) + gpu_fingerprint(sweep); }

std::string gpu_fingerprint(const Sweep& sweep) {
  std::string text;
  for (const arch::GpuSpec& gpu : sweep.gpus) {
    text += gpu.id + "\n";
    for (const arch::Field& field : arch::fields())
      text += fmt::format("{}={}\n", field.key, arch::format_value(field, field.get(gpu)));
  }
  return fingerprint(text);
}

// The tables of a data set, apart from what they are filled with.

std::optional<std::string> meta_value(Database& database, std::string_view key) {
  Statement statement(database, "SELECT value FROM meta WHERE key = ?");
  statement.bind(1, key);
  if (!statement.step()) return std::nullopt;
  return statement.text(0);
}

void set_meta(Database& database, std::string_view key, std::string_view value) {
  Statement statement(database, "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)");
  statement.bind(1, key);
  statement.bind(2, value);
  statement.run();
}

Result<bool> holds_data_set(Database& database) {
  const auto count = [&](std::string_view condition) {
    Statement statement(database, fmt::format("SELECT count(*) FROM sqlite_master{}", condition));
    return statement.step() ? statement.integer(0) : 0;
  };
  const auto wrong = [&](std::string found) {
    return Diagnostic{database.path(), 0, 0, "", "a data set of noteg generate", std::move(found)};
  };
  try {
    if (count("") == 0) return false;
    // Views and virtual tables compute their rows, perhaps for ever.
    if (count(" WHERE type = 'table' AND name IN ('rows', 'columns', 'meta') AND sql NOT LIKE 'CREATE VIRTUAL%'") != 3)
      return wrong("an SQLite file with other tables");
    const std::string version = meta_value(database, "schema_version").value_or("none");
    if (version != std::to_string(schema_version))
      return wrong(fmt::format("one of schema version {} (this program reads {})", version, schema_version));
  } catch (const StoreError& error) {
    return wrong(error.what());
  }
  return true;
}

void create_tables(Database& database, const std::vector<Column>& columns) {
  std::string sql = "CREATE TABLE rows(row_id INTEGER PRIMARY KEY";
  for (const Column& column : columns) sql += ", " + quoted_name(column.name);
  database.run(sql + ", error TEXT)");
  database.run("CREATE TABLE columns(name TEXT PRIMARY KEY, unit TEXT, meaning TEXT, grp TEXT)");
  database.run("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)");
  Statement insert(database, "INSERT INTO columns(name, unit, meaning, grp) VALUES(?, ?, ?, ?)");
  for (const Column& column : columns) {
    insert.bind(1, std::string_view(column.name));
    insert.bind(2, std::string_view(column.unit));
    insert.bind(3, std::string_view(column.meaning));
    insert.bind(4, name_of(column.group));
    insert.run();
  }
  set_meta(database, "schema_version", std::to_string(schema_version));
}

std::string insert_sql(const std::vector<Column>& columns) {
  std::string sql = "INSERT OR IGNORE INTO rows VALUES(?";
  for (std::size_t i = 0; i < columns.size(); ++i) sql += ", ?";
  return sql + ", ?)";
}

}  // namespace noteg::dataset
