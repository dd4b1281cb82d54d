// Times of fitting and predicting, for forest_bench.py, which runs scikit-learn on the same table: rows of doubles
// (features, then targets) in a file as the machine stores them, the first ones to train, the rest held out.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "sim/forest/forest.hpp"
#include "sim/forest/predictor.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Eigen::Index;

// Wall time, and processor time of all threads: the latter also counts on a machine that is busy with other work.
struct Watch {
  Clock::time_point start = Clock::now();
  std::clock_t cpu = std::clock();

  [[nodiscard]] double wall() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  [[nodiscard]] double processor() const { return static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC; }
};

Eigen::MatrixXd read(const std::string& path, Index columns) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<Index>(stream.tellg());
  const Index rows = bytes / static_cast<Index>(sizeof(double)) / columns;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> table(rows, columns);
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(table.data()), bytes);  // NOLINT: raw doubles
  return table;
}

double mean_r2(const Eigen::MatrixXd& truth, const Eigen::MatrixXd& predicted) {
  double sum = 0;
  for (Index t = 0; t < truth.cols(); ++t) {
    const double spread = (truth.col(t).array() - truth.col(t).mean()).square().sum();
    sum += 1 - (truth.col(t) - predicted.col(t)).squaredNorm() / spread;
  }
  return sum / static_cast<double>(truth.cols());
}

}  // namespace

int main(int count, char** words) {
  if (count < 7) {
    std::fputs(
        "usage: forest_bench FILE FEATURES TARGETS TRAINING_ROWS THREADS random-forest|extra-trees[:TREES] [CATEGORY "
        "...]\n",
        stderr);
    return 2;
  }
  const Index features = std::atol(words[2]), targets = std::atol(words[3]), training = std::atol(words[4]);
  const auto threads = static_cast<unsigned>(std::atol(words[5]));
  const Eigen::MatrixXd table = read(words[1], features + targets);
  noteg::forest::TrainingSet set;
  set.x = table.topLeftCorner(training, features);
  set.y = table.topRightCorner(training, targets);
  set.kinds.assign(static_cast<std::size_t>(features), noteg::forest::FeatureKind::number);
  for (int word = 7; word < count; ++word)
    set.kinds[static_cast<std::size_t>(std::atol(words[word]))] = noteg::forest::FeatureKind::category;
  const std::string recipe = words[6];
  noteg::forest::ForestOptions options =  // as forest_bench.py asks of scikit-learn
      recipe.starts_with("extra-trees") ? noteg::forest::ForestOptions{} : noteg::forest::random_forest();
  if (const std::size_t colon = recipe.find(':'); colon != std::string::npos)
    options.trees = static_cast<std::size_t>(std::atol(recipe.c_str() + colon + 1));
  options.threads = threads;
  const Watch fit;
  const auto forest = noteg::forest::train_forest(set, options);
  const double fit_s = fit.wall(), fit_cpu_s = fit.processor();
  if (!forest) return 1;
  const noteg::forest::Predictor predictor(*forest);
  const Index held_out = table.rows() - training;
  const double r2 = mean_r2(table.bottomRightCorner(held_out, targets),
                            predictor.predict(table.bottomLeftCorner(held_out, features), threads));
  const Index many = 1000000;
  Eigen::MatrixXd rows(many, features);
  for (Index row = 0; row < many; ++row) rows.row(row) = table.row(row % table.rows()).head(features);
  const Watch watch;
  const Eigen::MatrixXd out = predictor.predict(rows, threads);
  const double predict_s = watch.wall(), predict_cpu_s = watch.processor();
  const Watch single;
  double sum = 0;
  for (Index row = 0; row < 10000; ++row) sum += predictor.predict(rows.middleRows(row, 1), 1).sum();
  std::printf(
      "{\"fit_s\": %.3f, \"fit_cpu_s\": %.3f, \"predict_s\": %.3f, \"predict_cpu_s\": %.3f, \"row_us\": %.2f, "
      "\"r2\": %.6f}\n",
      fit_s, fit_cpu_s, predict_s, predict_cpu_s, single.processor() * 100, r2);
  return out.allFinite() && std::isfinite(sum) ? 0 : 1;
}
