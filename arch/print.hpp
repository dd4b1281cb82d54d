// Architecture files as text, JSON and CSV: the known GPUs, every number of one with unit and origin, what a checked
// file holds. All return the whole output, with a newline at the end.
#pragma once

#include <string>

#include "arch/load.hpp"

namespace noteg::arch {

// The GPUs of the search directories; a file that cannot be loaded is listed with its first mistake.
[[nodiscard]] std::string list_text();
[[nodiscard]] std::string list_json();
[[nodiscard]] std::string list_csv();

[[nodiscard]] std::string show_text(const SourcedGpu& gpu);
[[nodiscard]] std::string show_json(const SourcedGpu& gpu);
[[nodiscard]] std::string show_csv(const SourcedGpu& gpu);

[[nodiscard]] std::string check_text(const FileSummary& summary);
[[nodiscard]] std::string check_json(const FileSummary& summary);

}  // namespace noteg::arch
