// Dot products for few rows: counts that follow from the tile and the type, the rules, and how K is dealt to threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/gemv/gemv.hpp"

namespace noteg::kernels {
namespace {

KernelConfig gemv(DataType type, int rows, int columns) {
  KernelConfig c;
  c.family = Family::gemv;
  c.layout = Layout::nt;
  c.dtype_in = type;
  c.dtype_acc = type == DataType::s8 ? DataType::s32 : DataType::f32;
  c.dtype_out = DataType::f16;
  c.tile = {rows, columns, 0};
  return c;
}

Program built(const KernelConfig& config, const GemmShape& shape) {
  BuildRequest request;
  request.config = *resolve(config, shape);
  return *build_program(request);
}

std::int64_t in_loop(const Program& p, Opcode op) {
  return std::count_if(p.code.begin() + p.mainloop_begin, p.code.begin() + p.epilogue_begin,
                       [&](const Instruction& ins) { return ins.op == op; });
}

std::string refused(const KernelConfig& config, const GemmShape& shape) {
  const Result<KernelConfig> resolved = resolve(config, shape);
  return resolved ? "" : to_string(resolved.errors());
}

// 16 bytes of each row and column a step: 4 dot products of four integers, or 8 or 16 products, for every result.
TEST(Gemv, MultipliesWhatItLoadsOnce) {
  for (const int rows : {1, 2, 4, 8})
    for (const int columns : {1, 2}) {
      const Program integers = built(gemv(DataType::s8, rows, columns), {rows, 4096, 8192, 1});
      EXPECT_EQ(in_loop(integers, Opcode::ldg), rows + columns);
      EXPECT_EQ(in_loop(integers, Opcode::idp), 4 * rows * columns);
      const Program halves = built(gemv(DataType::f16, rows, columns), {rows, 4096, 8192, 1});
      EXPECT_EQ(in_loop(halves, Opcode::ffma), 8 * rows * columns);
      EXPECT_EQ(in_loop(halves, Opcode::hadd2_f32), 8 * (rows + columns));
      const Program bytes = built(gemv(DataType::f8e4m3, rows, columns), {rows, 4096, 8192, 1});
      EXPECT_EQ(in_loop(bytes, Opcode::ffma), 16 * rows * columns);
      EXPECT_EQ(in_loop(bytes, Opcode::f2fp), 8 * (rows + columns));
    }
}

TEST(Gemv, DealsKInEqualSteps) {
  const auto resolved = [](std::int64_t k) { return *resolve(gemv(DataType::s8, 1, 2), {1, 4096, k, 1}); };
  EXPECT_EQ(resolved(65536).tile.k, 128 * 16);
  EXPECT_EQ(resolved(3072).tile.k, 1536);  // two steps
  EXPECT_EQ(resolved(1024).tile.k, 1024);
  EXPECT_EQ(*resolved(1024).threads, 64);  // no thread without work
  EXPECT_EQ(resolved(3072), *resolve(resolved(3072), {1, 4096, 3072, 1}));
  KernelConfig deep = gemv(DataType::f16, 1, 2);
  deep.tile.k = 512;
  EXPECT_EQ(*resolve(deep, {1, 4096, 8192, 1})->threads, 64);
}

TEST(Gemv, SaysWhatItTakes) {
  const GemmShape shape{1, 4096, 8192, 1};
  KernelConfig c = gemv(DataType::s8, 1, 2);
  c.layout = Layout::nn;
  EXPECT_EQ(refused(c, shape), "layout: expected nt (a gemv thread reads along K), found nn\n");
  EXPECT_EQ(refused(gemv(DataType::s8, 9, 2), shape),
            "tile: expected 1 to 8 rows and columns of a CTA, for example 1x2x1024, found 9x2x0\n");
  EXPECT_EQ(refused(gemv(DataType::tf32, 1, 2), shape),
            "dtype_in: expected f16, bf16, f8e4m3 or s8 (gemv), found tf32\n");
  EXPECT_EQ(refused(gemv(DataType::s8, 1, 2), {1, 4096, 100, 1}),
            "shape.k: expected a multiple of 16 (gemv reads 16 bytes at a time), found 100\n");
  c = gemv(DataType::s8, 1, 2);
  c.tile.k = 4096;
  c.threads = 128;
  EXPECT_EQ(refused(c, shape), "tile: expected 16 to 2048 of K (16 bytes a thread), found 1x2x4096\n");
}

}  // namespace
}  // namespace noteg::kernels
