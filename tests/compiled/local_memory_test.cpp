// Stores to local memory, against rows local_memory and local_memory_dram of h200_memory_micro.csv.
#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "sim/compiled/simulate_compiled.hpp"
#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {
namespace {

constexpr std::int64_t ctas = 132 * 16 * 3, threads = 128;

// Each thread stores so many words.
gpu::MemoryTraffic stored(int words) {
  static const arch::GpuSpec gpu = *arch::load_gpu("h200-sxm-141gb", {});
  std::string code = "LDC R1, c[0x0][0x28]\nIADD3 R1, R1, -" + std::to_string(4 * words) + ", RZ\n";
  for (int i = 0; i < words; ++i) code += "STL [R1+" + std::to_string(4 * i) + "], R2\n";
  Small kernel(code + "EXIT\n", {}, {threads, 1, 1}, {ctas, 1, 1});
  kernel.launch.kernel = kernel.listing.kernels.at(0).name;
  CompiledRequest request;
  request.listing = &kernel.listing;
  request.launch = kernel.launch;
  request.gpu = &gpu;
  const Result<CompiledRun> run = simulate_compiled(request);
  EXPECT_TRUE(run) << to_string(run.errors());
  return run ? run->report.memory : gpu::MemoryTraffic{};
}

TEST(LocalMemory, AllThatIsStoredGoesToL2AndOnWhereLiveFramesDoNotFitThere) {
  for (const int words : {16, 128, 256}) {
    const double bytes = 4.0 * words * static_cast<double>(ctas * threads);
    const gpu::MemoryTraffic memory = stored(words);
    EXPECT_NEAR(memory.l2_write_bytes, bytes, 0.01 * bytes) << words;
    // 17 MB are live at a time, 138 and 277: an H200 sends 0.06, 0.99 and 1.0 of it to DRAM.
    EXPECT_NEAR(memory.dram_write_bytes / bytes, words == 16 ? 0.06 : 1.0, 0.1) << words;
    EXPECT_EQ(memory.dram_read_bytes, 0) << words;
  }
}

}  // namespace
}  // namespace noteg::compiled
