#include "sim/dataset/export.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "sim/support/csv.hpp"

namespace noteg::dataset {
namespace {

namespace fs = std::filesystem;

// A file whose every failure is told; "-" is standard output. A plain file is there in full or not at all: until it
// is closed it is PATH.tmp. Devices and pipes are written as they are.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path), target_(is_plain(path) ? path + ".tmp" : path) {
    file_ = path == "-" ? stdout : std::fopen(target_.c_str(), "wb");
    if (file_ == nullptr) fail();
  }
  ~Output() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
    std::error_code ignored;
    if (!done_ && target_ != path_) fs::remove(target_, ignored);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
  }
  void close() {
    const bool good = file_ == stdout ? std::fflush(file_) == 0 : std::fclose(file_) == 0;
    if (file_ != stdout) file_ = nullptr;
    if (!good) fail();
    if (target_ != path_ && std::rename(target_.c_str(), path_.c_str()) != 0) fail();
    done_ = true;
  }

 private:
  static bool is_plain(const std::string& path) {
    std::error_code ignored;
    const fs::file_type kind = fs::status(path, ignored).type();
    return path != "-" && (kind == fs::file_type::regular || kind == fs::file_type::not_found);
  }
  [[noreturn]] void fail() const { throw StoreError(path_ + ": cannot be written: " + std::strerror(errno)); }
  std::string path_, target_;
  std::FILE* file_ = nullptr;
  bool done_ = false;
};

}  // namespace

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
  Output output(out);
  output.write(csv_line(header));
  std::vector<std::string> fields(header.size());
  while (rows.step()) {
    for (std::size_t c = 0; c < fields.size(); ++c) fields[c] = rows.text(static_cast<int>(c));
    output.write(csv_line(fields));
  }
  output.close();
}

}  // namespace noteg::dataset
