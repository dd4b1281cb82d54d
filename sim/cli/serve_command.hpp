// noteg serve, and what else answers requests with commands: the C interface, the Python module.
#pragma once

#include "sim/serve/service.hpp"

namespace noteg::cli {

// Runs simulate, compare, tune, predict and workload as the command line would, with --format json and one thread where
// the request says nothing of them; what would write a file is refused. Copies share what they remember.
[[nodiscard]] serve::Runner request_runner();

}  // namespace noteg::cli
