// What a workload costs, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/workload.hpp"

namespace noteg::workload {

// Beside the figures: what they are of.
struct Heading {
  std::string title;               // "Llama 3 8B, prefill" or the file's name
  std::vector<std::string> notes;  // assumptions, one sentence each
};

[[nodiscard]] std::string to_text(const Results& results, const Heading& heading);
[[nodiscard]] std::string to_json(const Results& results, const Heading& heading);

// One row for each operation of each case; the row `all` has the sums.
[[nodiscard]] std::string to_csv(const Results& results);

// "h100-sxm5-80gb, 400 W, 16 tokens": what tells cases apart.
[[nodiscard]] std::string label_of(const CaseResult& result);

}  // namespace noteg::workload
