// SIGINT and SIGTERM as a wish to stop: the work at hand is finished and written. A second one ends the process at
// once.
#pragma once

#include <atomic>

namespace noteg::cli {

// Installs the handlers; the flag becomes true with the first signal. The one piece of state that a process has only
// once, as it has its signals once.
[[nodiscard]] const std::atomic<bool>& stop_on_signal();

}  // namespace noteg::cli
