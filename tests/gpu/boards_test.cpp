// Every board of the repository at work: the sustained rate of a large GEMM lies in a band around what was published,
// the power between half of the limit and the limit, and boards of one die agree with each other.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "arch/load.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::gpu {
namespace {

struct Band {
  std::string board, type;
  double low = 0, high = 0;  // TFLOP/s
};

// tests/data/board_bands.csv; its README says how the bands are made.
std::vector<Band> bands() {
  std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/board_bands.csv");
  std::vector<Band> all;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    Band band;
    std::string low, high;
    std::getline(cells, band.board, ',');
    std::getline(cells, band.type, ',');
    std::getline(cells, low, ',');
    std::getline(cells, high, ',');
    band.low = std::stod(low);
    band.high = std::stod(high);
    all.push_back(std::move(band));
  }
  return all;
}

// A kernel that the libraries run for large problems of the type on the board's generation.
std::string kernel_of(const arch::GpuSpec& gpu, const std::string& type) {
  if (type == "f32") return "cutlass_80_simt_sgemm_256x128_8x4_nn_align1";
  // H200M: what cuBLAS 13 launches for 8192 cubed
  if (!gpu.sm.tcgen05.forms.empty()) return "nvjet_sm100_hsh_128x256_64x6_2x1_2cta_v_bz_TNT";
  if (gpu.sm.name == "sm_90") return "nvjet_sm90_hsh_320x128_64x3_1x2_h_bz_coopB_TNT";
  return "ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3_nn";
}

struct Peak {
  const char* board;
  double tflops;  // dense f16 that adds in f32, as the data sheet or the whitepaper states it
};

// The rate of the tensor cores at the highest clock that the board lets them have.
double tensor_peak(const arch::GpuSpec& gpu) {
  const double macs = sm::peak_macs_per_cycle(gpu.sm, kernels::TensorForm{});  // f16 in f32
  return 2e-12 * macs * gpu.sms * gpu.clock.boost.value * gpu.sm.tensor.clock_share;
}

TEST(Boards, TensorPeaksAreThoseOfTheDataSheets) {
  for (const Peak& peak : {Peak{"a10", 125},
                           Peak{"a30", 165},
                           Peak{"a40", 149.7},
                           Peak{"a100-pcie-40gb", 312},
                           Peak{"a100-pcie-80gb", 312},
                           Peak{"a100-sxm4-40gb", 312},
                           Peak{"a100-sxm4-80gb", 312},
                           Peak{"rtx-a4000", 76.7},
                           Peak{"rtx-a6000", 154.8},
                           Peak{"rtx3070", 40.6},
                           Peak{"rtx3070-ti", 43.5},
                           Peak{"rtx3080", 59.5},
                           Peak{"rtx3080-ti", 68.2},
                           Peak{"rtx3090", 71},
                           Peak{"rtx4070", 58.3},
                           Peak{"rtx4070-super", 71},
                           Peak{"rtx4070-ti", 80.2},
                           Peak{"rtx4070-ti-super", 88.2},
                           Peak{"rtx4080", 97.5},
                           Peak{"rtx4090", 165.2},
                           Peak{"l4", 121},
                           Peak{"l20", 119.5},
                           Peak{"l40", 181.05},
                           Peak{"l40s", 362.05},
                           Peak{"rtx6000-ada", 364.2},
                           Peak{"h100-pcie", 756},
                           Peak{"h800-pcie", 756.5},
                           Peak{"h100-sxm5-80gb", 989.4},
                           Peak{"h200-sxm-141gb", 989.4},
                           Peak{"h800-sxm5-80gb", 989.4},
                           Peak{"gh200", 989.4},
                           Peak{"h100-nvl", 835.5},
                           Peak{"h20", 148},
                           Peak{"a10g", 70},
                           Peak{"rtx-a5000", 111.1},
                           Peak{"rtx3060", 25.5},
                           Peak{"rtx4060", 30.2},
                           Peak{"rtx4060-ti", 44.1},
                           Peak{"rtx5000-ada", 261.1},
                           Peak{"b200-sxm-180gb", 2250},
                           Peak{"rtx5090", 209.5},
                           Peak{"rtx5080", 112.6},
                           Peak{"rtx5070-ti", 87.9},
                           Peak{"rtx-pro-6000", 503.8}})
    EXPECT_NEAR(tensor_peak(*arch::load_gpu(peak.board)) / peak.tflops, 1, 0.015) << peak.board;
}

