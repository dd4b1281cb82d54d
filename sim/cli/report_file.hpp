// --report FILE: the command's result as one HTML page beside what it prints.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/cli/options.hpp"

namespace noteg::cli {

[[nodiscard]] Option report_option();

// A folder that does not exist, a folder instead of a file, standard output: told before a long run, not after it.
void check_report(const Arguments& arguments, Diagnostics& errors);

// The command line that prints the figures of the page: all that was given but what concerns files and the terminal.
[[nodiscard]] std::string command_line(std::string_view command, const Arguments& arguments);

// Writes the page if it was asked for, with the command on it. The exit status: done, or failed where the file cannot
// be written.
[[nodiscard]] int write_report(std::string_view command, const Arguments& arguments,
                               const std::function<std::string()>& page);

}  // namespace noteg::cli
