// One request, one answer, both a line of JSON (docs/serve.md):
//   {"id": 7, "command": "simulate", "arch": "l4", "family": "simt", "tile": "128x128x8", "shape": [4096, 4096, 1024]}
//   {"id": 7, "status": 0, "result": { what the command prints with --format json }}
// A request names the options of the command of the same name. Whatever a line holds, it gets an answer.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace noteg::serve {

// What a command did: exit status and what it wrote.
struct Ran {
  int status = 0;
  std::string out, err;
};

// Runs a command as its words say; safe for many threads.
using Runner = std::function<Ran(const std::string& command, const std::vector<std::string>& words)>;

inline constexpr std::size_t longest_line = std::size_t{8} << 20;

// Remembers answers. Safe for many threads.
class Service {
 public:
  explicit Service(Runner run) : run_(std::move(run)) {}

  // The answer without a newline at its end. request: with or without one.
  [[nodiscard]] std::string answer(std::string_view request);

  [[nodiscard]] static std::string refusal(std::string_view error);  // to a line that cannot even be read

 private:
  static constexpr std::size_t most_remembered = std::size_t{256} << 20;  // bytes
  std::shared_ptr<const std::string> remembered(const std::string& request);
  void remember(const std::string& request, std::shared_ptr<const std::string> body);

  Runner run_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const std::string>> answers_;  // looked up only, never walked
  std::size_t bytes_ = 0;
};

// Lines from one file descriptor, answers to another, in the order of the lines, by several threads. Ends with the
// input, or when nobody reads the answers any more.

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
