#include "sim/cli/stop_signal.hpp"

#include <csignal>

namespace noteg::cli {
namespace {

std::atomic<bool> stopped = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

extern "C" void noteg_stop(int signal) {
  if (stopped.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

const std::atomic<bool>& stop_on_signal() {
  std::signal(SIGINT, noteg_stop);
  std::signal(SIGTERM, noteg_stop);
  return stopped;
}

StopScope::StopScope() : interrupt_(std::signal(SIGINT, SIG_DFL)), terminate_(std::signal(SIGTERM, SIG_DFL)) {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
  stopped = false;
}

StopScope::~StopScope() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
}

bool StopScope::stopped_by_signal() const { return stopped; }

}  // namespace noteg::cli
