// Files that a program writes. What is there is replaced only by a new file that is whole: a full disk, a kill or a
// failed run leaves the old one. The new file grows beside it under a name of its own (PATH.<process>.part), which must
// not exist: a link laid there is not followed, a stranger's file is not touched. It takes over the permissions of the
// file that it replaces; a file that replaces none follows the umask. A link at PATH itself is followed.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace noteg {

// "PATH: why": full disk, no permission, no such folder.
class OutputError : public std::runtime_error {
 public:
  OutputError(const std::string& path, int error_number);
};

// The absolute path without links that a path leads to, be there a file or not. Where it leads nowhere (a circle of
// links, a file that is used as a folder), as far as it can be followed.
[[nodiscard]] std::string place_of(const std::string& path);

// Is it a file with contents of its own, or none yet? Devices and pipes are written as they are.
[[nodiscard]] bool is_plain_output(const std::string& path);

// Do both descriptor and path lead to the same plain file?
[[nodiscard]] bool is_same_file(int descriptor, const std::string& path);

// The new file that is to take the place of another, or of none. Gone with the object unless it did.
class Replacement {
 public:
  explicit Replacement(const std::string& path);  // throws OutputError
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // of the new file while it grows

  void close();       // throws OutputError: some systems report a full disk only now
  void take_place();  // closes; throws OutputError

 private:
  std::string path_, target_, name_;  // as given, links followed, while it grows
  int descriptor_ = -1;
  bool placed_ = false;
};

// Standard output where the path is "-" or leads to the file that standard output goes to.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);  // throws OutputError, as all of it does
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void finish();  // without it a plain file is not replaced

  // false: whoever read the pipe has seen enough, and nothing more needs to be written. No error.
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }

 private:
  void flush();
  std::string path_, waiting_;
  std::optional<Replacement> replacement_;
  int descriptor_ = -1;
  bool is_own_ = false;  // a device or pipe that this object opened
  bool is_wanted_ = true;
};

// gzip: the same text gives the same bytes, no name and no time inside.
[[nodiscard]] std::string gzipped(std::string_view text);

}  // namespace noteg
