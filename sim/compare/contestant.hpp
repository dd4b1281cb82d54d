// Who is compared: a GPU out of the architecture files, or a what-if copy of one, written l4:l2.size=24MiB.
#pragma once

#include <string>
#include <vector>

#include "arch/load.hpp"

namespace noteg::compare {

struct Contestant {
  std::string label;    // short and unique: l4, "l4 (2)" for the second of that name
  std::string what_if;  // what was changed: "l2.size=24MiB, clock.boost=1.5GHz"; empty for a GPU as it is
  arch::GpuSpec gpu;
};

struct WhatIf {
  std::string arch;  // name or path
  arch::Overrides changes;
};

// ARCH[:KEY=VALUE...]. A colon that no KEY= follows belongs to the path.
[[nodiscard]] Result<WhatIf> parse_what_if(const std::string& text);

// A new boost clock moves the clock that the board sustains by the same factor, unless that is given too: the boost
// clock alone is a figure of the data sheet.
[[nodiscard]] Result<arch::GpuSpec> load_what_if(const WhatIf& what_if, const arch::Overrides& for_all);

// Every mistake of all of them. for_all: --set arch.KEY=VALUE, applied before each one's own changes.
[[nodiscard]] Result<std::vector<Contestant>> load_contestants(const std::vector<std::string>& texts,
                                                               const arch::Overrides& for_all);

}  // namespace noteg::compare
