// The files that come with the program load, and hold what the products have.
#include <gtest/gtest.h>

#include <filesystem>

#include "arch/load.hpp"

namespace noteg::arch {
namespace {

std::vector<std::string> shipped_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(NOTEG_SOURCE_DIR "/arch")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().string());
  }
  return names;
}

TEST(ShippedFiles, AllPassTheCheck) {
  const std::vector<std::string> files = shipped_files();
  EXPECT_GE(files.size(), 13U);
  for (const std::string& file : files) {
    const Result<FileSummary> summary = check_file(file);
    EXPECT_TRUE(summary) << to_string(summary.errors());
  }
}

TEST(ShippedFiles, EveryGpuLoads) {
  for (const std::string& id : list_gpu_ids()) {
    const Result<GpuSpec> gpu = load_gpu(id);
    EXPECT_TRUE(gpu) << to_string(gpu.errors());
  }
}

TEST(ShippedFiles, EveryNameBelongsToOneGpu) {
  for (const std::string& id : list_gpu_ids()) {
    const Result<GpuSpec> gpu = load_gpu(id);
    ASSERT_TRUE(gpu);
    for (const std::string& name : gpu->names) EXPECT_EQ(load_gpu(name)->id, id) << name;
  }
}

struct Product {
  const char* id;
  int sms;
  double cuda_cores;
  double dram_gb_per_s;
};

TEST(ShippedFiles, CoresAndBandwidthAreThoseOfTheDataSheets) {
  for (const Product& p : {Product{"rtx4070", 46, 5888, 504}, Product{"l4", 58, 7424, 300},
                           Product{"rtx-a6000", 84, 10752, 768}, Product{"rtx3090", 82, 10496, 936},
                           Product{"a100-pcie-40gb", 108, 6912, 1555}, Product{"a100-pcie-80gb", 108, 6912, 1935},
                           Product{"h100-sxm5-80gb", 132, 16896, 3352}, Product{"h200-sxm-141gb", 132, 16896, 4800}}) {
    const Result<GpuSpec> gpu = load_gpu(p.id);
    ASSERT_TRUE(gpu) << p.id;
    EXPECT_EQ(gpu->sms, p.sms) << p.id;
    EXPECT_EQ(gpu->sms * gpu->sm.sub_cores * gpu->sm.pipes.fma.lanes, p.cuda_cores) << p.id;
    EXPECT_EQ(gpu->dram.bandwidth.value, p.dram_gb_per_s * 1e9) << p.id;
  }
}

}  // namespace
}  // namespace noteg::arch
