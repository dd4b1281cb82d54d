// Sweep files: what they mean, and where their mistakes are.
#include "sim/dataset/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "sim/dataset/items.hpp"

namespace noteg::dataset {
namespace {

const std::string smallest = "gpus: l4\nshapes: [64x64x64]\nkernels: [{family: simt, tile: 64x64x8}]\n";

std::string errors_of(const std::string& text) {
  const Result<Sweep> sweep = read_sweep_text(text, "s.yaml");
  return sweep ? "" : to_string(sweep.errors());
}

TEST(Sweep, OfOneRunHasOneRow) {
  const Result<Sweep> sweep = read_sweep_text(smallest, "s.yaml");
  ASSERT_TRUE(sweep) << to_string(sweep.errors());
  EXPECT_EQ(sweep->rows, 1u);
  EXPECT_EQ(Items(*sweep).at(0).shape.m, 64);
}

TEST(Sweep, GridIsTheProductOfItsAxes) {
  const Result<Sweep> sweep = read_sweep_text(
      "gpus: [l4, a100-pcie-40gb]\nshape: {m: {from: 64, to: 512, times: 2}, n: [64, 65], k: {from: 8, to: 24, step: "
      "8}}\n"
      "kernels:\n  - {family: simt, tile: [64x64x8, 128x128x8], stages: [2, 4], layout: [nn, nt, tn]}\n"
      "  - {family: naive, tile: 16, gpus: l4}\nlabels: [a, b]\nperturb: {copies: 2, factors: {l2.size: [0.5, 2]}}\n",
      "s.yaml");
  ASSERT_TRUE(sweep) << to_string(sweep.errors());
  const std::size_t shapes = 4 * 2 * 3, copies = 3, labels = 2;
  EXPECT_EQ(sweep->rows, shapes * copies * labels * (2 * 2 * 2 * 3 + 1));
  const Items items(*sweep);
  std::set<std::string> seen;
  for (std::size_t row = 0; row < items.count(); ++row) {
    const Item i = items.at(row);
    const std::string key = std::to_string(i.gpu) + "/" + std::to_string(i.copy) + "/" + std::to_string(i.block) + "/" +
                            std::to_string(i.kernel) + "/" + std::to_string(i.shape.m) + "x" +
                            std::to_string(i.shape.n) + "x" + std::to_string(i.shape.k) + "/" + std::to_string(i.label);
    EXPECT_TRUE(seen.insert(key).second) << key;
  }
}

TEST(Sweep, GivesEachKernelTheValuesOfItsCombination) {
  const Result<Sweep> sweep = read_sweep_text(
      "gpus: l4\nshapes: [64x64x64]\nkernels: [{family: simt, tile: [64x64x8, 128x64x8], stages: [2, 3]}]\n", "s.yaml");
  ASSERT_TRUE(sweep);
  const Items items(*sweep);
  std::set<std::pair<int, int>> seen;
  for (std::size_t row = 0; row < items.count(); ++row) {
    const kernels::KernelConfig kernel = items.kernel_of(items.at(row));
    seen.emplace(kernel.tile.m, kernel.stages.value_or(0));
  }
  EXPECT_EQ(seen, (std::set<std::pair<int, int>>{{64, 2}, {64, 3}, {128, 2}, {128, 3}}));
}

TEST(Sweep, SpansStayInTheirBoundsAndKeepTheirStep) {
  const Span span{100, 5000, 64, true};
  for (int i = 0; i <= 100; ++i) {
    const std::int64_t value = span.at(i / 100.0);
    EXPECT_TRUE(value == 100 || value == 5000 || value % 64 == 0) << value;
    EXPECT_TRUE(value >= 100 && value <= 5000) << value;
  }
  EXPECT_EQ((Span{1, 9, 1, false}.at(0.5)), 5);
}

TEST(Sweep, RunsTakeEveryCombinationOfTheirOptions) {
  const Result<Sweep> sweep = read_sweep_text(
      smallest + "run: {clock_mode: [sustained, cool], launches: [1, 10], operands: [random, 0.5], l2: [warm, cold]}\n",
      "s.yaml");
  ASSERT_TRUE(sweep) << to_string(sweep.errors());
  EXPECT_EQ(sweep->rows, (1u + 2u) * 2u * 2u) << "launches count in clock mode cool only";
  const Items items(*sweep);
  std::set<std::size_t> runs;
  for (std::size_t row = 0; row < items.count(); ++row) runs.insert(items.at(row).run);
  EXPECT_EQ(runs.size(), sweep->rows);
  EXPECT_NE(errors_of(smallest + "run: {operands: 1.5}\n").find("s.yaml:4:17: run.operands"), std::string::npos);
  EXPECT_NE(errors_of(smallest + "run: {l2: [warm, warm]}\n").find("each value once"), std::string::npos);
}

TEST(Sweep, SharesOutShapesOfModels) {
  const std::string text =
      "method: sobol\nrows: 1000\ngpus: l4\nkernels: [{family: simt, tile: 64x64x8}]\n"
      "shape: {m: {from: 3, to: 3, scale: log}, n: 5, k: 7, layers: 0.5, convolutions: 0.25}\n";
  const Result<Sweep> sweep = read_sweep_text(text, "s.yaml");
  ASSERT_TRUE(sweep) << to_string(sweep.errors());
  const Items items(*sweep);
  std::size_t own = 0, layers = 0;
  for (std::size_t row = 0; row < items.count(); ++row) {
    const kernels::GemmShape shape = items.at(row).shape;
    own += shape.m == 3 && shape.n == 5 ? 1 : 0;
    layers += shape.n >= 768 && shape.k >= 768 && shape.m <= 16384 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(own), 250, 5);
  EXPECT_GE(layers, 490u);
  EXPECT_NE(errors_of("gpus: l4\nkernels: [{family: simt, tile: 64x64x8}]\nshape: {m: 3, n: 5, k: 7, layers: 0.5}\n")
                .find("no such key with method grid"),
            std::string::npos);
}

TEST(Sweep, MistakesAreToldWithTheirPlaceAllAtOnce) {
  const std::string text = errors_of(
      "gpus: [l4, l5]\nmethod: sobel\nshape: {m: 0, n: [64, x], k: {from: 8, to: 4}}\n"
      "kernels:\n  - {family: simd, tile: 64x64x8, stage: 2}\nseeds: 1\n");
  for (const char* part : {"s.yaml:1:12: gpus", "s.yaml:2:9: method", "s.yaml:3:12: shape.m", "s.yaml:3:23: shape.n",
                           "s.yaml:3:", "shape.k.to", "kernels[0].family", "stage: expected a known key",
                           "did you mean stages", "did you mean seed"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

TEST(Sweep, RefusesWhatCannotBe) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"gpus: l4\nkernels: [{tile: 64}]\n", "either shapes"},
      {"gpus: l4\nshapes: [64x64]\nkernels: [{tile: 64}]\n", "MxNxK"},
      {"gpus: l4\nshapes: []\nkernels: [{tile: 64}]\n", "an empty sequence"},
      {"gpus: l4\nshapes: [64x64x64]\nkernels: []\n", "a sequence of mappings"},
      {"gpus: l4\nshapes: [64x64x64]\nkernels: [{kernel_name: nonsense}]\n", "kernel_name"},
      {"gpus: h200-sxm-141gb\nshapes: [64x64x64]\nkernels: [{kernel_name: nvjet_hsh_64x8_64x16_2x1_v_bz_splitK_TNT}]\n",
       "a key split_k beside a name that splits K"},
      {"gpus: l4\nshapes: [64x64x64]\nkernels: [{file: no_such_kernel}]\n", "no_such_kernel"},
      {"gpus: l4\nshapes: [64x64x64]\nkernels: [{tile: 64, gpus: a40}]\n", "one of the GPUs listed"},
      {smallest + "rows: 5\n", "rows follow from the axes"},
      {smallest + "method: random\n", "rows"},
      {"gpus: l4\nshape: {m: {from: 1, to: 9}, n: 1, k: 1}\nkernels: [{tile: 64}]\n", "times or step"},
      {smallest + "perturb: {copies: 2, factors: {l2.sise: [0.5, 2]}}\n", "did you mean l2.size"},
      {smallest + "perturb: {copies: 2, factors: {l2.size: [2, 0.5]}}\n", "two factors"},
      {smallest + "run: {clock: 1 W, clock_mode: fast}\n", "a clock such as"},
      {"gpus: l4\nshape: {m: {from: 1, to: 90000, step: 1}, n: {from: 1, to: 90000, step: 1}, k: 1}\n"
       "kernels: [{tile: 64}]\n",
       "at most 20000000 rows"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(errors_of(text).find(part), std::string::npos) << text << errors_of(text);
}

TEST(Sweep, OfTheReferenceStudyHas16128RowsOf288Runs) {
  const Result<Sweep> sweep = load_sweep(NOTEG_SOURCE_DIR "/examples/gpperf_study/sweep.yaml");
  ASSERT_TRUE(sweep) << to_string(sweep.errors());
  const Items items(*sweep);
  std::set<std::vector<std::int64_t>> runs;
  for (std::size_t row = 0; row < items.count(); ++row) {
    const Item i = items.at(row);
    runs.insert({static_cast<std::int64_t>(i.kernel), i.shape.m, i.shape.n, i.shape.k});
  }
  EXPECT_EQ(items.count(), 16128u);
  EXPECT_EQ(runs.size(), 288u);
}

TEST(Sweep, SameMeaningHasTheSameCanonicalText) {
  const Result<Sweep>
      plain = read_sweep_text(smallest, "a"),
      commented = read_sweep_text(
          "# a comment\ngpus: \"l4\"\n\nshapes:\n  - 64x64x64\nkernels:\n  - family: simt\n    tile: 64x64x8\n", "b");
  ASSERT_TRUE(plain && commented);
  EXPECT_EQ(plain->canonical, commented->canonical);
}

std::vector<std::int64_t> values_of_m(const std::string& range, const std::string& method = "") {
  const Result<Sweep> sweep = read_sweep_text(
      method + "gpus: l4\nshape: {m: " + range + ", n: 64, k: 64}\n" + "kernels: [{family: simt, tile: 64x64x8}]\n",
      "s.yaml");
  std::vector<std::int64_t> values;
  if (!sweep) return values;
  const Items items(*sweep);
  for (std::size_t row = 0; row < items.count(); ++row) values.push_back(items.at(row).shape.m);
  return values;
}

TEST(Sweep, GivesNoWholeNumberTwice) {
  EXPECT_EQ(values_of_m("{from: 1, to: 8, times: 1.5}"), (std::vector<std::int64_t>{1, 2, 3, 5, 7}));
}

TEST(Sweep, GivesMultiplesOnlyAlsoAtTheBounds) {
  const std::vector<std::int64_t> values =
      values_of_m("{from: 1, to: 1000, scale: log, multiple_of: 64}", "method: sobol\nrows: 500\n");
  ASSERT_EQ(values.size(), 500u);
  for (const std::int64_t value : values) EXPECT_TRUE(value % 64 == 0 && value >= 64 && value <= 960) << value;
  EXPECT_NE(errors_of("method: random\nrows: 2\ngpus: l4\nshape: {m: {from: 65, to: 127, multiple_of: 64}, n: 1, k: "
                      "1}\nkernels: [{family: simt, tile: 64x64x8}]\n")
                .find("shape.m.multiple_of: expected a number with a multiple between from and to, found 64"),
            std::string::npos);
}

TEST(Sweep, RefusesMoreValuesThanAnAxisHolds) {
  const auto with = [](int to) {
    return "gpus: l4\nshape: {m: {from: 1, to: " + std::to_string(to) +
           ", step: 1}, n: 1, k: 1}\nkernels: [{family: simt, tile: 64x64x8}]\n";
  };
  EXPECT_EQ(errors_of(with(100000)), "");
  EXPECT_NE(errors_of(with(100001)).find("shape.m: expected at most 100000 values, found more"), std::string::npos)
      << errors_of(with(100001));
}

TEST(Sweep, RefusesAValueThatComesAgain) {
  const std::string rest = "shapes: [64x64x64]\nkernels: [{family: simt, tile: 64x64x8}]\n";
  const std::string kernels = "gpus: l4\nshapes: [64x64x64]\nkernels: ";
  for (const std::string& text :
       {"gpus: [l4, L4]\n" + rest, smallest + "labels: [a, b, a]\n",
        std::string("gpus: l4\nshapes: [64x64x64, 32x32x32, 064x64x64]\nkernels: [{family: simt, tile: 64x64x8}]\n"),
        std::string("gpus: l4\nshape: {m: [8, 08], n: 1, k: 1}\nkernels: [{family: simt, tile: 64x64x8}]\n"),
        kernels + "[{family: simt, tile: [64x64x8, 064x64x8]}]\n",
        kernels + "[{kernel_name: [ampere_sgemm_128x64_tn, ampere_sgemm_128x64_tn]}]\n",
        kernels + "[{family: simt, tile: 64x64x8, gpus: [l4, L4]}]\n"})
    EXPECT_NE(errors_of(text).find("expected each value once, found"), std::string::npos) << text << errors_of(text);
}

TEST(Sweep, TellsLabelsWithCommasFromSeveralLabels) {
  const auto canonical = [](const std::string& labels) {
    return read_sweep_text(smallest + "labels: " + labels + "\n", "s.yaml")->canonical;
  };
  EXPECT_NE(canonical("[a, b, c]"), canonical("[a, \"b, c\"]"));
  EXPECT_NE(canonical("[a]"), canonical("[\"[a]\"]"));
  EXPECT_NE(canonical("[a]"), canonical("[\"a\\nmethod = grid\"]"));
  EXPECT_EQ(canonical("[a, b, c]"), canonical("[a, 'b', \"c\"]"));
}

TEST(Sweep, NamesAtMostAThousandGpusAndStopsAtTwentyUnknownOnes) {
  std::string list;
  for (int i = 0; i < 1000; ++i) list += "voodoo" + std::to_string(i) + ", ";
  const auto start = std::chrono::steady_clock::now();
  const std::string errors =
      errors_of("gpus: [" + list + "]\nshapes: [1x1x1]\nkernels: [{family: simt, tile: 64x64x8}]\n");
  EXPECT_LE(std::ranges::count(errors, '\n'), 25);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_NE(errors_of("gpus: [" + list + "l4]\nshapes: [1x1x1]\nkernels: [{family: simt, tile: 64x64x8}]\n")
                .find("gpus: expected at most 1000 values, found 1001"),
            std::string::npos);
}

}  // namespace
}  // namespace noteg::dataset
