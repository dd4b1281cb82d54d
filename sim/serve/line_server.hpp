// Lines from one file descriptor, answers to another, in the order of the lines, by several threads. Ends with the
// input, or when nobody reads the answers any more.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace noteg::serve {

struct LineServerOptions {
  int in = 0, out = 1;
  unsigned jobs = 1;
  std::size_t longest = 0;  // bytes of a line; longer ones are skipped and answered by `too_long`
  std::string too_long;
};

enum class Ended : std::uint8_t { input_ended, nobody_reads, read_failed };

// answer: called from all threads; its text gets a newline. Empty lines get no answer.
[[nodiscard]] Ended serve_lines(const LineServerOptions& options,
                                const std::function<std::string(std::string_view)>& answer);

}  // namespace noteg::serve
