#include "sim/tune/problem.hpp"

#include <gtest/gtest.h>

namespace noteg::tune {
namespace {

TEST(ShapeFile, ReadsOneProblemPerLine) {
  const Result<std::vector<CountedProblem>> read = parse_shapes(
      "# a layer\n\n128x256x64  times=32 # qkv\n64x64x64 batch=8 dtype=f16 layout=nt\r\n", "layer.txt", {});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->at(0).problem.shape.n, 256);
  EXPECT_EQ(read->at(0).count, 32);
  EXPECT_EQ(read->at(1).problem.shape.batch, 8);
  EXPECT_EQ(read->at(1).problem.frame.dtype_in, kernels::DataType::f16);
  EXPECT_EQ(read->at(1).problem.frame.dtype_acc, kernels::DataType::f32);
  EXPECT_EQ(read->at(1).problem.frame.layout, kernels::Layout::nt);
}

TEST(ShapeFile, TellsEveryMistakeWithItsPlace) {
  const Result<std::vector<CountedProblem>> read =
      parse_shapes("128x256\n64x64x64 times=0 size=3\n64x0x64 dtype=f12\n", "layer.txt", {});
  ASSERT_FALSE(read);
  ASSERT_EQ(read.errors().size(), 5U);
  EXPECT_EQ(read.errors()[0].to_string().find("layer.txt:1:1: shape: expected MxNxK"), 0U);
  EXPECT_EQ(read.errors()[1].to_string().find("layer.txt:2:10: times: expected an integer"), 0U);
  EXPECT_FALSE(parse_shapes("# nothing\n", "layer.txt", {}));
  EXPECT_FALSE(read_shapes("/nowhere/layer.txt", {}));
}

}  // namespace
}  // namespace noteg::tune
