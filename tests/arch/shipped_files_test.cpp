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
  EXPECT_GE(files.size(), 34U);
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

// The gpu column of the published files of measured run times.
TEST(ShippedFiles, MeasuredRowsFindTheirGpu) {
  for (const char* name : {"A100-80GB", "A100-PCIE-40GB", "A100-PCIE-80GB", "A100-SXM4-80GB", "A40", "H100-SXM5-80GB",
                           "H200-SXM-141GB", "L4", "L20", "L40S", "RTX3060-Laptop", "RTX3090", "RTX4070", "RTXA6000"}) {
    const Result<GpuSpec> gpu = load_gpu(name);
    EXPECT_TRUE(gpu) << to_string(gpu.errors());
  }
}

struct Product {
  const char* id;
  int sms;
  double cuda_cores;
  double dram_gb_per_s;
};

TEST(ShippedFiles, CoresAndBandwidthAreThoseOfTheDataSheets) {
  for (const Product& p : {Product{"rtx4070", 46, 5888, 504},
                           Product{"l4", 58, 7424, 300},
                           Product{"rtx-a6000", 84, 10752, 768},
                           Product{"rtx3090", 82, 10496, 936},
                           Product{"a100-pcie-40gb", 108, 6912, 1555},
                           Product{"a100-pcie-80gb", 108, 6912, 1935},
                           Product{"h100-sxm5-80gb", 132, 16896, 3352},
                           Product{"h200-sxm-141gb", 132, 16896, 4800},
                           Product{"a100-sxm4-40gb", 108, 6912, 1555},
                           Product{"a100-sxm4-80gb", 108, 6912, 2039},
                           Product{"a30", 56, 3584, 933},
                           Product{"a10", 72, 9216, 600},
                           Product{"a40", 84, 10752, 696},
                           Product{"rtx-a4000", 48, 6144, 448},
                           Product{"rtx3070", 46, 5888, 448},
                           Product{"rtx3070-ti", 48, 6144, 608},
                           Product{"rtx3080", 68, 8704, 760},
                           Product{"rtx3080-ti", 80, 10240, 912},
                           Product{"rtx3060-laptop", 30, 3840, 336},
                           Product{"rtx4070-super", 56, 7168, 504},
                           Product{"rtx4070-ti", 60, 7680, 504},
                           Product{"rtx4070-ti-super", 66, 8448, 672},
                           Product{"rtx4080", 76, 9728, 717},
                           Product{"rtx4090", 128, 16384, 1008},
                           Product{"rtx6000-ada", 142, 18176, 960},
                           Product{"l20", 92, 11776, 864},
                           Product{"l40", 142, 18176, 864},
                           Product{"l40s", 142, 18176, 864},
                           Product{"h100-pcie", 114, 14592, 2039},
                           Product{"h800-pcie", 114, 14592, 2039}}) {
    const Result<GpuSpec> gpu = load_gpu(p.id);
    ASSERT_TRUE(gpu) << p.id;
    EXPECT_EQ(gpu->sms, p.sms) << p.id;
    EXPECT_EQ(gpu->sms * gpu->sm.sub_cores * gpu->sm.pipes.fma.lanes, p.cuda_cores) << p.id;
    EXPECT_EQ(gpu->dram.bandwidth.value, p.dram_gb_per_s * 1e9) << p.id;
  }
}

}  // namespace
}  // namespace noteg::arch
