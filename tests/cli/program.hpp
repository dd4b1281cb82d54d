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

// run.sh of examples/NAME.
[[nodiscard]] Ran run_example(const std::string& name);

[[nodiscard]] std::string readme_of_example(const std::string& name);

}  // namespace noteg::test
