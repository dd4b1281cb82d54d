#include "sim/workload/operation.hpp"

#include <gtest/gtest.h>

namespace noteg::workload {
namespace {

TEST(OperationFile, TakesTheColumnsOfMeasuredFiles) {
  const auto list = parse_operations_csv(
      "gpu,op,dtype_in,layout,batch,M,N,K,time_ms,notes\n"
      "A100,linear,fp16,tn,1,16,768,4096,0.008,kernel unknown\n"
      "A100,bmm,bf16,nn,8,16,64,128,0.1,\n"
      "A100,attention_decode,bf16,,4,1,1000,128,0.1,\"flash;heads=32;kv_heads=8;causal=0\"\n"
      "A100,moe,bf16,tn,128,4,192,2048,0.1,experts=128;topk=8\n"
      "A100,gemm_weight_only,fp16xint4,tn,1,16,4096,4096,0.1,\n",
      "m.csv");
  ASSERT_TRUE(list) << to_string(list.errors());
  ASSERT_EQ(list->size(), 5U);
  EXPECT_EQ((*list)[0].frame.layout, kernels::Layout::nt) << "rows of both lie along K";
  EXPECT_EQ((*list)[1].frame.layout, kernels::Layout::nn);
  EXPECT_EQ((*list)[2].heads, 32);
  EXPECT_EQ((*list)[2].kv_heads, 8);
  EXPECT_FALSE((*list)[2].causal);
  EXPECT_EQ((*list)[3].top_k, 8);
  EXPECT_DOUBLE_EQ((*list)[4].weight_bytes, 0.5);
}

TEST(OperationFile, TellsEveryMistakeWithItsPlace) {
  const auto list = parse_operations_csv("name,op,M,N,K\na,linaer,16,16,16\nb,linear,0,16,\n", "m.csv");
  ASSERT_FALSE(list);
  const std::string text = to_string(list.errors());
  EXPECT_NE(text.find("m.csv:2:2: op: expected linear, bmm"), std::string::npos) << text;
  EXPECT_NE(text.find("m.csv:3:3: M: expected an integer from 1"), std::string::npos) << text;
  EXPECT_NE(text.find("m.csv:3:5: K: expected an integer of at least 1, found nothing"), std::string::npos) << text;
}

TEST(OperationFile, MayBeYaml) {
  const auto document = read_yaml_text(
      "operations:\n  - {op: linear, M: 16, N: 32, K: 64, count: 3}\n  - {op: elementwise, M: 16, N: 32, reads: 2}\n",
      "m.yaml");
  const auto list = operations_of(*document);
  ASSERT_TRUE(list) << to_string(list.errors());
  EXPECT_EQ((*list)[0].count, 3);
  EXPECT_DOUBLE_EQ((*list)[1].reads, 2);
  const auto wrong = operations_of(*read_yaml_text("operations:\n  - {op: linear, M: 16, N: 32, k: 64}\n", "m.yaml"));
  ASSERT_FALSE(wrong);
  EXPECT_NE(to_string(wrong.errors()).find("m.yaml:2:32: operations.0.k"), std::string::npos)
      << to_string(wrong.errors());
}

TEST(OperationFile, WithoutRowsIsAMistake) {
  EXPECT_FALSE(parse_operations_csv("M,N,K\n", "m.csv"));
  EXPECT_FALSE(parse_operations_csv("a,b\n1,2\n", "m.csv"));
}

}  // namespace
}  // namespace noteg::workload
