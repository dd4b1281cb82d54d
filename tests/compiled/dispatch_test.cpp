// Loops on an H200, one and four warps on a sub-core and more (tests/data/compiled/dispatch): of 35 to 88 instructions,
// products of two passes, operands of register pairs, and queued instructions among those that take a cycle each; and
// of everyday arithmetic, written without the model in mind.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "kernels/compiled/listing/listing.hpp"
#include "sim/compiled/simulate_compiled.hpp"

namespace noteg::compiled {
namespace {

const std::string dispatch_data = NOTEG_SOURCE_DIR "/tests/data/compiled/dispatch/";

struct Loop {
  std::string kernel;
  int threads = 0, ctas = 0;
  double cycles = 0;  // of an iteration of all warps
};

std::vector<Loop> loops(const std::string& name) {
  std::ifstream file(dispatch_data + name);
  std::string line;
  std::getline(file, line);
  std::vector<Loop> out;
  for (Loop loop; std::getline(file, line);) {
    std::istringstream cells(line);
    std::getline(cells, loop.kernel, ',');
    char comma = 0;
    cells >> loop.threads >> comma >> loop.ctas >> comma >> loop.cycles;
    out.push_back(loop);
  }
  return out;
}

double cycles_of(const Listing& listing, const arch::GpuSpec& gpu, const Loop& loop, std::int64_t iterations) {
  CompiledRequest request;
  request.listing = &listing;
  request.gpu = &gpu;
  request.options.sm_clock_mhz = 1980;
  request.launch.kernel = loop.kernel;
  request.launch.grid = {std::int64_t{132} * loop.ctas, 1, 1};
  request.launch.block = {loop.threads, 1, 1};
  request.launch.registers = 32;
  request.launch.arguments.resize(3);
  request.launch.arguments[0].kind = ArgumentKind::buffer;
  request.launch.arguments[0].name = "o";
  request.launch.arguments[0].bytes = 1 << 20;
  request.launch.arguments[1].value = iterations;
  request.launch.arguments[2].value = 12345;
  const Result<CompiledRun> run = simulate_compiled(request);
  EXPECT_TRUE(run) << loop.kernel << to_string(run.errors());
  return run ? run->report.cycles : 0;
}

void expect_cycles_within(const std::string& listing_file, const std::vector<Loop>& all, double each_bound,
                          double mean_bound) {
  constexpr std::int64_t less_of_it = 32, more_of_it = 80;  // iterations
  const Result<Listing> listing = read_listing(dispatch_data + listing_file);
  ASSERT_TRUE(listing) << to_string(listing.errors());
  const arch::GpuSpec gpu = *arch::load_gpu("h200-sxm-141gb", {});
  double sum = 0;
  for (const Loop& loop : all) {
    const double more = cycles_of(*listing, gpu, loop, more_of_it), less = cycles_of(*listing, gpu, loop, less_of_it);
    const double each = (more - less) / (more_of_it - less_of_it), error = std::abs(each / loop.cycles - 1);
    EXPECT_LE(error, each_bound) << loop.kernel << " " << loop.threads << " x " << loop.ctas << ": " << each
                                 << ", measured " << loop.cycles;
    sum += error;
  }
  EXPECT_LE(sum / static_cast<double>(all.size()), mean_bound);
}

TEST(Dispatch, LoopsTakeTheCyclesThatAnH200Takes) {
  const std::vector<Loop> all = loops("h200_loops.csv");
  ASSERT_GE(all.size(), 70U);
  expect_cycles_within("dispatch_sm90a.sass.gz", all, 0.11, 0.05);
}

// A few are of DFMA alone, whose operands the model keeps in the reuse cache while other warps issue.
TEST(Dispatch, EverydayArithmeticTakesTheCyclesThatAnH200Takes) {
  const std::vector<Loop> all = loops("h200_arithmetic.csv");
  ASSERT_GE(all.size(), 90U);
  expect_cycles_within("arithmetic_sm90a.sass.gz", all, 0.25, 0.055);
}

}  // namespace
}  // namespace noteg::compiled