struct Work {
  double tflops = 0, watts = 0;
};

using Boards = std::map<std::string, arch::GpuSpec>;
using AllWork = std::map<std::pair<std::string, std::string>, Work>;  // by board and type

const Boards& boards() {
  static const Boards all = [] {
    Boards out;
    for (const Band& band : bands()) out.emplace(band.board, *arch::load_gpu(band.board));
    return out;
  }();
  return all;
}

const AllWork& work() {
  static const AllWork all = [] {
    AllWork out;
    SmCache cache;
    for (const auto& [id, gpu] : boards()) {
      for (const std::string type : {"f16", "f32"}) {
        const Result<SimReport> report =
            simulate(gpu, *kernels::config_from_name(kernel_of(gpu, type)), {8192, 8192, 8192}, {}, cache);
        EXPECT_TRUE(report) << id << ' ' << to_string(report.errors());
        if (report) out[{id, type}] = {report->tflops, report->power_w};
      }
    }
    return out;
  }();
  return all;
}

TEST(Boards, RatesOfLargeGemmsLieInPublishedBands) {
  for (const Band& band : bands()) {
    const double rate = work().at({band.board, band.type}).tflops;
    EXPECT_GE(rate, band.low) << band.board << ' ' << band.type;
    EXPECT_LE(rate, band.high) << band.board << ' ' << band.type;
  }
}

TEST(Boards, EveryProductHasItsBands) {
  for (const std::string& id : arch::list_gpu_ids()) {
    if (id == "tiny") continue;  // a teaching machine, no product
    EXPECT_TRUE(boards().contains(id)) << id;
  }
}

// A large GEMM keeps the SMs of a board busy. Least of all do tensor cores at half rate take: the SGEMMs of the same
// GeForce boards are at or near the limit.
TEST(Boards, LargeGemmsTakeBetweenHalfOfTheLimitAndTheLimit) {
  for (const auto& [what, done] : work()) {
    const double limit = boards().at(what.first).power.limit.value;
    EXPECT_LE(done.watts, 1.001 * limit) << what.first << ' ' << what.second;
    EXPECT_GE(done.watts, 0.5 * limit) << what.first << ' ' << what.second;
  }
}

bool same_tensor_cores(const arch::GpuSpec& a, const arch::GpuSpec& b) { return a.sm.tensor == b.sm.tensor; }

// Of two boards of one die, the one with no fewer SMs, watts and bytes per second is no slower, but for 5 percent of
// difference in cooling.
TEST(Boards, OfOneDieMoreSmsWattsAndBandwidthAreNoSlower) {
  int pairs = 0;
  for (const auto& [small_id, small] : boards()) {
    for (const auto& [large_id, large] : boards()) {
      if (small_id == large_id || small.chip != large.chip) continue;
      if (small.sms > large.sms || small.power.limit > large.power.limit) continue;
      if (small.dram.bandwidth > large.dram.bandwidth) continue;
      for (const std::string type : {"f16", "f32"}) {
        if (type == "f16" && !same_tensor_cores(small, large)) continue;
        const double slower = work().at({small_id, type}).tflops, faster = work().at({large_id, type}).tflops;
        EXPECT_LE(slower, 1.05 * faster) << small_id << ' ' << large_id << ' ' << type;
        ++pairs;
      }
    }
  }
  EXPECT_GE(pairs, 60);
}

}  // namespace
}  // namespace noteg::gpu
