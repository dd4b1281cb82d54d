// What train, predict and validate share about models: options read and checked, models read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/options.hpp"
#include "sim/dataset/table.hpp"
#include "sim/learn/model.hpp"

namespace noteg::cli {

// A comma-separated list of config, arch, physics, counter.
[[nodiscard]] std::vector<dataset::Group> group_list(const std::string& text, Diagnostics& errors);

// TARGET:FEATURE:+ or -.
struct RuleText {
  std::string target, feature;
  int direction = 1;
};
[[nodiscard]] std::optional<RuleText> rule_text(const std::string& text, Diagnostics& errors);

}  // namespace noteg::cli
