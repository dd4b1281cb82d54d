// A model as ONNX says what the model says: asked of a real ONNX runtime where there is one (./dev onnx installs it).
#include "sim/learn/onnx.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/learn/estimate.hpp"
#include "sim/learn/problem.hpp"
#include "tests/learn/sample_table.hpp"

namespace noteg::learn {
namespace {

using nlohmann::json;

Model onnx_sample(bool random_cuts) {
  TrainingRequest request = test::sample_request();
  request.by_shape = request.by_gpu = request.ablation = false;
  if (!random_cuts) request.forest = forest::random_forest();
  request.forest.trees = 12;
  if (random_cuts) request.problem.leave_out.clear();  // the GPU's name is a category too
  dataset::Table table = test::sample_table(400);
  for (std::size_t row = 0; row < table.rows; row += 7) table.columns[3].numbers[row] = std::nan("");
  for (std::size_t row = 0; row < table.rows; row += 11) table.columns[8].codes[row] = -1;
  if (random_cuts) table.columns[6].numbers[0] = 0;  // no logarithm of the power then
  return train(table, request)->model;
}

struct Answer {
  int status = 0;
  std::string text;
};

Answer shell(const std::string& command) {
  Answer answer;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) answer.text.append(buffer.data(), size);
  answer.status = WEXITSTATUS(pclose(pipe));
  return answer;
}

json rows_of(const Eigen::MatrixXd& x) {
  json rows = json::array();
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    json row = json::array();
    for (const double value : x.row(i)) row.push_back(std::isnan(value) ? json(nullptr) : json(value));
    rows.push_back(row);
  }
  return rows;
}

// FOLDER/node_modules: NOTEG_NODE_MODULES names another folder.
std::string runtime_folder() {
  const char* named = std::getenv("NOTEG_NODE_MODULES");
  return named != nullptr ? named : std::string(NOTEG_SOURCE_DIR) + "/build/node";
}

void expect_same_answers(const Model& model, const std::string& name) {
  const Result<std::string> onnx = to_onnx(model);
  ASSERT_TRUE(onnx) << to_string(onnx.errors());
  dataset::Table table = test::sample_table(90);
  for (std::size_t row = 0; row < table.rows; row += 5) table.columns[3].numbers[row] = std::nan("");
  for (std::size_t row = 1; row < table.rows; row += 5) table.columns[8].codes[row] = -1;
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("noteg_onnx_" + name);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "m.onnx", std::ios::binary) << *onnx;
  std::ofstream(folder / "rows.json") << rows_of(*feature_matrix(table, model.features)).dump();
  const Answer answer =
      shell("node '" + std::string(NOTEG_SOURCE_DIR) + "/tests/learn/onnx_run.mjs' '" + runtime_folder() + "' '" +
            (folder / "m.onnx").string() + "' '" + (folder / "rows.json").string() + "'");
  std::filesystem::remove_all(folder);
  if (answer.status == 127) GTEST_SKIP() << "no node";
  if (answer.status == 3) GTEST_SKIP() << "no onnxruntime-node or onnxruntime-web in " << runtime_folder();
  ASSERT_EQ(answer.status, 0) << answer.text;
  const json told = json::parse(answer.text);
  const auto expected = Estimator(model).estimate(table, false, 1);
  ASSERT_TRUE(expected);
  for (std::size_t row = 0; row < table.rows; ++row)
    for (std::size_t t = 0; t < 2; ++t) {
      const double value = (*expected)[row].targets[t].value;
      EXPECT_NEAR(told.at(model.parts[0].targets[t].name).at(row).get<double>(), value, 2e-6 * value + 1e-9) << row;
    }
}

TEST(Onnx, SaysWhatTheModelSays) { expect_same_answers(onnx_sample(false), "best"); }

TEST(Onnx, SaysWhatAModelOfRandomCutsSays) { expect_same_answers(onnx_sample(true), "random"); }

TEST(Onnx, RefusesAnAnchorThatIsNoFeature) {
  Model model = onnx_sample(false);
  model.parts[0].targets[0].anchor = "physics.gone";
  const Result<std::string> onnx = to_onnx(model);
  ASSERT_FALSE(onnx);
  EXPECT_NE(to_string(onnx.errors()).find("time_us over physics.gone"), std::string::npos);
}

TEST(Onnx, IsTheSameFileEveryTime) { EXPECT_EQ(*to_onnx(onnx_sample(true)), *to_onnx(onnx_sample(true))); }

}  // namespace
}  // namespace noteg::learn
