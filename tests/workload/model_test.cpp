#include <gtest/gtest.h>

#include <algorithm>

#include "sim/workload/launches.hpp"
#include "sim/workload/model.hpp"

namespace noteg::workload {
namespace {

ModelSpec shipped(const std::string& name) {
  const Result<YamlDocument> document = read_yaml_file(*find_workload_file(name));
  return *model_of(*document);
}

Result<ModelSpec> parsed(const std::string& text) { return model_of(*read_yaml_text(text, "m.yaml")); }

double flops_of(const std::vector<Block>& blocks) {
  double sum = 0;
  for (const Block& block : blocks)
    for (const Operation& o : block.operations)
      sum += flops_of(o) * static_cast<double>(o.count) * static_cast<double>(block.repeat);
  return sum;
}

const Operation& named(const std::vector<Block>& blocks, const std::string& name) {
  for (const Block& block : blocks)
    for (const Operation& o : block.operations)
      if (o.name == name) return o;
  throw std::runtime_error("no operation " + name);
}

TEST(Models, AllThatAreShippedAreRight) {
  for (const std::string& name : shipped_models()) {
    const Result<YamlDocument> document = read_yaml_file(*find_workload_file(name));
    ASSERT_TRUE(document) << name;
    const Result<ModelSpec> model = model_of(*document);
    ASSERT_TRUE(model) << to_string(model.errors());
    StepRequest request;
    EXPECT_TRUE(unfold(*model, request)) << name;
  }
  EXPECT_GE(shipped_models().size(), 9U);
}

// Published parameter counts: 8.03, 70.6, 46.7, 30.5 billion (the models' cards); embeddings of both ends.
TEST(Models, HaveTheirPublishedNumbersOfParameters) {
  EXPECT_NEAR(shipped("llama-3-8b").parameters() / 8.03e9, 1, 0.002);
  EXPECT_NEAR(shipped("llama-3-70b").parameters() / 70.6e9, 1, 0.002);
  EXPECT_NEAR(shipped("mixtral-8x7b").parameters() / 46.7e9, 1, 0.002);
  EXPECT_NEAR(shipped("qwen3-30b-a3b").parameters() / 30.5e9, 1, 0.002);
  EXPECT_NEAR(shipped("deepseek-moe-16b").parameters() / 16.4e9, 1, 0.005);
}

TEST(Models, MustNameTheSourceOfEveryNumber) {
  const Result<ModelSpec> model = parsed(
      "model: M\nlayers: {value: 2}\nhidden: {value: 64, source: \"x\"}\nheads: {value: 4, source: \"x\"}\n"
      "intermediate: {value: 128, source: \"x\"}\nlayer: {value: 2, source: \"x\"}\n");
  ASSERT_FALSE(model);
  const std::string text = to_string(model.errors());
  EXPECT_NE(text.find("m.yaml:2:9: layers.source"), std::string::npos) << text;
  EXPECT_NE(text.find("layer:"), std::string::npos) << text;
}

TEST(Unfold, ForwardWorkIsTwoOperationsForEachWeightAndTokenAndAttention) {
  const ModelSpec m = shipped("llama-3-8b");
  StepRequest r{Phase::prefill, 256, 1, 0, 1};
  const std::vector<Block> blocks = *unfold(m, r);
  const double matrices = m.parameters() - 2.0 * m.vocabulary * m.hidden;
  const double attention = flops_of(named(blocks, "attention")) * m.layers;
  const double logits = 2.0 * m.vocabulary * m.hidden;  // of the last token
  EXPECT_NEAR(flops_of(blocks) / (2 * matrices * 256 + attention + logits), 1, 1e-12);
}

TEST(Unfold, TrainingMultipliesThreeTimesAsMuch) {
  const ModelSpec m = shipped("gpt-2");
  StepRequest forward{Phase::prefill, 64, 64, 0, 1}, training{Phase::training, 64, 64, 0, 1};
  const std::vector<Block> blocks = *unfold(m, training);
  const double attention = flops_of(named(blocks, "attention")) * m.layers;
  EXPECT_NEAR(flops_of(blocks) / (3 * flops_of(*unfold(m, forward)) + 0.5 * attention), 1, 1e-9);
}

TEST(Unfold, GpusShareTheMatricesEvenlyAndReduce) {
  const ModelSpec m = shipped("llama-3-70b");
  StepRequest one{Phase::decode, 8, 8, 1000, 1}, eight = one;
  eight.tensor_parallel = 8;
  const std::vector<Block> whole = *unfold(m, one), part = *unfold(m, eight);
  EXPECT_NEAR(flops_of(part) * 8 / flops_of(whole), 1, 1e-12);
  EXPECT_EQ(named(part, "all-reduce").ranks, 8);
  EXPECT_THROW((void)named(whole, "all-reduce"), std::runtime_error);
  EXPECT_NEAR(resident_bytes(m, eight) * 8 / resident_bytes(m, one), 1, 1e-12);
}

TEST(Unfold, RefusesWhatCannotBeShared) {
  const ModelSpec m = shipped("llama-3-8b");
  EXPECT_EQ(unfold(m, {Phase::prefill, 10, 3, 0, 1}).errors().front().key, "--tokens");
  EXPECT_EQ(unfold(m, {Phase::prefill, 16, 1, 0, 3}).errors().front().key, "--tensor-parallel");
  EXPECT_EQ(unfold(m, {Phase::decode, 16, 8, 0, 1}).errors().front().key, "--sequences");
  EXPECT_EQ(unfold(shipped("bert-large"), {Phase::decode, 1, 1, 0, 1}).errors().front().key, "--phase");
}

TEST(Unfold, DenseLayersOfAMixtureHaveNoExperts) {
  const std::vector<Block> blocks = *unfold(shipped("deepseek-moe-16b"), {});
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].repeat, 1);
  EXPECT_EQ(blocks[1].repeat, 27);
  const auto has_experts = [](const Block& b) {
    return std::ranges::any_of(b.operations, [](const Operation& o) { return o.op == Op::moe; });
  };
  EXPECT_FALSE(has_experts(blocks[0]));
  EXPECT_TRUE(has_experts(blocks[1]));
}

}  // namespace
}  // namespace noteg::workload
