// Rules between fields, each one sentence. A rule is checked only where all its fields were read.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "arch/read_spec.hpp"

namespace noteg::arch {

struct Rule {
  std::string_view sentence;           // what must hold: "at least l2.latency"
  std::vector<std::string_view> keys;  // the first is the one reported; the others explain it
  bool (*holds)(const GpuSpec&);
};

[[nodiscard]] std::span<const Rule> rules();

// Adds an error for each rule that does not hold, at the position of the rule's first field.
void check_rules(const PartialSpec& spec, Diagnostics& errors);

}  // namespace noteg::arch
