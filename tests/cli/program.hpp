// Runs the real program and catches what it says.
#pragma once

#include <string>

namespace noteg::test {

struct Ran {
  int status = -1;  // exit status; 128 + N where a signal ended it
  std::string out, err;
};

// arguments: a shell command line after the program's name.
[[nodiscard]] Ran run_program(const std::string& arguments);

// A whole shell command in which $NOTEG is the program.
[[nodiscard]] Ran run_shell(const std::string& command);

[[nodiscard]] inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// run.sh of examples/NAME.
[[nodiscard]] Ran run_example(const std::string& name);

// What a page shows between its lines `<!-- output: ... -->` and `<!-- /output -->`, in a block of text. With the
// environment variable NOTEG_UPDATE_GENERATED=1 what was printed is written there before, on every page that shows it.
[[nodiscard]] std::string output_on_page(const std::string& page, const std::string& printed);

}  // namespace noteg::test
