// What `noteg simulate --asm` tells of a micro-kernel: counters of the whole run, and per trip of the main loop from
// the difference of two runs, so that start and end drop out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/sm/sm.hpp"

namespace noteg::cli {

struct AssemblyView {
  std::string gpu, arch;
  int warps = 1, ctas = 1;                // warps per CTA
  std::int64_t trips = 0, few_trips = 0;  // of the main loop; few 0: there is none, or the run is too short
  std::vector<std::pair<std::string, std::string>> switches;  // changed ones: name, value
  sm::SmResult run, shorter;
};

[[nodiscard]] std::string view_text(const AssemblyView& view);
[[nodiscard]] std::string view_json(const AssemblyView& view);
[[nodiscard]] std::string view_csv(const AssemblyView& view);  // one figure a row

}  // namespace noteg::cli
