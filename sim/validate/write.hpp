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

// Reasons of one status, most frequent first, ties by text. What was found in the single row is cut off, so that rows
// with the same trouble come together.
[[nodiscard]] std::vector<ReasonCount> reasons(const Validation& validation, Status status);

// A fraction as "4.2 %", absent as "-".
[[nodiscard]] std::string percent(const std::optional<Metrics>& metrics, double Metrics::*member);

// Parts of the page of documentation that judge the errors rather than list them.

// Every slice of at least 30 rows (one column or GPU with another) whose error is above 15 %, or that there is none.
[[nodiscard]] std::string bad_slices_section(const Validation& validation);

// Sets whose times hold host dispatch: errors of short rows on the half of the shapes that the host's constants were
// fitted on, and on the other. Empty where no predicted row is of such a set.
[[nodiscard]] std::string halves_section(const Validation& validation);

// How often measured times lie in their intervals, by what was left out in cross-validation and by GPU: the table that
// the program was built with (sim/confidence/measured_errors.csv).
[[nodiscard]] std::string intervals_section();

// "91 %"; "-" where absent.
[[nodiscard]] std::string share_text(const std::optional<double>& share);

// Text that may stand in a table.
[[nodiscard]] std::string escaped(std::string text);

}  // namespace noteg::validate
