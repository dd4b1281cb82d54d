// A validation as text, JSON, CSV, as a page of documentation, and row by row.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/validate/validate.hpp"

namespace noteg::validate {

// by: the columns that the groups were made from; they head the tables and are the groups' keys in JSON.
[[nodiscard]] std::string to_text(const Validation& validation, const std::vector<std::string>& by);
[[nodiscard]] std::string to_json(const Validation& validation, const std::vector<std::string>& by);
[[nodiscard]] std::string to_csv(const Validation& validation, const std::vector<std::string>& by);

// Every input row, in order, every column as it was, plus the predicted ones and skipped_reason.
[[nodiscard]] std::string predictions_csv(const Validation& validation);

// docs/validation.md: which data, how many rows, what was skipped, which constants were fitted on what, errors by
// source and GPU, family, duration and waves. Holds no wall time, so that the same data gives the same page.
[[nodiscard]] std::string to_markdown(const Validation& validation);

struct ReasonCount {
  std::string reason;
  std::size_t rows = 0;
  std::string first;  // FILE:LINE of the first of them
};

// Reasons of one fate, most frequent first, ties by text. What was found in the single row is cut off, so that rows
// with the same trouble come together.
[[nodiscard]] std::vector<ReasonCount> reasons(const Validation& validation, Fate fate);

// A fraction as "4.2 %", absent as "-".
[[nodiscard]] std::string percent(const std::optional<Metrics>& metrics, double Metrics::*member);

}  // namespace noteg::validate
