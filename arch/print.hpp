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

// The GPUs of the search path; a file that cannot be loaded is listed with its first mistake.
[[nodiscard]] std::string list_text(const ValidatedGpus& validated = {});
[[nodiscard]] std::string list_json(const ValidatedGpus& validated = {});
[[nodiscard]] std::string list_csv(const ValidatedGpus& validated = {});

[[nodiscard]] std::string show_text(const SourcedGpu& gpu);
[[nodiscard]] std::string show_json(const SourcedGpu& gpu);
[[nodiscard]] std::string show_csv(const SourcedGpu& gpu);

[[nodiscard]] std::string check_text(const FileSummary& summary);
[[nodiscard]] std::string check_json(const FileSummary& summary);

// A GPU as the text of an architecture file: the numbers that its own file holds, with their origins, and its base by
// name. What the base holds stays there.

// Loading the text gives the same spec and the same origins again. comment: the lines above, without '#'; may be empty.
// A number belongs to the file where its origin names the GPU's file, or "" (set by a program).
[[nodiscard]] std::string to_yaml(const SourcedGpu& gpu, const std::string& comment);

// JSON Schema (draft 2020-12) of architecture files, for editors. Generated from fields(), as the checks are; what a
// schema cannot say (rules between fields, fitted counts) only `noteg arch check` knows.
[[nodiscard]] std::string json_schema();

// docs/reference/architecture-reference.md: every key of an architecture file, from the table that loads them.
[[nodiscard]] std::string reference_page();

}  // namespace noteg::arch
