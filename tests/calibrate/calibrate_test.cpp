// Rows made by a GPU whose constants were changed give these constants back; mistakes of the request are refused.
#include "sim/calibrate/calibrate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/field.hpp"
#include "arch/print.hpp"
#include "sim/calibrate/least_squares.hpp"
#include "sim/validate/measured_case.hpp"
#include "tests/validate/fixture.hpp"

namespace noteg::calibrate {
namespace {

constexpr const char* header = "source,gpu,dtype_in,family,M,N,K,tile_m,tile_n,tile_k,time_ms,power_w\n";

arch::SourcedGpu gpu_of(const std::string& id, const arch::Overrides& overrides = {}) {
  const Result<arch::SourcedGpu> gpu = arch::load_sourced_gpu(id, overrides);
  EXPECT_TRUE(gpu) << to_string(gpu.errors());
  return gpu ? *gpu : arch::SourcedGpu{};
}

validate::Simulator model(gpu::SmCache& cache) {
  return [&cache](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                  const gpu::SimOptions& options) { return gpu::simulate(gpu, kernel, shape, options, cache); };
}

// Times and powers as the changed GPU has them, of kernels bound by SMs, by DRAM and by the power limit.
std::string rows_of(const arch::Overrides& changes, const validate::Simulator& simulator) {
  const arch::GpuSpec gpu = gpu_of("rtx4070", changes).gpu;
  std::string text = header;
  for (const int m : {1024, 2048, 3072}) {
    for (const int n : {1024, 2048, 4096, 6144}) {
      const int k = m == 2048 ? 64 : 512;
      const std::string problem = fmt::format("made,RTX4070,f32,simt,{},{},{},128,128,8", m, n, k);
      const validate::MeasuredData row = test::data_of(header + problem + ",1,1\n");
      const validate::CaseOrReason built = validate::case_of(row, row.rows.front());
      const auto& measured = std::get<validate::MeasuredCase>(built);
      gpu::SimOptions options = measured.options;
      const Result<gpu::SimReport> report = simulator(gpu, measured.config, measured.shape, options);
      EXPECT_TRUE(report) << to_string(report.errors());
      text += problem + fmt::format(",{},{}\n", report->time_us * 1e-3, report->power_w);
    }
  }
  return text;
}

TEST(Calibrate, RecoversTheConstantsThatMadeTheRows) {
  gpu::SmCache cache;
  const validate::Simulator simulator = model(cache);
  const std::string rows = rows_of({{"power.idle", "41 W"}, {"sm.energy.fma", "8 pJ"}}, simulator);
  const Result<Calibration> fit =
      calibrate(gpu_of("rtx4070"), test::data_of(rows), {{"power.idle", "arch.sm.energy.fma"}, 1}, simulator);
  ASSERT_TRUE(fit) << to_string(fit.errors());
  EXPECT_NEAR(fit->constants[0].after, 41, 0.8);
  EXPECT_NEAR(fit->constants[1].after, 8e-12, 0.2e-12);
  EXPECT_GT(fit->held_out_rows, 0U);
  EXPECT_EQ(fit->fitted_rows + fit->held_out_rows, 12U);
  // Rows at the power limit tell by their time.
  EXPECT_GT(fit->before.power->mape + fit->before.time->mape, 0.01);
  EXPECT_LT(fit->after.power->mape, 0.005);
  EXPECT_LT(fit->after.time->mape, 0.01);
}

TEST(Calibrate, MarksWhatItFittedAndKeepsTheBase) {
  gpu::SmCache cache;
  const validate::Simulator simulator = model(cache);
  const std::string rows = rows_of({{"power.idle", "41 W"}}, simulator);
  const Result<Calibration> fit = calibrate(gpu_of("rtx4070"), test::data_of(rows), {{"power.idle"}, 1}, simulator);
  ASSERT_TRUE(fit) << to_string(fit.errors());
  const test::TemporaryFile file("calibrated.yaml", arch::to_yaml(fit->gpu, "made by a test"));
  const Result<arch::SourcedGpu> again = arch::load_sourced_gpu(file.path());
  ASSERT_TRUE(again) << to_string(again.errors());
  EXPECT_EQ(again->gpu.sm.name, "sm_89");
  EXPECT_EQ(again->gpu.power.idle, fit->gpu.gpu.power.idle);
  const arch::Provenance& mark = again->provenance[*arch::find_field("power.idle")];
  EXPECT_NE(mark.fitted.find("test.csv"), std::string::npos);
  EXPECT_EQ(mark.guess + mark.source, "");
}

TEST(Calibrate, IsTheSameForAnyNumberOfJobs) {
  gpu::SmCache first, second;
  const std::string rows = rows_of({{"power.idle", "41 W"}}, model(first));
  const auto fitted = [&](unsigned jobs, gpu::SmCache& cache) {
    return calibrate(gpu_of("rtx4070"), test::data_of(rows), {{"power.idle"}, jobs}, model(cache))->constants[0].after;
  };
  EXPECT_EQ(fitted(1, first), fitted(3, second));
}

std::string mistakes(const std::string& id, const std::string& rows, std::vector<std::string> constants) {
  const Result<Calibration> fit =
      calibrate(gpu_of(id), test::data_of(rows), {std::move(constants), 1}, test::fake_simulator);
  return fit ? "" : to_string(fit.errors());
}

TEST(Calibrate, FitsAnewWhatTheFileHasFitted) {
  const std::vector<std::string> four{"power.idle", "power.voltage_floor", "power.floor_clock", "power.dram_byte"};
  EXPECT_EQ(default_keys(gpu_of("l40s")), four);
  EXPECT_EQ(default_keys(gpu_of("rtx4070")),
            (std::vector<std::string>{"clock.sustained", "power.idle", "sm.energy.fma"}));
  EXPECT_EQ(default_keys(gpu_of("b200-sxm-180gb")).front(), "dram.read_efficiency");
  const Result<Fields> chosen = chosen_fields(gpu_of("l40s"), four);
  EXPECT_TRUE(chosen) << to_string(chosen.errors());
}

TEST(Calibrate, ReplacesTheMarkOfAnEarlierFit) {
  gpu::SmCache cache;
  const validate::Simulator simulator = model(cache);
  const std::string rows = rows_of({{"power.idle", "41 W"}}, simulator);
  arch::SourcedGpu gpu = gpu_of("rtx4070");
  for (const char* key : {"power.idle", "power.voltage_floor", "power.floor_clock", "power.dram_byte"})
    gpu.provenance[*arch::find_field(key)] = {gpu.gpu.file, {}, "", "rows of another year", ""};
  const Result<Calibration> fit = calibrate(gpu, test::data_of(rows), {{"power.idle"}, 1}, simulator);
  ASSERT_TRUE(fit) << to_string(fit.errors());
  EXPECT_NEAR(fit->constants[0].after, 41, 0.8);
  EXPECT_NE(fit->gpu.provenance[*arch::find_field("power.idle")].fitted.find("test.csv"), std::string::npos);
  EXPECT_EQ(fit->gpu.provenance[*arch::find_field("power.dram_byte")].fitted, "rows of another year");
}

TEST(Calibrate, ChoosesTheKernelOfLibraryCallsBeforeTheFit) {
  gpu::SmCache cache;
  std::string rows = "source,gpu,op,dtype_in,M,N,K,time_ms\n";
  for (int m = 1; m <= 12; ++m) rows += fmt::format("made,RTX4070,gemm,fp32,{},512,512,1\n", 128 * m);
  Request request{{"power.idle"}, 1, {}};
  int asked = 0;
  request.chooser = [&](const arch::GpuSpec&, const kernels::KernelConfig&, const kernels::GemmShape&,
                        const gpu::SimOptions&) -> Result<kernels::KernelConfig> {
    ++asked;
    return *kernels::config_from_name("cutlass_80_simt_sgemm_128x128_8x4_nn_align1");
  };
  const Result<Calibration> fit = calibrate(gpu_of("rtx4070"), test::data_of(rows), request, model(cache));
  EXPECT_EQ(asked, 12);
  ASSERT_TRUE(fit) << to_string(fit.errors());
  EXPECT_EQ(fit->fitted_rows + fit->held_out_rows, 12U);
}

TEST(Calibrate, RefusesConstantsThatAreNone) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(mistakes("l4", header, {"power.limit"}), "a fact of the product"));
  EXPECT_TRUE(has(mistakes("l4", header, {"power.idel"}), "did you mean power.idle"));
  EXPECT_TRUE(has(mistakes("l4", header, {"power.idle", "arch.power.idle"}), "twice"));
  EXPECT_TRUE(
      has(mistakes("b200-sxm-180gb", header, {"power.idle", "power.leakage", "power.floor_clock", "power.dram_byte"}),
          "4 beside dram.read_efficiency of b200-sxm-180gb"));
  EXPECT_TRUE(has(mistakes("l40s", header, {"clock.sustained"}),
                  "1 beside power.idle, power.voltage_floor, power.floor_clock, power.dram_byte of l40s"));
  EXPECT_TRUE(has(mistakes("l4", header, {"power.idle"}), "rows of L4 that can be predicted"));
  const std::string one = std::string(header) + "made,L4,f32,simt,512,512,512,128,128,8,1,\n";
  EXPECT_TRUE(has(mistakes("l4", one, {"power.idle"}), "at least 2 rows to fit 1 constants"));
  std::string many = header;
  for (int m = 1; m < 30; ++m) many += fmt::format("made,L4,f32,simt,{},512,512,128,128,8,1,\n", 128 * m);
  EXPECT_TRUE(has(mistakes("l4", many, {"power.idle"}), "depends on the constants, found none"));
}

}  // namespace
}  // namespace noteg::calibrate
