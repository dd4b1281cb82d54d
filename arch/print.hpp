// Architecture files as text, JSON and CSV: the known GPUs, every number of one with unit and origin, what a checked
// file holds. All return the whole output, with a newline at the end.
#pragma once

#include <map>
#include <string>

#include "arch/load.hpp"

namespace noteg::arch {

// How far off the model was on measurements of a GPU, by id: this folder knows no simulator and is told.
struct Validated {
  double mape = 0;  // mean over the rows
  int rows = 0;
};
using ValidatedGpus = std::map<std::string, Validated, std::less<>>;

// The GPUs of the search directories; a file that cannot be loaded is listed with its first mistake.
[[nodiscard]] std::string list_text(const ValidatedGpus& validated = {});
[[nodiscard]] std::string list_json(const ValidatedGpus& validated = {});
[[nodiscard]] std::string list_csv(const ValidatedGpus& validated = {});

[[nodiscard]] std::string show_text(const SourcedGpu& gpu);
[[nodiscard]] std::string show_json(const SourcedGpu& gpu);
[[nodiscard]] std::string show_csv(const SourcedGpu& gpu);

[[nodiscard]] std::string check_text(const FileSummary& summary);
[[nodiscard]] std::string check_json(const FileSummary& summary);

}  // namespace noteg::arch
