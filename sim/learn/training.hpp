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
};

// Errors: of make_problem and train_forest; a monotone rule of unknown names.
[[nodiscard]] Result<Training> train(const dataset::Table& table, const TrainingRequest& request);

// The column that tells GPUs apart.
inline constexpr const char* gpu_column = "arch";
inline constexpr const char* family_column = "kernel.family";

}  // namespace noteg::learn
