#include "sim/support/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace noteg {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block = std::size_t{1} << 16;

// The owner can only be kept by an administrator, the group by its members: what a group was allowed is then for
// nobody.
void take_over_permissions(int file, const struct stat& old) {
  const bool same_group = ::fchown(file, static_cast<uid_t>(-1), old.st_gid) == 0;
  [[maybe_unused]] const bool same_owner = ::fchown(file, old.st_uid, static_cast<gid_t>(-1)) == 0;
  ::fchmod(file, old.st_mode & (same_group ? 0777U : 0707U));
}

// false: the reader of a pipe is gone.
bool write_all(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) throw OutputError(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

OutputError::OutputError(const std::string& path, int error_number)
    : std::runtime_error(path + ": " + std::strerror(error_number)) {}

std::string place_of(const std::string& path) {
  constexpr int most_links = 40;
  fs::path at = path;
  std::error_code failed;
  for (int link = 0; link < most_links && fs::is_symlink(at, failed); ++link) {
    const fs::path to = fs::read_symlink(at, failed);
    if (failed) break;
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  const fs::path place = fs::weakly_canonical(fs::absolute(at, failed), failed);
  return failed ? at.string() : place.string();
}

bool is_plain_output(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
}

bool is_same_file(int descriptor, const std::string& path) {
  struct stat one {
  }, other{};
  return ::fstat(descriptor, &one) == 0 && S_ISREG(one.st_mode) && ::stat(path.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

Replacement::Replacement(const std::string& path) : path_(path), target_(place_of(path)) {
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (replaces && ::access(target_.c_str(), W_OK) != 0) throw OutputError(path_, errno);  // protected against changes
  constexpr int most_names = 100;  // a killed process of the same number may have left some
  for (int i = 0; i < most_names && descriptor_ < 0; ++i) {
    name_ = fmt::format("{}.{}{}.part", target_, getpid(), i == 0 ? "" : fmt::format(".{}", i));
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, replaces ? 0600 : 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw OutputError(path_, errno);
  if (replaces) take_over_permissions(descriptor_, old);
}

Replacement::~Replacement() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!placed_) ::unlink(name_.c_str());
}

void Replacement::close() {
  if (descriptor_ < 0) return;
  const int status = ::close(descriptor_);
  descriptor_ = -1;
  if (status != 0) throw OutputError(path_, errno);
}

void Replacement::take_place() {
  close();
  if (std::rename(name_.c_str(), target_.c_str()) != 0) throw OutputError(path_, errno);
  placed_ = true;
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-" || is_same_file(STDOUT_FILENO, path)) {
    path_ = "standard output";
    descriptor_ = STDOUT_FILENO;
    std::fflush(stdout);
  } else if (is_plain_output(path)) {
    descriptor_ = replacement_.emplace(path).descriptor();
  } else {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    is_own_ = true;
    if (descriptor_ < 0) throw OutputError(path_, errno);
  }
}

OutputFile::~OutputFile() {
  if (is_own_ && descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::string_view text) {
  if (waiting_.empty() && text.size() >= block) {
    is_wanted_ = is_wanted_ && write_all(descriptor_, text, path_);
    return;
  }
  waiting_ += text;
  if (waiting_.size() >= block) flush();
}

void OutputFile::flush() {
  is_wanted_ = is_wanted_ && write_all(descriptor_, waiting_, path_);
  waiting_.clear();
}

void OutputFile::finish() {
  flush();
  if (replacement_) {
    replacement_->take_place();
  } else if (is_own_) {
    const int status = ::close(descriptor_);
    descriptor_ = -1;
    if (status != 0) throw OutputError(path_, errno);
  }
}

}  // namespace noteg
