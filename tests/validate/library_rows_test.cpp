// Rows that record no kernel: chosen by the chooser where there is one, told with the reason where there is none.
#include <gtest/gtest.h>

#include "sim/validate/operator_case.hpp"
#include "tests/validate/fixture.hpp"

namespace noteg::validate {
namespace {

using kernels::DataType;

const std::string library_file =
    "source,gpu,op,dtype_in,dtype_acc,layout,M,N,K,kernel_name,tile_m,time_ms\n"
    "vidur,tiny,linear,fp32,fp32,tn,1000,1000,1000,,,2\n"
    "aiconfigurator,tiny,linear_quant,fp8,fp32,tn,1000,1000,1000,,,2\n"
    "aiconfigurator,tiny,gemm_int8,int8,int32,tn,1000,1000,1000,,,2\n"
    "siboehm,tiny,gemm,fp32,fp32,nn,1000,1000,1000,sgemm_0_cublas,,2\n"
    "siboehm,tiny,gemm,fp32,fp32,nn,1000,1000,1000,sgemm_9_autotuned,,2\n";

// What the chooser was asked for, as a kernel: types and layout come back, the tile says that it was asked.
Result<kernels::KernelConfig> choose(const arch::GpuSpec&, const kernels::KernelConfig& frame,
                                     const kernels::GemmShape&, const gpu::SimOptions&) {
  kernels::KernelConfig kernel = frame;
  kernel.tile = {64, 64, 8};
  return kernel;
}

Validation run(const Chooser& chooser) {
  const test::TemporaryFile data("library.csv", library_file);
  ValidateOptions options;
  options.chooser = chooser;
  return *validate({data.path()}, options, test::fake_simulator);
}

TEST(LibraryRows, AreSkippedWithTheReasonWithoutAChooser) {
  const Validation v = run({});
  EXPECT_EQ(v.skipped, 5U);
  EXPECT_NE(v.outcomes[0].reason.find("no kernel_name"), std::string::npos) << v.outcomes[0].reason;
}

TEST(LibraryRows, AreChosenForWhereTheLibraryRan) {
  const Validation v = run(choose);
  EXPECT_EQ(v.predicted, 4U);
  EXPECT_EQ(v.outcomes[4].reason, "tile was not recorded");  // a hand-written kernel is no library
}

TEST(LibraryRows, AreMarkedAsChosenAndOnlyThey) {
  const MeasuredData data = test::data_of(library_file);
  const arch::GpuSpec gpu = *arch::load_gpu("tiny");
  MeasuredCase asks =
      std::get<MeasuredCase>(case_of(data, data.rows[0], TimeColumn::as_taken, unknown_kernels(choose)));
  MeasuredCase says = asks;
  says.choose_kernel = false;
  EXPECT_TRUE(settle_kernel(asks, gpu, choose).empty());
  EXPECT_TRUE(settle_kernel(says, gpu, {}).empty());
  EXPECT_TRUE(asks.options.kernel_chosen);
  EXPECT_EQ(asks.config.tile.m, 64);
  EXPECT_FALSE(says.options.kernel_chosen);
  EXPECT_EQ(says.config.tile.m, 0);
}

TEST(LibraryRows, AChoiceThatFailsIsTold) {
  const MeasuredData data = test::data_of(library_file);
  const Chooser fails = [](const auto&...) { return Diagnostic{"", 0, 0, "kernel", "one that fits", "none"}; };
  MeasuredCase asks = std::get<MeasuredCase>(case_of(data, data.rows[0], TimeColumn::as_taken, unknown_kernels(fails)));
  const Diagnostics errors = settle_kernel(asks, *arch::load_gpu("tiny"), fails);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.front().expected, "one that fits");
}

TEST(LibraryRows, AQuantisationKernelAddsItsTime) {
  const Validation v = run(choose);
  const double plain = v.outcomes[2].prediction.time_ms, quantised = v.outcomes[1].prediction.time_ms;
  const arch::GpuSpec gpu = *arch::load_gpu("tiny");
  EXPECT_GT(quantised - plain, 3e6 / gpu.dram.bandwidth.value * 1e3);
  EXPECT_LT(quantised - plain, 2 * 3e6 / gpu.dram.bandwidth.value * 1e3 + 0.1);
}

TEST(LibraryRows, ResultsHaveSixteenBitsWhereOperandsHaveFewer) {
  const MeasuredData data = test::data_of(library_file);
  const auto type_of = [&](std::size_t row) {
    return std::get<MeasuredCase>(case_of(data, data.rows[row], TimeColumn::as_taken, UnknownKernel::choose)).config;
  };
  EXPECT_EQ(type_of(0).dtype_out, DataType::f32);
  EXPECT_EQ(type_of(1).dtype_out, DataType::bf16);
  EXPECT_EQ(type_of(2).dtype_acc, DataType::s32);
}

}  // namespace
}  // namespace noteg::validate
