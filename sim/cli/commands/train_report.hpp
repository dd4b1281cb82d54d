// What `noteg train` prints: the validation, what measured rows say of the model, and, for a residual model, times and
// powers before and after it.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/options.hpp"
#include "sim/dataset/table.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/model.hpp"
#include "sim/learn/training.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::cli {

struct TestResult {
  std::string file;
  validate::Validation model, simulator;  // the same rows, predicted by the model and simulated
  std::string outside;                    // how many of them the training rows do not cover, and why; empty: none
};

struct TrainReport {
  std::string text, json, metrics;
};

// --test: every measured file predicted by the model and, beside it, by the simulator.
[[nodiscard]] Result<std::vector<TestResult>> test_model(const learn::Model& model, const Arguments& arguments,
                                                         unsigned jobs);

[[nodiscard]] TrainReport report_of(const learn::Training& training, const dataset::Table& table,
                                    const std::vector<learn::MeasuredRun>& runs, const std::vector<TestResult>& tests);

// What train and predict share: options about models.
// A comma-separated list of config, arch, physics, counter.
[[nodiscard]] std::vector<dataset::Group> group_list(const std::string& text, Diagnostics& errors);

// f32,f16 ...
[[nodiscard]] std::vector<kernels::DataType> data_types(const std::string& text, Diagnostics& errors);

// TARGET:FEATURE:+ or -.
struct RuleText {
  std::string target, feature;
  int direction = 1;
};
[[nodiscard]] std::optional<RuleText> rule_text(const std::string& text, Diagnostics& errors);

}  // namespace noteg::cli
