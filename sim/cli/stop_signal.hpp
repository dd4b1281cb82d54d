// SIGINT and SIGTERM as a wish to stop: the work at hand is finished and written. A second one ends the process at
// once.
#pragma once

#include <atomic>

namespace noteg::cli {

// Installs the handlers; the flag becomes true with the first signal. The one piece of state that a process has only
// once, as it has its signals once.
[[nodiscard]] const std::atomic<bool>& stop_on_signal();

// For programs that run a command inside themselves: begins with no signal seen, and gives the handlers back that were
// there before.
class StopScope {
 public:
  StopScope();
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  [[nodiscard]] bool stopped_by_signal() const;

 private:
  using Handler = void (*)(int);
  Handler interrupt_, terminate_;
};

}  // namespace noteg::cli
