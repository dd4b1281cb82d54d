// Whatever the tables of keys allow, a simulation ends, and with figures that are figures. Every architecture key at
// both ends of its range, keys two by two at random places of theirs, every integer of a kernel's keys, shapes and
// tiles at both ends; keys come from their tables, so that a new one is tested without a word here.
// NOTEG_RANDOM_PAIRS says how many pairs (100), NOTEG_FAMILIES_PER_KEY with how many kernels each key (1). Combinations
// that a rule refuses have an error, which is right too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <regex>

#include "arch/field.hpp"
#include "kernels/config/config_file.hpp"
#include "tests/properties/random_case.hpp"

namespace noteg::properties {
namespace {

constexpr int most_seconds = 20;  // seconds of processor time, many times what any of these takes

// One kernel of each family, on a GPU that runs it.
std::vector<Case> kernels_of_all_families() {
  const auto make = [](const char* gpu, kernels::KernelOverrides settings) {
    Case c;
    c.gpu = gpu;
    c.settings = std::move(settings);
    c.shape = {300, 200, 264, 1};
    c.clock_mhz = 1400;
    return c;
  };
  return {
      make("tiny", {{"family", "simt"}, {"tile", "64x64x8"}, {"stages", "3"}, {"split_k", "2"}}),
      make("l4", {{"family", "mma"}, {"tile", "64x64x32"}, {"dtype", "f16"}}),
      make("h100-sxm5-80gb", {{"family", "wgmma"}, {"tile", "128x128x64"}, {"dtype", "f16"}, {"cluster", "2x1"}}),
      make("tiny", {{"family", "naive"}, {"tile", "16x16x16"}}),
      make("rtx3090", {{"family", "blocked"}, {"tile", "64x64x8"}}),
      make("a100-pcie-40gb", {{"family", "clblast"}, {"tile", "64x64x16"}}),
      make("l40s", {{"family", "gemv"}, {"tile", "2x2x1024"}, {"dtype", "f16"}, {"layout", "nt"}}),
      make("a100-sxm4-80gb", {{"family", "attention"}, {"tile", "128x256x64"}, {"dtype", "bf16"}, {"causal", "true"}}),
      make("h200-sxm-141gb", {{"family", "flash3"}, {"tile", "128x256x128"}, {"dtype", "bf16"}, {"causal", "true"}})};
}

// What is wrong with the report; nothing where all is right.
std::string mistake_in(const gpu::SimReport& r) {
  const gpu::Phases& p = r.phases_us;
  const gpu::MemoryTraffic& m = r.memory;
  std::vector<double> figures = {p.launch,
                                 p.prologue,
                                 p.mainloop,
                                 p.epilogue,
                                 m.l1_bytes,
                                 m.l2_bytes,
                                 m.l2_hit_rate,
                                 m.dram_read_bytes,
                                 m.dram_write_bytes,
                                 r.pipes.fma,
                                 r.pct_of_peak,
                                 r.occupancy.waves,
                                 r.roofline.arithmetic_intensity};
  figures.insert(figures.end(), r.stalls.begin(), r.stalls.end());
  for (const double figure : figures)
    if (!(figure >= 0) || !std::isfinite(figure)) return fmt::format("a figure of {}", figure);
  for (const double figure : {r.time_us, r.cycles, r.power_w, r.energy_mj, r.tflops, r.sm_clock_mhz})
    if (!(figure > 0) || !std::isfinite(figure)) return fmt::format("a figure of {}", figure);
  if (!(std::abs(p.total() / r.time_us - 1) < 1e-6)) return fmt::format("phases of {} in {} us", p.total(), r.time_us);
  return {};
}

void expect_an_answer(const Case& c) {
  const std::string found = survives(most_seconds, [&c]() -> std::string {
    const Result<arch::GpuSpec> gpu = gpu_of(c);
    if (!gpu) return "";
    gpu::SmCache cache;
    const Result<gpu::SimReport> report = simulate(c, *gpu, cache);
    return report ? mistake_in(*report) : "";
  });
  EXPECT_EQ(found, "") << command_of(c);
}

bool is_number(const arch::Field& field) {
  return field.kind == arch::Kind::count || field.kind == arch::Kind::fraction || field.kind == arch::Kind::quantity;
}

// The ends of a key's range as texts; of a list, one element.
std::vector<std::string> ends_of(const arch::Field& field) {
  if (field.kind == arch::Kind::flag) return {"false", "true"};
  if (!is_number(field) && field.kind != arch::Kind::sizes) return {};
  arch::Field scalar = field;
  if (field.kind == arch::Kind::sizes) scalar.kind = arch::Kind::quantity;
  return {arch::format_value(scalar, field.low), arch::format_value(scalar, field.high)};
}

std::string somewhere_in(const arch::Field& field, Random& random) {
  if (!is_number(field)) {
    const std::vector<std::string> ends = ends_of(field);
    return ends.empty() ? "" : one_of(ends, random);
  }
  const double low = std::max(field.low, 1e-6 * field.high);
  const double value = low > 0 ? by_octave(random, low, field.high) : field.low;
  return arch::format_value(field, field.kind == arch::Kind::count ? std::round(value) : value);
}

std::size_t asked(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<std::size_t>(std::strtoull(text, nullptr, 10)) : otherwise;
}

TEST(Bounds, EveryArchitectureKeyAtTheEndsOfItsRange) {
  const std::vector<Case> all = kernels_of_all_families();
  const std::size_t kernels = std::min(all.size(), asked("NOTEG_FAMILIES_PER_KEY", 1));
  std::size_t turn = 0;
  for (const arch::Field& field : arch::fields()) {
    for (const std::string& end : ends_of(field)) {
      for (std::size_t i = 0; i < kernels; ++i) {
        Case c = all[turn++ % all.size()];
        c.arch = {{std::string(field.key), end}};
        expect_an_answer(c);
      }
    }
  }
}

TEST(Bounds, ArchitectureKeysTwoByTwo) {
  const std::vector<Case> all = kernels_of_all_families();
  Random random(1);
  const std::size_t pairs = asked("NOTEG_RANDOM_PAIRS", 100);
  for (std::size_t i = 0; i < pairs; ++i) {
    Case c = all[i % all.size()];
    for (int k = 0; k < 2; ++k) {
      const arch::Field& field = one_of(arch::fields(), random);
      if (const std::string value = somewhere_in(field, random); !value.empty()) c.arch.emplace_back(field.key, value);
    }
    expect_an_answer(c);
  }
}

// Integers of the kernel keys' table, at both ends and with the largest extents beside them.
TEST(Bounds, EveryKernelKeyAtTheEndsOfItsRange) {
  const std::regex whole_number("an integer from ([0-9]+) to ([0-9]+)");
  for (const kernels::KernelKeyDoc& key : kernels::kernel_keys()) {
    std::smatch range;
    if (!std::regex_match(key.accepts, range, whole_number)) continue;
    for (const std::string& end : {range[1].str(), range[2].str()}) {
      for (Case c : kernels_of_all_families()) {
        c.settings.emplace_back(key.key, end);
        expect_an_answer(c);
      }
    }
  }
}

TEST(Bounds, ExtentsAtTheEndsOfTheirRange) {
  constexpr std::int64_t most = 2147483647;
  for (const kernels::GemmShape& shape : {kernels::GemmShape{1, 1, 1, 1},
                                          {most, 1, 1, 1},
                                          {1, most, 1, 1},
                                          {1, 1, most, 1},
                                          {1, 1, 1, most},
                                          {most, most, 1, 1},
                                          {2, 7, 1000000000, 65536},
                                          {most, most, most, 1},
                                          {1 << 19, 1 << 19, 1 << 19, 1}}) {
    for (Case c : kernels_of_all_families()) {
      c.shape = shape;
      c.arch = {{"dram.size", "4096 GB"}};
      expect_an_answer(c);
    }
  }
}

TEST(Bounds, TilesAtTheEndsOfTheirRange) {
  for (const char* tile : {"1x1x1", "4096x4096x4096", "4096x16x16", "16x4096x16", "16x16x4096", "8x8x8"}) {
    for (Case c : kernels_of_all_families()) {
      c.settings[1].second = tile;
      expect_an_answer(c);
    }
  }
}

}  // namespace
}  // namespace noteg::properties
