// Two listings of one kernel, before and after a change: which instructions came and went, and where warps spend more
// or less time. Instructions are matched in order by what they do (mnemonic and modifiers).
#pragma once

#include <string>
#include <vector>

#include "sim/compiled/source_view.hpp"

namespace noteg::compiled {

struct MovedLine {
  std::int64_t before = -1, after = -1;  // rows; -1: not there
  double samples_before = 0, samples_after = 0;
};

// Rows in an order that both have in common, those that only one has in between.
[[nodiscard]] std::vector<MovedLine> match_listings(const std::vector<SourceRow>& before,
                                                    const std::vector<SourceRow>& after);

struct ListingSide {
  std::string name;  // of its file
  const CompiledRun* run = nullptr;
  std::vector<SourceRow> rows;
};

// Time, registers and stalls of both, and the instructions whose share of time moved most.
[[nodiscard]] std::string compare_text(const ListingSide& before, const ListingSide& after, std::size_t most = 15);

}  // namespace noteg::compiled
