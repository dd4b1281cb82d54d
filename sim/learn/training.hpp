// What `noteg train` does with a table: validation that cannot leak, then the model trained on all rows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/learn/study.hpp"

namespace noteg::learn {

struct MonotoneRule {  // by names: the target never falls (+1) or never rises (-1) where the feature grows
  std::string target, feature;
  int direction = 1;
};

struct TrainingRequest {
  ModelKind kind = ModelKind::direct;
  ProblemOptions problem;
  forest::ForestOptions forest;
  std::vector<MonotoneRule> monotone;
  std::size_t folds = 5;
  bool by_shape = true, by_gpu = true;
  bool ablation = true;                          // the same once more without physics
  std::function<void(const std::string&)> tell;  // what is being done; may be empty
};

struct Training {
  Model model;
  std::vector<HeldOut> held_out;
  std::vector<std::string> remarks;              // validations that were not possible, and why
  std::vector<std::vector<double>> permutation;  // per part and feature
  std::vector<std::vector<double>> by_physics;   // the same per part and physics group, whose features move together
};

// Errors: of make_problem and train_forest; a monotone rule of unknown names.
[[nodiscard]] Result<Training> train(const dataset::Table& table, const TrainingRequest& request);

// The column that tells GPUs apart.
inline constexpr const char* gpu_column = "arch";
inline constexpr const char* family_column = "kernel.family";

// How the error falls with the number of rows learned from: would more data help? One fold of shapes is held out; the
// forest is trained on nested parts of the others, whole shapes at a time.
struct CurvePoint {
  std::string target;
  std::size_t rows = 0;      // learned from
  double held_out_mape = 0;  // of rows of shapes that no point of the curve learned from; fractions
  double learned_mape = 0;   // of the rows learned from, at most 2000 of them
};

// Points of each target in order of rows. Empty where the rows have too few shapes. Errors: as of make_problem.
[[nodiscard]] Result<std::vector<CurvePoint>> learning_curve(const dataset::Table& table,
                                                             const TrainingRequest& request);

// What a training found, as text, as JSON (with the points for plots), and as the metrics that a model file keeps.
[[nodiscard]] std::string training_text(const Training& training, const dataset::Table& table);
[[nodiscard]] std::string training_json(const Training& training, const dataset::Table& table);
[[nodiscard]] std::string metrics_json(const Training& training, const dataset::Table& table);

}  // namespace noteg::learn
