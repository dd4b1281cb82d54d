// The files that come with the program load, and hold what the products have.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "arch/load.hpp"

namespace noteg::arch {
namespace {

std::vector<std::string> shipped_files() {
  std::vector<std::string> names;
  for (const char* folder : {"/arch/gpus", "/arch/generations"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(NOTEG_SOURCE_DIR) + folder))
      if (entry.is_regular_file()) names.push_back(entry.path().string());
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

// The folder of a board is its generation: boards of one SM generation lie in one folder, each under another name.
TEST(ShippedFiles, BoardsOfOneGenerationLieInOneFolder) {
  std::map<std::string, std::filesystem::path> folders;
  for (const KnownGpu& gpu : known_gpus()) {
    EXPECT_TRUE(gpu.others.empty()) << gpu.id;
    const Result<GpuSpec> loaded = load_gpu(gpu.id);
    ASSERT_TRUE(loaded) << gpu.id;
    const auto folder = folders.try_emplace(loaded->sm.name, gpu.file.parent_path()).first->second;
    EXPECT_EQ(gpu.file.parent_path(), folder) << gpu.id;
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
  double boost_mhz, l2_mib, dram_gb, watts;
};

TEST(ShippedFiles, NumbersAreThoseOfTheDataSheets) {
  for (const Product& p : {Product{"rtx4070", 46, 5888, 504, 2475, 36, 12, 200},
                           Product{"l4", 58, 7424, 300, 2040, 48, 24, 72},
                           Product{"rtx-a6000", 84, 10752, 768, 1800, 6, 48, 300},
                           Product{"rtx3090", 82, 10496, 936, 1695, 6, 24, 350},
                           Product{"a100-pcie-40gb", 108, 6912, 1555, 1410, 40, 40, 250},
                           Product{"a100-pcie-80gb", 108, 6912, 1935, 1410, 40, 80, 300},
                           Product{"h100-sxm5-80gb", 132, 16896, 3352, 1980, 50, 80, 700},
                           Product{"h200-sxm-141gb", 132, 16896, 4800, 1980, 60, 141, 700},
                           Product{"a100-sxm4-40gb", 108, 6912, 1555, 1410, 40, 40, 400},
                           Product{"a100-sxm4-80gb", 108, 6912, 2039, 1410, 40, 80, 400},
                           Product{"a30", 56, 3584, 933, 1440, 24, 24, 165},
                           Product{"a10", 72, 9216, 600, 1695, 6, 24, 150},
                           Product{"a40", 84, 10752, 696, 1740, 6, 48, 300},
                           Product{"rtx-a4000", 48, 6144, 448, 1560, 4, 16, 140},
                           Product{"rtx3070", 46, 5888, 448, 1725, 4, 8, 220},
                           Product{"rtx3070-ti", 48, 6144, 608, 1770, 4, 8, 290},
                           Product{"rtx3080", 68, 8704, 760, 1710, 5, 10, 320},
                           Product{"rtx3080-ti", 80, 10240, 912, 1665, 6, 12, 350},
                           Product{"rtx3060-laptop", 30, 3840, 336, 1703, 3, 6, 87.5},  // 60 to 115 W
                           Product{"rtx4070-super", 56, 7168, 504, 2475, 48, 12, 220},
                           Product{"rtx4070-ti", 60, 7680, 504, 2610, 48, 12, 285},
                           Product{"rtx4070-ti-super", 66, 8448, 672, 2610, 48, 16, 285},
                           Product{"rtx4080", 76, 9728, 717, 2505, 64, 16, 320},
                           Product{"rtx4090", 128, 16384, 1008, 2520, 72, 24, 450},
                           Product{"rtx6000-ada", 142, 18176, 960, 2505, 96, 48, 300},
                           Product{"l20", 92, 11776, 864, 2520, 96, 48, 275},
                           Product{"l40", 142, 18176, 864, 2490, 96, 48, 300},
                           Product{"l40s", 142, 18176, 864, 2520, 96, 48, 350},
                           Product{"h100-pcie", 114, 14592, 2039, 1755, 50, 80, 350},
                           Product{"h800-pcie", 114, 14592, 2039, 1755, 50, 80, 350}}) {
    const Result<GpuSpec> gpu = load_gpu(p.id);
    ASSERT_TRUE(gpu) << p.id;
    EXPECT_EQ(gpu->sms, p.sms) << p.id;
    EXPECT_EQ(gpu->sms * gpu->sm.sub_cores * gpu->sm.pipes.fma.lanes, p.cuda_cores) << p.id;
    EXPECT_EQ(gpu->dram.bandwidth.value, p.dram_gb_per_s * 1e9) << p.id;
    EXPECT_NEAR(gpu->clock.boost.value, p.boost_mhz * 1e6, 1) << p.id;
    EXPECT_EQ(gpu->l2.size.value, p.l2_mib * 1024 * 1024) << p.id;
    EXPECT_EQ(gpu->dram.size.value, p.dram_gb * 0x1p30) << p.id;
    EXPECT_EQ(gpu->power.limit.value, p.watts) << p.id;
  }
}

}  // namespace
}  // namespace noteg::arch
