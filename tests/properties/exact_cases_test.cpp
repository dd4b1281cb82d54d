// The default mode against stepping through everything, on cases drawn at random at a given clock: all families and
// library kernels by name, layouts, tiles, waves and depths as they come. NOTEG_EXACT_CASES says how many (200),
// NOTEG_RANDOM_SEED from where (1), NOTEG_RANDOM_JOBS with how many threads (1).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "sim/trace/recording.hpp"
#include "sim/support/work_sharing.hpp"
#include "tests/properties/random_case.hpp"

namespace noteg::properties {
namespace {

struct Agreement {
  double off = 0;  // cycles by default over exact ones, less 1
  double stepped = 0, all = 0;
  std::string command;
};

std::size_t asked(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<std::size_t>(std::strtoull(text, nullptr, 10)) : otherwise;
}

// Draws until a case of the kind runs that costs the exact mode no more than `most` warp instructions of an SM and the
// default mode a part of that.
Agreement agreement_of(std::size_t kind, std::uint64_t seed, double least, double most) {
  Random random(seed);
  while (true) {
    const Case c = draw_case(kind, random);
    const Result<arch::GpuSpec> gpu = gpu_of(c);
    if (!gpu) continue;
    gpu::SmCache cache;
    const Result<gpu::SimReport> fast = simulate(c, *gpu, cache);
    if (!fast) continue;
    const double of_sm =
        fast->warp_instructions / static_cast<double>(fast->grid_ctas) * static_cast<double>(fast->sm_run->work().ctas);
    if (of_sm < least || of_sm > most) continue;
    const Result<gpu::SimReport> exact = simulate(c, *gpu, cache, true);
    return {fast->cycles / exact->cycles - 1, fast->engine.simulated_warp_instructions, of_sm, command_of(c)};
  }
}

// Cases that are known to be further off (performance.md). CTAs of one warp fill the sub-cores unevenly, and which slot
// falls empty first decides where the last of them go.
bool is_known_error(const std::string& command) {
  const auto says = [&](const char* part) { return command.find(part) != std::string::npos; };
  return (says("rtx-pro-6000 --family simt") && says("--tile 32x64x8") && says("--shape 6416x1032x512")) ||
         (says("rtx5000-ada --family clblast --tile 64x32x16 --set mdimc=8 --set ndimc=32"));
}

TEST(RandomCases, TheDefaultAgreesWithSteppingThroughEverything) {
  const std::size_t cases = asked("NOTEG_EXACT_CASES", 200), seed = asked("NOTEG_RANDOM_SEED", 1);
  const auto jobs = static_cast<unsigned>(asked("NOTEG_RANDOM_JOBS", 1));
  const auto least = static_cast<double>(asked("NOTEG_EXACT_LEAST", 0)),
             most = static_cast<double>(asked("NOTEG_EXACT_MOST", 4'000'000));
  std::vector<Agreement> found(cases);
  share_work(cases, jobs, {},
             [&](std::size_t i) { found[i] = agreement_of(i % kinds, seed * 1000003 + i, least, most); });
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.off) > std::abs(b.off); });
  double mean = 0, stepped = 0;
  std::size_t beyond = 0;
  for (const Agreement& a : found) {
    mean += std::abs(a.off) / static_cast<double>(cases);
    stepped += a.stepped / static_cast<double>(cases);
    if (std::abs(a.off) <= 0.01) continue;
    ++beyond;
    std::cout << fmt::format("{:+.2f} % {:.0f} of {:.0f}: {}\n", 100 * a.off, a.stepped, a.all, a.command);
  }
  std::cout << fmt::format("mean {:.3f} %, {} of {} beyond 1 %, {:.0f} warp instructions stepped through\n", 100 * mean,
                           beyond, cases, stepped);
  EXPECT_LE(mean, 0.003);
  EXPECT_LE(beyond, 3 * cases / 100);  // 98 in 100 within 1 % is what is wanted
  for (const Agreement& a : found) EXPECT_EQ(std::abs(a.off) > 0.03, is_known_error(a.command)) << a.command;
}

// Cases in which an earlier law of extrapolation was off by 8 to 17 %. Two others are known errors (performance.md).
TEST(KnownCases, TheDefaultAgreesWithSteppingThroughEverything) {
  const auto of = [](const char* gpu, kernels::KernelOverrides settings, kernels::GemmShape shape) {
    Case c;
    c.gpu = gpu;
    c.settings = std::move(settings);
    c.shape = shape;
    c.clock_mhz = 1410;
    return c;
  };
  const Case cases[] = {
      of("a100-pcie-80gb", {{"family", "mma"}, {"tile", "64x64x64"}, {"dtype", "f16"}}, {4096, 4096, 64, 1}),
      of("rtx3070", {{"family", "mma"}, {"tile", "64x64x32"}, {"dtype", "bf16"}, {"stages", "4"}}, {2752, 2048, 76, 1}),
      of("rtx4070-ti", {{"family", "blocked"}, {"tile", "64x64x16"}, {"layout", "nn"}}, {509, 8192, 257, 1})};
  for (const Case& c : cases) {
    const Result<arch::GpuSpec> gpu = gpu_of(c);
    ASSERT_TRUE(gpu);
    gpu::SmCache cache;
    const Result<gpu::SimReport> fast = simulate(c, *gpu, cache), exact = simulate(c, *gpu, cache, true);
    ASSERT_TRUE(fast && exact) << command_of(c);
    EXPECT_NEAR(fast->cycles / exact->cycles, 1, 0.01) << command_of(c);
  }
}

}  // namespace
}  // namespace noteg::properties
