// What a simulation costs: the default mode must not step through more when the problem grows.
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

struct Case {
  const char* gpu;
  const char* kernel;
  double clock_mhz;  // held under load
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.gpu << " " << c.kernel; }

class Cost : public testing::TestWithParam<Case> {
 protected:
  double stepped(const kernels::GemmShape& shape) const {
    SimOptions options;
    // A clock that is solved with the power repeats the work, a bounded number of times that depends on the shape.
    options.sm_clock_mhz = GetParam().clock_mhz;
    const SimReport r = run(gpu_of(GetParam().gpu), GetParam().kernel, shape, options);
    EXPECT_GT(r.engine.simulated_warp_instructions, 0);
    return r.engine.simulated_warp_instructions;
  }
};

// In shallower problems the main loops of CTAs that enter and leave one after the other overlap so much that fewer
// periods are stepped through; once they are long the cost stands still.
// What a rate takes to be known varies from K to K: 1.42 on the H200.
TEST_P(Cost, DoesNotGrowWithK) { EXPECT_LE(stepped({4096, 4096, 131072, 1}), 1.3 * stepped({4096, 4096, 16384, 1})); }

// Grows up to some tens of waves, until waves are seen to repeat: from 4096 to 16384 squared the instructions
// stepped through rise by 2.66 at most (H200): two runs, of two and of seven rounds, take the place of one of four.
// Beyond that the number of runs is fixed; what still moves is the remainder of CTAs per round.
TEST_P(Cost, DoesNotGrowWithTheNumberOfTilesOnceThereAreManyWaves) {
  EXPECT_LE(stepped({32768, 32768, 1024, 1}), 1.3 * stepped({16384, 16384, 1024, 1}));
}

TEST_P(Cost, GrowsByABoundedFactorFromFewWavesToMany) {
  EXPECT_LE(stepped({16384, 16384, 1024, 1}), 2.8 * stepped({4096, 4096, 1024, 1}));
}

TEST_P(Cost, IsSmallBesideTheWork) {
  const SimReport r = run(gpu_of(GetParam().gpu), GetParam().kernel, {16384, 16384, 16384, 1});
  EXPECT_LT(r.engine.simulated_warp_instructions, 0.001 * r.warp_instructions);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Cost,
                         testing::Values(Case{"h200-sxm-141gb", "cutlass_simt_sgemm_128x128_8x4_tn_align1", 1980},
                                         Case{"a100-pcie-80gb", "ampere_sgemm_128x128_nn", 1380},
                                         Case{"rtx4070", "blocked_sgemm_64x64x16_t4x4_db", 2505},
                                         Case{"l4", "ampere_sgemm_64x64_tn", 930}));

}  // namespace
}  // namespace noteg::gpu
