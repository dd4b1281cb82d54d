// A new GPU from what its data sheet says. The entries given go in as they are; every other number of the board is
// derived from a measured board of the same SM generation and says how. Nothing derived counts as measured: it is
// marked as a guess, and what was fitted on the other board is no fit of this one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/load.hpp"

namespace noteg::arch {

// One entry of a data sheet: a row of the template, and an option of `noteg arch new` with '-' for '_'.
struct SheetEntry {
  std::string_view name;
  std::string_view value;    // what follows the option, for its help
  std::string_view key;      // of the architecture file; empty: no key of its own
  std::string_view example;  // of the template
  std::string_view help;
  bool required = false;
};

// The SM generation and the name first.
[[nodiscard]] std::span<const SheetEntry> sheet_entries();

// Entry names with their texts, in any order, each at most once.
using Sheet = std::vector<std::pair<std::string, std::string>>;

// A YAML file that holds every entry with its meaning; those that may be left out are commented out.
[[nodiscard]] std::string sheet_template();

// Errors: unreadable file, unknown entries, values that are no scalars.
[[nodiscard]] Result<Sheet> read_sheet(const std::string& path);

// Errors: entries that are missing or wrong (key: the option), a generation without a measured board, derived numbers
// that break a rule between fields.
[[nodiscard]] Result<SourcedGpu> gpu_of_sheet(const Sheet& sheet);

}  // namespace noteg::arch
