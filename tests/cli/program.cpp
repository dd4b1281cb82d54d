#include "tests/cli/program.hpp"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace noteg::test {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

Ran run_shell(const std::string& command) {
  std::string folder = (std::filesystem::temp_directory_path() / "noteg_cli_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return {};
  // What the command leaves in temporary files goes with the folder; folders that the caller searches are not searched.
  const std::string line = "TMPDIR='" + folder + "'; NOTEG='" NOTEG_PROGRAM "'; export TMPDIR NOTEG; " +
                           "unset NOTEG_ARCH_PATH NOTEG_KERNEL_PATH; { " + command + "\n} >" + folder + "/out 2>" +
                           folder + "/err </dev/null";
  const int status = std::system(line.c_str());
  Ran ran;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = contents(folder + "/out");
  ran.err = contents(folder + "/err");
  std::filesystem::remove_all(folder);
  return ran;
}

Ran run_program(const std::string& arguments) { return run_shell("\"$NOTEG\" " + arguments); }

Ran run_example(const std::string& name) {
  return run_shell("'" NOTEG_SOURCE_DIR "/examples/" + name + "/run.sh' \"$NOTEG\"");
}

std::string output_on_page(const std::string& page, const std::string& printed) {
  const std::filesystem::path path = std::filesystem::path(NOTEG_SOURCE_DIR) / page;
  std::string text = contents(path);
  const std::string opening = " -->\n```text\n";
  const std::size_t marker = text.find("<!-- output: "), mark = text.find(opening, marker);
  if (marker == std::string::npos || mark == std::string::npos) return page + " has no mark of an output";
  const std::size_t begin = mark + opening.size(), end = text.find("```\n<!-- /output -->", begin);
  if (end == std::string::npos) return page + " has no mark of an output's end";
  if (std::getenv("NOTEG_UPDATE_GENERATED") == nullptr) return text.substr(begin, end - begin);
  text.replace(begin, end - begin, printed);
  std::ofstream(path) << text;
  return printed;
}

}  // namespace noteg::test
