// Model files: the same model comes back; whatever else a file holds is refused with its place.
#include "sim/learn/model_file.hpp"

#include <gtest/gtest.h>
#include <functional>
#include <nlohmann/json.hpp>

#include "sim/learn/estimate.hpp"
#include "sim/learn/problem.hpp"
#include "tests/learn/sample_table.hpp"

namespace noteg::learn {
namespace {

using nlohmann::json;

const Model& sample_model() {
  static const Model model = [] {
    TrainingRequest request = test::sample_request();
    request.by_gpu = request.ablation = false;
    request.forest.trees = 6;
    return train(test::sample_table(300), request)->model;
  }();
  return model;
}

TEST(ModelFile, BringsTheSameModelBack) {
  const std::string text = to_json(sample_model());
  const Result<Model> back = parse_model(text, "m.json");
  ASSERT_TRUE(back) << to_string(back.errors());
  EXPECT_EQ(to_json(*back), text);
  const dataset::Table table = test::sample_table(50);
  const auto before = Estimator(sample_model()).estimate(table, true, 1),
             after = Estimator(*back).estimate(table, true, 1);
  ASSERT_TRUE(before && after);
  for (std::size_t row = 0; row < 50; ++row)
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_EQ((*before)[row].targets[t].value, (*after)[row].targets[t].value);
      EXPECT_EQ((*before)[row].targets[t].intervals[2].high, (*after)[row].targets[t].intervals[2].high);
    }
}

TEST(ModelFile, BringsModelsOfEverySamplingBack) {
  for (const forest::Sample sample : {forest::Sample::bootstrap, forest::Sample::all}) {
    TrainingRequest request = test::sample_request();
    request.by_shape = request.by_gpu = request.ablation = false;
    request.forest.trees = 3;
    request.forest.sample = sample;
    const std::string text = to_json(train(test::sample_table(200), request)->model);
    const Result<Model> back = parse_model(text, "m.json");
    ASSERT_TRUE(back) << to_string(back.errors());
    EXPECT_EQ(to_json(*back), text);
  }
}

TEST(ModelFile, IsRefusedWhereverItIsCutOff) {
  const std::string text = to_json(sample_model());
  for (std::size_t cut = 0; cut + 2 < text.size(); cut += 1 + text.size() / 60) {
    const Result<Model> back = parse_model(text.substr(0, cut), "m.json");
    ASSERT_FALSE(back) << cut;
    EXPECT_LT(to_string(back.errors()).size(), 300U);  // not what was read last: strings of trees are long
  }
  const std::string cut = to_string(parse_model("{\n\"schema\": \"noteg", "m.json").errors());
  EXPECT_NE(cut.find("m.json:2:"), std::string::npos) << cut;
  EXPECT_NE(cut.find("a whole model file (JSON), found syntax error"), std::string::npos) << cut;
}

struct Edit {
  const char* path;
  std::function<void(json&)> change;
  const char* error;
};

TEST(ModelFile, IsRefusedWhereItWasEdited) {
  const std::vector<Edit> edits{
      {"schema", [](json& m) { m["schema"] = "other"; }, "schema: expected noteg-model"},
      {"version", [](json& m) { m["version"] = 2; }, "version: expected 1"},
      {"kind", [](json& m) { m["kind"] = 7; }, "kind: expected a text"},
      {"no trees", [](json& m) { m["parts"][0]["trees"] = json::array(); }, "trees: expected 1 to 10000 values"},
      {"feature", [](json& m) { m["parts"][0]["trees"][0]["feature"][0] = 4095; }, "feature: expected an integer"},
      {"early leaf", [](json& m) { m["parts"][0]["trees"][0]["feature"][0] = -1; }, "feature: expected"},
      {"cut", [](json& m) { m["parts"][0]["trees"][1]["cut"][0] = 255; }, "trees[1].cut: expected"},
      {"row", [](json& m) { m["parts"][0]["trees"][0]["rows"][0] = 300; }, "rows: expected an integer from 0 to 299"},
      {"huge", [](json& m) { m["parts"][0]["trees"][0]["leaf_sizes"][0] = 18446744073709551615ULL; },
       "leaf_sizes: expected"},
      {"rows", [](json& m) { m["parts"][0]["rows"] = 2000000000; }, "y: expected 4000000000 values"},
      {"edges", [](json& m) { std::swap(m["parts"][0]["edges"][0][0], m["parts"][0]["edges"][0][1]); },
       "edges that rise"},
      {"bins", [](json& m) { m["parts"][0]["bins"] = "zz"; }, "bins: expected"},
      {"y", [](json& m) { m["parts"][0]["y"][0] = nullptr; }, "y: expected finite numbers"},
      {"large y", [](json& m) { m["parts"][0]["y"][0] = 2e43; }, "y: expected numbers of 32 bits"},
      {"deviation", [](json& m) { m["parts"][0]["targets"][0]["deviation"] = 0; }, "deviation: expected"},
      {"smearing", [](json& m) { m["parts"][0]["targets"][0]["smearing"] = -1; },
       "smearing: expected a number above 0"},
      {"widen", [](json& m) { m["parts"][0]["targets"][0]["widen"][1] = -3; },
       "widen: expected factors from 0 to 1000"},
      {"wide", [](json& m) { m["parts"][0]["targets"][0]["widen"][1] = 9.2e18; }, "widen: expected factors from 0 to"},
      {"far", [](json& m) { m["parts"][0]["targets"][0]["smearing"] = 1e305; }, "targets: expected a mean and"},
      {"far y", [](json& m) { m["parts"][0]["y"][0] = 9.2e18; }, "targets: expected a mean and deviations"},
      {"mean", [](json& m) { m["parts"][0]["targets"][0]["mean"] = 1e308; },
       "targets: expected a mean and deviations of logarithms"},
      {"metrics", [](json& m) { m.erase("metrics"); }, "metrics: expected a value, found none"},
      {"twice", [](json& m) { m["features"][1]["name"] = m["features"][0]["name"]; }, "each feature once"},
      {"features", [](json& m) { m["features"].erase(0); }, "expected"},
      {"gone", [](json& m) { m["parts"][0].erase("importance"); }, "importance: expected a value, found none"},
  };
  const json whole = json::parse(to_json(sample_model()));
  for (const Edit& edit : edits) {
    json edited = whole;
    edit.change(edited);
    const Result<Model> read = parse_model(edited.dump(), "m.json");
    ASSERT_FALSE(read) << edit.path;
    const std::string errors = to_string(read.errors());
    EXPECT_TRUE(errors.starts_with("m.json: ")) << errors;
    EXPECT_NE(errors.find(edit.error), std::string::npos) << edit.path << ": " << errors;
  }
}

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(ModelFile, IsRefusedWhereItsNestingWouldEndTheStack) {
  const std::string whole = to_json(sample_model());
  for (const char* key : {"\"version\":", "\"metrics\":"}) {
    const std::size_t at = whole.find(key) + std::string_view(key).size();
    const auto with = [&](std::size_t levels) {
      return std::string(whole).replace(at, whole.find_first_of(",\n", at) - at, nested(levels));
    };
    const std::string deep = to_string(parse_model(with(100'000), "m.json").errors());
    EXPECT_EQ(deep, "m.json: expected a model file with at most 32 levels of nesting, found more\n");
    EXPECT_TRUE(check_bounds(with(32), "m.json"));
    EXPECT_FALSE(check_bounds(with(31), "m.json"));  // the object around them is a level too
  }
}

TEST(ModelFile, IsRefusedBeforeItTakesMoreMemoryThanAModelMay) {
  std::string zeros = "[0";
  for (std::size_t i = 1; i < (std::size_t{1} << 25); ++i) zeros += ",0";
  const std::string error = to_string(parse_model(zeros + "]", "m.json").errors());
  EXPECT_EQ(error, "m.json: expected a model file with values that take at most 512 MiB in memory, found more\n");
  EXPECT_EQ(read_model("/dev/zero").errors().front().expected, "a file of at most 256 MiB");
}

TEST(BinaryModel, BringsTheSameModelBack) {
  const std::string bytes = to_binary(sample_model());
  EXPECT_TRUE(is_binary_model(bytes));
  const Result<Model> back = parse_model(bytes, "m.ngm");
  ASSERT_TRUE(back) << to_string(back.errors());
  EXPECT_EQ(to_json(*back), to_json(sample_model()));
  EXPECT_EQ(to_binary(*back), bytes);
}

TEST(BinaryModel, SaysOfARowWithWhatTheRowReachesWhatTheWholeModelSays) {
  const Result<ModelFile> file = ModelFile::over(to_binary(sample_model()), "m.ngm");
  ASSERT_TRUE(file) << to_string(file.errors());
  const dataset::Table table = test::sample_table(20);
  const auto whole = Estimator(sample_model()).estimate(table, true, 1);
  const Result<Eigen::MatrixXd> x = feature_matrix(table, file->head().features);
  ASSERT_TRUE(whole && x);
  for (std::size_t row = 0; row < 20; ++row) {
    const Result<Model> reached = file->reached_by(x->row(static_cast<Eigen::Index>(row)));
    ASSERT_TRUE(reached);
    EXPECT_EQ(reached->parts[0].forest.trees[0].leaves(), 1U);
    const auto own = Estimator(*reached).estimate(dataset::select(table, {row}), true, 1);
    ASSERT_TRUE(own);
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_EQ((*own)[0].targets[t].value, (*whole)[row].targets[t].value);
      EXPECT_EQ((*own)[0].targets[t].intervals[2].low, (*whole)[row].targets[t].intervals[2].low);
    }
    EXPECT_EQ((*own)[0].distance, (*whole)[row].distance);
  }
}

TEST(BinaryModel, IsRefusedWhereverItIsCutOff) {
  const std::string bytes = to_binary(sample_model());
  for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 50)
    EXPECT_FALSE(parse_model(bytes.substr(0, cut), "m.ngm")) << cut;
  EXPECT_FALSE(parse_model(bytes + "x", "m.ngm"));
}

// Whatever bytes are changed: a model comes out whose every index may be used, or an error; never a crash.
TEST(BinaryModel, SurvivesWhateverItHolds) {
  const std::string bytes = to_binary(sample_model());
  const dataset::Table table = test::sample_table(3);
  forest::Random random(1);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string broken = bytes;
    for (int change = 0; change < 20; ++change)
      broken[32 + random.below(static_cast<std::uint32_t>(bytes.size() - 32))] = static_cast<char>(random.below(256));
    const Result<Model> read = parse_model(broken, "m.ngm");
    refused += read ? 0 : 1;
    EXPECT_TRUE(!read || Estimator(*read).estimate(table, true, 1));
  }
  EXPECT_GT(refused, 100);
}

TEST(ModelFile, IsRefusedWhereItIsNoFile) {
  EXPECT_FALSE(read_model("/nowhere/m.json"));
  EXPECT_FALSE(read_model("/"));
  EXPECT_FALSE(parse_model("[1,2]", "m.json"));
  EXPECT_FALSE(parse_model("{\"schema\":\"noteg-model\",\"version\":1e300}", "m.json"));
}

}  // namespace
}  // namespace noteg::learn
