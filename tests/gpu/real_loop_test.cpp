// Main loops cut out of real listings, with the compiler's own registers and control bits, on the model of the GPU on
// which the same kernels were measured: no builder of ours between the engine and the hardware. tests/data/README.md
// says where loops and cycles come from. Cycles per iteration are slopes between K = 512 and K = 2048.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/assembly/assembly.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/gpu/memory_port.hpp"
#include "sim/support/text_file.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

struct RealLoop {
  const char* file;
  int ctas;         // side by side on the SM
  double measured;  // cycles per iteration
  double within = 0.03;
};

kernels::Program loop_of(const std::string& file) {
  const Result<std::string> text = read_text_file(std::string(NOTEG_SOURCE_DIR "/tests/data/sass/") + file + ".nsass");
  EXPECT_TRUE(text) << file;
  if (!text) return {};
  const Result<kernels::Program> program = kernels::parse_assembly(*text, file);
  EXPECT_TRUE(program) << to_string(program.errors());
  return program ? *program : kernels::Program{};
}

double cycles_per_iteration(const arch::GpuSpec& gpu, const kernels::Program& program, int ctas) {
  constexpr int few = 16, many = 528;
  PortRequest request;
  request.gpu = &gpu;
  const sm::DecodedProgram decoded = sm::decode(program, gpu.sm);
  sm::SmWork work;
  work.resident = ctas;
  work.ctas = ctas;
  const auto cycles = [&](int iterations) {
    work.iterations = iterations;
    return sm::run_sm(decoded, gpu.sm, {}, port_to_l2(request, gpu.clock.sustained), work).cycles;
  };
  return (cycles(many) - cycles(few)) / (many - few);
}

class RealMainLoop : public testing::TestWithParam<RealLoop> {};

TEST_P(RealMainLoop, TakesTheCyclesOfTheHardware) {
  const RealLoop& loop = GetParam();
  const double cycles = cycles_per_iteration(gpu_of("h200-sxm-141gb"), loop_of(loop.file), loop.ctas);
  EXPECT_LE(std::abs(cycles / loop.measured - 1), loop.within) << cycles << " for " << loop.measured;
}

// Where more than 3 % is allowed, docs/assembly.md names what is missing: warps whose loads and LDS drift apart where
// loads are many (k tiles of 16).
INSTANTIATE_TEST_SUITE_P(
    H200, RealMainLoop,
    testing::Values(
        RealLoop{"blocked_128x128x8_t8x8_db", 1, 1649.4}, RealLoop{"blocked_128x128x8_t8x8_db", 2, 3049.0},
        RealLoop{"blocked_64x64x8_t8x8_db", 1, 943.3}, RealLoop{"blocked_64x64x8_t8x8_db", 6, 2453.8, 0.06},
        RealLoop{"blocked_64x64x16_t4x4_db", 1, 1074.8, 0.06}, RealLoop{"blocked_64x64x16_t4x4_db", 4, 4292.5, 0.08},
        RealLoop{"blocked_64x64x16_t4x4_sb", 1, 1486.5, 0.06}, RealLoop{"blocked_64x64x16_t4x4_sb", 4, 4683.2, 0.12},
        RealLoop{"blocked_128x64x16_t8x4_sb", 1, 2196.1, 0.05}, RealLoop{"blocked_128x64x16_t8x4_sb", 3, 5677.3, 0.085},
        RealLoop{"naive_tiled_sgemm_t8", 1, 654.2}, RealLoop{"naive_tiled_sgemm_t8", 32, 2047.7},
        RealLoop{"naive_tiled_sgemm_t12", 1, 770.6}, RealLoop{"naive_tiled_sgemm_t12", 12, 2449.1},
        RealLoop{"naive_tiled_sgemm_t16", 1, 889.7}, RealLoop{"naive_tiled_sgemm_t16", 8, 2913.6},
        RealLoop{"naive_tiled_sgemm_t24", 1, 1576.7}, RealLoop{"naive_tiled_sgemm_t24", 3, 3729.1}),
    [](const auto& tested) { return std::string(tested.param.file) + "_ctas" + std::to_string(tested.param.ctas); });

TEST(RealMainLoops, PrintAndReadBackTheSame) {
  for (const char* file : {"blocked_128x128x8_t8x8_db", "naive_tiled_sgemm_t16"}) {
    const std::string text = kernels::to_text(loop_of(file));
    const Result<kernels::Program> again = kernels::parse_assembly(text, file);
    ASSERT_TRUE(again) << to_string(again.errors());
    EXPECT_TRUE(kernels::to_text(*again) == text);
    const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
    EXPECT_EQ(cycles_per_iteration(gpu, *again, 1), cycles_per_iteration(gpu, loop_of(file), 1));
  }
}

}  // namespace
}  // namespace noteg::gpu
