// Exported source code, compiled, says what the model says.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/learn/estimate.hpp"
#include "sim/learn/export_source.hpp"
#include "sim/learn/problem.hpp"
#include "tests/learn/sample_table.hpp"

namespace noteg::learn {
namespace {

Model forest_with(bool random_cuts) {
  TrainingRequest request = test::sample_request();
  request.by_shape = request.by_gpu = request.ablation = false;
  request.forest.trees = 6;
  request.forest.random_cuts = random_cuts;
  return train(test::sample_table(300), request)->model;
}

// The function of that name out of source compiled as C or as C++; nullptr where there is no compiler.
using Predict = void (*)(const double*, double*);
Predict compiled(const std::string& source, const std::string& compiler, const char* function) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir());
  const std::string stem = (folder / ("noteg_export_" + compiler)).string();
  std::ofstream(stem + ".src") << source;
  const std::string language = compiler == "cc" ? "c -std=c99" : "c++ -std=c++17";
  const std::string command = compiler + " -x " + language +
                              " -O1 -Wall -Wextra -Wno-unused-function -Werror -shared -fPIC -o " + stem + ".so " +
                              stem + ".src -lm";
  if (std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) return nullptr;
  EXPECT_EQ(std::system(command.c_str()), 0);
  void* library = dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr);
  return library == nullptr ? nullptr : reinterpret_cast<Predict>(dlsym(library, function));
}

void agrees(const Model& model, Predict predict) {
  const dataset::Table table = test::sample_table(10000);
  const auto told = Estimator(model).estimate(table, false, 1);
  const Result<Eigen::MatrixXd> x = feature_matrix(table, model.features);
  ASSERT_TRUE(told && x);
  std::vector<double> row(model.features.size()), out(16);
  for (Eigen::Index i = 0; i < x->rows(); ++i) {
    for (std::size_t f = 0; f < row.size(); ++f) row[f] = (*x)(i, static_cast<Eigen::Index>(f));
    predict(row.data(), out.data());
    const RowEstimate& own = (*told)[static_cast<std::size_t>(i)];
    for (std::size_t t = 0; t < own.targets.size(); ++t)
      ASSERT_NEAR(out[t] / own.targets[t].value, 1, 1e-9) << "row " << i;
  }
}

TEST(Export, OfCSaysWhatTheModelSays) {
  const Model model = forest_with(false);
  const Result<std::string> source = to_source(model, SourceKind::c_file);
  ASSERT_TRUE(source);
  const Predict predict = compiled(*source, "cc", "noteg_model_predict");
  if (predict == nullptr) GTEST_SKIP() << "no C compiler";
  agrees(model, predict);
}

TEST(Export, OfAHeaderSaysWhatTheModelSays) {
  const Model model = forest_with(true);
  const Result<std::string> source = to_source(model, SourceKind::cpp_header);
  ASSERT_TRUE(source);
  const std::string use = "\nextern \"C\" void use(const double* x, double* out) { noteg_model::predict(x, out); }\n";
  std::string text = *source;
  text.erase(text.find("#pragma once"), std::string("#pragma once").size());
  const Predict predict = compiled(text + use, "c++", "use");
  if (predict == nullptr) GTEST_SKIP() << "no C++ compiler";
  agrees(model, predict);
}

}  // namespace
}  // namespace noteg::learn
