#include "tests/properties/random_case.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace noteg::properties {

std::string survives(int seconds, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return std::string("no pipe: ") + std::strerror(errno);
  const pid_t child = fork();
  if (child < 0) return std::string("no process: ") + std::strerror(errno);
  if (child == 0) {
    const auto most = static_cast<rlim_t>(seconds);
    const rlimit limit{most, most + 1};
    setrlimit(RLIMIT_CPU, &limit);
    const std::string said = work();
    _exit(write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(ends[0], part.data(), part.size())) > 0;)
    said.append(part.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGXCPU ? "went on for more than " + std::to_string(seconds) + " s"
                                       : std::string("ended by a signal: ") + strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit status " + std::to_string(WEXITSTATUS(status)) + " " + said;
  return said;
}

}  // namespace noteg::properties
