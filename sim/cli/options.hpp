// The command line of one command: which options there are, what the user wrote. Every mistake is found in one run; an
// unknown option names the nearest known one. Values stay texts here: whoever needs one converts and checks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"

namespace noteg::cli {

// What a value has to do with files (sim/cli/command_files.cpp).
enum class FileUse : std::uint8_t {
  none,
  input,     // a file that is read, or a folder of such
  gpu,       // a GPU file that is read, or the name of one that is shipped
  kernel,    // the same of a kernel file
  output,    // a file that is written anew; "-": standard output
  database,  // a file that is begun or gone on with
  folder,    // a folder that files are written into
};

struct Option {
  std::string name;   // without the dashes
  std::string value;  // what follows, for the help: "FILE"; empty: a flag
  std::string help;   // one sentence
  bool repeatable = false;
  FileUse use = FileUse::none;
  std::vector<std::string> (*values)() = nullptr;  // what it takes, where that is a list: for completion
};

struct Positional {
  std::string name;  // for help and errors: "ARCH"
  std::size_t least = 0, most = 0;
  FileUse use = FileUse::none;
};

class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;  // in the order given
  [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& given() const { return given_; }

 private:
  friend class ArgumentReader;
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> positional_;
};

// Errors: unknown options, values missing or not wanted, options given twice, too few or too many positional arguments,
// words that are no UTF-8, and what file_errors says of the files that they name.
[[nodiscard]] Result<Arguments> parse_arguments(const std::vector<std::string>& words,
                                                const std::vector<Option>& options, const Positional& positional);

// The parts of a list with commas; given several times, of all together: --tokens 1,16 is --tokens 1 --tokens 16.
[[nodiscard]] std::vector<std::string> listed(const Arguments& arguments, std::string_view name);

// "  --shape MxNxK    problem size", aligned, wrapped at 80 columns.
[[nodiscard]] std::string help_of(const std::vector<Option>& options);

// The files that a command line names: nothing that a command reads may be what it writes, no two outputs may be one
// file, and what cannot be written is told before the work instead of after it.

// Files are the same where device and inode are: by whatever name, through links of either kind, inside a folder that
// is read, or as the file that standard output goes to. Devices and pipes may be read and written. Errors: an output
// that is an input or another output; one that lies in no folder, is a folder, or may not be written.
[[nodiscard]] Diagnostics file_errors(const Arguments& arguments, const std::vector<Option>& options,
                                      const Positional& positional);

// What a shell offers for the word being typed: commands, actions, options and their values, from the tables of the
// program itself. The scripts in cmake/completion only ask `noteg --complete WORD ...` and show the lines.

// words: those after the program's name, the one being typed last, empty where it has not begun. One candidate per
// line, with a tab and a remark behind it where there is one; nothing where a file may follow.
[[nodiscard]] std::string completions(const std::vector<std::string>& words);

// The lists of values that several commands share (Option::values).
[[nodiscard]] std::vector<std::string> arch_values();    // ids of the GPUs known
[[nodiscard]] std::vector<std::string> kernel_values();  // auto, and the shipped kernel files
[[nodiscard]] std::vector<std::string> family_values();
[[nodiscard]] std::vector<std::string> dtype_values();  // of operands
[[nodiscard]] std::vector<std::string> layout_values();
[[nodiscard]] std::vector<std::string> l2_values();
[[nodiscard]] std::vector<std::string> format_values();    // text, json, csv
[[nodiscard]] std::vector<std::string> page_values();      // text, json
[[nodiscard]] std::vector<std::string> setting_values();   // of --set: keys of kernels and GPUs, switches with values
[[nodiscard]] std::vector<std::string> arch_set_values();  // of --set where kernels are given otherwise

}  // namespace noteg::cli
