#include "sim/dataset/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "arch/field.hpp"
#include "sim/dataset/hash.hpp"
#include "sim/support/output_file.hpp"

namespace noteg::dataset {
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

}  // namespace noteg::dataset
