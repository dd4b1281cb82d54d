#include "sim/cli/options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/compare/compare.hpp"
#include "sim/support/output_file.hpp"

namespace noteg::cli {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string key;  // as errors name it: "--data"; empty: no option
  std::string path;
  FileUse use = FileUse::none;
};

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const Identity&) const = default;
};

struct Known {
  Identity identity;
  const Named* by = nullptr;
};

std::optional<Identity> identity_of(const struct stat& found) {
  if (!S_ISREG(found.st_mode)) return std::nullopt;
  return Identity{found.st_dev, found.st_ino};
}

std::optional<Identity> identity_of(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return identity_of(found);
}

// Shipped files may be asked for by name, a GPU also with changes behind it (noteg compare).
std::string path_of(const std::string& text, FileUse use) {
  if (use != FileUse::gpu && use != FileUse::kernel) return text;
  const Result<compare::WhatIf> what_if = compare::parse_what_if(text);
  const Result<fs::path> file =
      use == FileUse::kernel ? kernels::find_kernel_file(text) : arch::find_gpu_file(what_if ? what_if->arch : text);
  return file ? file->string() : text;
}

bool is_read(FileUse use) { return use == FileUse::input || use == FileUse::gpu || use == FileUse::kernel; }

bool writes_to_file() {
  struct stat found {};
  return ::fstat(STDOUT_FILENO, &found) == 0 && S_ISREG(found.st_mode);
}

std::vector<Named> named_files(const Arguments& arguments, const std::vector<Option>& options,
                               const Positional& positional) {
  std::vector<Named> all;
  const auto add = [&](const std::string& key, const std::string& text, FileUse use) {
    if (use != FileUse::none) all.push_back({key, path_of(text, use), use});
  };
  for (const Option& option : options)
    for (const std::string& text : arguments.texts(option.name)) add("--" + option.name, text, option.use);
  for (const std::string& text : arguments.positional()) add("", text, positional.use);
  // What a GPU's file is based on is read too. It takes a look into the file, which nothing that is written may spare.
  if (!writes_to_file() && std::ranges::all_of(all, is_read, &Named::use)) return all;
  for (std::size_t i = 0, named = all.size(); i < named; ++i) {
    if (all[i].use != FileUse::gpu) continue;
    const Result<fs::path> base = arch::base_file_of(all[i].path);
    if (base) all.push_back({all[i].key, base->string(), FileUse::gpu});
  }
  return all;
}

void add_input(const Named& input, std::vector<Known>& known) {
  std::error_code failed;
  if (fs::is_directory(input.path, failed)) {
    for (fs::directory_iterator entry(input.path, failed), end; !failed && entry != end; entry.increment(failed))
      if (const std::optional<Identity> identity = identity_of(entry->path())) known.push_back({*identity, &input});
  } else if (const std::optional<Identity> identity = identity_of(input.path)) {
    known.push_back({*identity, &input});
  }
}

const Named* user_of(const std::optional<Identity>& identity, const std::vector<Known>& known) {
  for (const Known& one : known)
    if (identity == one.identity) return one.by;
  return nullptr;
}

// Why an output cannot be written; nothing: it can, as far as can be seen before the work.
std::string hindrance(const Named& output) {
  const std::string& path = output.path;
  std::error_code failed;
  if (path == "-" || output.use == FileUse::database) return "";  // a data set is opened before the work
  if (output.use == FileUse::folder) {
    const bool is_there = fs::exists(path, failed);
    if (is_there && !fs::is_directory(path, failed)) return "a file";
    return is_there && ::access(path.c_str(), W_OK | X_OK) != 0 ? std::strerror(errno) : "";
  }
  if (path.empty()) return "nothing";
  if (fs::is_directory(path, failed)) return "a folder";
  if (!is_plain_output(path)) return ::access(path.c_str(), W_OK) != 0 ? std::strerror(errno) : "";
  try {
    const Replacement trial(path);
    return "";
  } catch (const OutputError& error) {
    return error.what();
  }
}

bool has_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code failed;
  return folder.empty() || fs::is_directory(folder, failed);
}

// Files that are not there yet are the same where their paths lead to the same place.
bool is_same_path(const Named& one, const Named& other) {
  return one.path != "-" && is_plain_output(one.path) && place_of(one.path) == place_of(other.path);
}

std::string told(const Named& file, const Named& other, const std::string& use) {
  return "\"" + file.path + "\", which is " + use + (other.key.empty() ? "" : " as " + other.key);
}

class OutputCheck {
 public:
  // format: of the result on standard output, as it was asked for.
  OutputCheck(const std::vector<Named>& files, std::string format) : files_(files), format_(std::move(format)) {
    for (const Named& file : files)
      if (is_read(file.use)) add_input(file, inputs_);
  }

  Diagnostics errors() {
    for (const Named& file : files_)
      if (!is_read(file.use)) check(file);
    check_standard_output();
    return std::move(errors_);
  }

 private:
  void check(const Named& output) {
    const std::optional<Identity> identity = identity_of(output.path);
    const Named* reader = user_of(identity, inputs_);
    const Named* writer = user_of(identity, outputs_);
    for (const Named* before : seen_)
      if (writer == nullptr && is_same_path(*before, output)) writer = before;
    if (reader != nullptr)
      error(output, "a file that this command does not read", told(output, *reader, "read"));
    else if (writer != nullptr)
      error(output, "a file of its own", told(output, *writer, "written"));
    else if (output.path == "-" && (format_ == "json" || format_ == "csv"))  // two texts in one are neither
      error(output, "a file (standard output holds the result as " + format_ + ")", "\"-\"");
    else if (output.use == FileUse::output && !output.path.empty() && !has_folder(output.path))
      error(output, "a file in a folder that exists", "\"" + output.path + "\"");
    else if (const std::string why = hindrance(output); !why.empty())
      error(output, output.use == FileUse::folder ? "a folder to write into" : "a file that can be written", why);
    if (identity) outputs_.push_back({*identity, &output});
    seen_.push_back(&output);
  }

  void check_standard_output() {
    struct stat found {};
    if (::fstat(STDOUT_FILENO, &found) != 0) return;
    if (const Named* reader = user_of(identity_of(found), inputs_))
      errors_.push_back(
          {"", 0, 0, "standard output", "a file that this command does not read", told(*reader, *reader, "read")});
  }

  void error(const Named& output, std::string expected, std::string found) {
    errors_.push_back({"", 0, 0, output.key, std::move(expected), std::move(found)});
  }

  const std::vector<Named>& files_;
  std::string format_;
  std::vector<Known> inputs_, outputs_;
  std::vector<const Named*> seen_;
  Diagnostics errors_;
};

}  // namespace

Diagnostics file_errors(const Arguments& arguments, const std::vector<Option>& options, const Positional& positional) {
  const std::vector<Named> files = named_files(arguments, options, positional);
  return OutputCheck(files, arguments.text("format").value_or("")).errors();
}

}  // namespace noteg::cli
