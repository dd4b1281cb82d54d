// Kernel files: the shipped ones, overrides, the search, the generated page, and bad files with their messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "kernels/config/config_file.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::kernels {
namespace {

namespace fs = std::filesystem;

const fs::path source_dir = NOTEG_SOURCE_DIR;
constexpr GemmShape cube{4096, 4096, 4096, 1};

const fs::path bad_directory = source_dir / "tests" / "kernels" / "bad" / "config";

// Names of the files in a folder and below it, without their endings.
std::vector<std::string> yaml_files(const fs::path& directory) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory))
    if (entry.path().extension() == ".yaml")
      names.push_back(entry.path().lexically_relative(directory).replace_extension().string());
  std::sort(names.begin(), names.end());
  return names;
}

class BadKernelFile : public testing::TestWithParam<std::string> {};

TEST_P(BadKernelFile, SaysExactlyWhatIsWrong) {
  const Result<std::string> expected = read_text_file(bad_directory / (GetParam() + ".txt"));
  const Result<KernelConfig> config = load_kernel_file((bad_directory / (GetParam() + ".yaml")).string());
  ASSERT_FALSE(config);
  Diagnostics errors = config.errors();
  for (Diagnostic& error : errors) error.file = fs::path(error.file).filename().string();
  EXPECT_EQ(to_string(errors), expected ? *expected : "no expected message");
}

INSTANTIATE_TEST_SUITE_P(Kernels, BadKernelFile, testing::ValuesIn(yaml_files(bad_directory)),
                         [](const auto& tested) { return fs::path(tested.param).filename().string(); });

class ShippedKernel : public testing::TestWithParam<std::string> {};

TEST_P(ShippedKernel, LoadsByItsNameAndResolves) {
  const Result<KernelConfig> config = load_kernel_file(GetParam());
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->name, GetParam());
  const Result<KernelConfig> resolved = resolve(*config, cube);
  EXPECT_TRUE(resolved) << to_string(resolved.errors());
}

INSTANTIATE_TEST_SUITE_P(Kernels, ShippedKernel, testing::ValuesIn(yaml_files(source_dir / "kernels" / "library")),
                         [](const auto& tested) { return tested.param; });

// The file of the main job writes its defaults out; they must stay the defaults.
TEST(KernelFile, TheMainJobRepeatsItsDefaults) {
  const Result<KernelConfig> full = load_kernel_file("sgemm_128x128x8");
  const Result<KernelConfig> terse = read_kernel_text("flavor: cutlass\ntile: 128x128x8\nstages: 2\n", "terse.yaml");
  ASSERT_TRUE(full && terse);
  const Result<KernelConfig> a = resolve(*full, cube);
  const Result<KernelConfig> b = resolve(*terse, cube);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->registers, b->registers);
  EXPECT_EQ(a->shared_bytes, b->shared_bytes);
  EXPECT_EQ(a->warp_m, b->warp_m);
  EXPECT_EQ(a->thread_n, b->thread_n);
  EXPECT_EQ(a->threads, b->threads);
}

TEST(KernelFile, OverridesWinOverTheFile) {
  const Result<KernelConfig> config =
      load_kernel_file("sgemm_128x128x8", {{"layout", "tn"}, {"registers", "90"}, {"registers", "96"}});
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->layout, Layout::tn);
  EXPECT_EQ(config->registers, 96);
}

TEST(KernelFile, AnOverridesMistakeHasNoPosition) {
  const Result<KernelConfig> config = load_kernel_file("sgemm_128x128x8", {{"stages", "many"}, {"stage", "3"}});
  ASSERT_FALSE(config);
  EXPECT_EQ(to_string(config.errors()),
            "stages: expected an integer from 1 to 16, found \"many\"\n"
            "stage: expected a known key, found an unknown key (did you mean stages?)\n");
  const Result<KernelConfig> rule = load_kernel_file("sgemm_128x128x8", {{"threads", "128"}});
  ASSERT_FALSE(rule);
  EXPECT_EQ(to_string(rule.errors()), "threads: expected 256 (32 per warp tile), found 128\n");
}

TEST(KernelFile, AccumulatorsAndResultFollowDtype) {
  const Result<KernelConfig> config = apply_overrides({}, {{"dtype", "f16"}, {"dtype_acc", "f32"}});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->dtype_in, DataType::f16);
  EXPECT_EQ(config->dtype_acc, DataType::f32);
  EXPECT_EQ(config->dtype_out, DataType::f16);
  const Result<KernelConfig> integers = apply_overrides({}, {{"dtype", "s8"}});
  ASSERT_TRUE(integers);
  EXPECT_EQ(integers->dtype_acc, DataType::s32);
  EXPECT_EQ(integers->dtype_out, DataType::s32);
}

TEST(KernelFile, TileMayLeaveOutK) {
  EXPECT_EQ(apply_overrides({}, {{"tile", "128x64"}})->tile.k, 0);
  EXPECT_EQ(apply_overrides({}, {{"tile", "16"}})->tile.k, 16);
}

TEST(KernelFile, AMissingOneNamesTheNearest) {
  const Result<KernelConfig> config = load_kernel_file("sgemm_128x128x");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.errors().size(), 1U);
  EXPECT_NE(config.errors()[0].found.find("did you mean sgemm_128x128x8"), std::string::npos)
      << config.errors()[0].found;
  EXPECT_FALSE(load_kernel_file(""));
  EXPECT_FALSE(load_kernel_file((source_dir / "kernels").string()));  // a folder
}

// The keys of the table and the fields of the configuration: every key changes something or is refused.
TEST(KernelKeys, EachHasAMeaningAndRefusesNonsense) {
  for (const KernelKeyDoc& key : kernel_keys()) {
    EXPECT_FALSE(key.meaning.empty()) << key.key;
    KernelConfig config;
    if (key.key == "name") continue;
    EXPECT_TRUE(set_kernel_key(config, key.key, "nonsense")) << key.key;
    EXPECT_TRUE(set_kernel_key(config, key.key, "")) << key.key;
  }
}

TEST(KernelKeys, TheReferencePageIsUpToDate) {
  const fs::path page = source_dir / "docs" / "reference" / "kernel-reference.md";
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(page, std::ios::binary) << kernel_reference();
  const Result<std::string> found = read_text_file(page);
  ASSERT_TRUE(found) << to_string(found.errors());
  EXPECT_TRUE(*found == kernel_reference()) << "run test_kernels with NOTEG_UPDATE_GENERATED=1";
}

TEST(KernelFile, WhatIsWrittenReadsBackAsItWas) {
  const std::string mma = "family: mma\ndtype: f16\ntile: 128x128x32\nwarp_tile: 64x64\nlayout: nt\nstages: 4\n";
  const std::string wgmma = "family: wgmma\ndtype: f16\ntile: 128x128x64\nlayout: nt\n";
  const std::string tcgen05 = "family: tcgen05\ndtype: f8e4m3\ntile: 128x128x128\nlayout: nt\nscale_vectors: true\n";
  for (const std::string& text : {mma, mma + "shared_layout: padded\n", mma + "shared_layout: plain\n", wgmma,
                                  wgmma + "a_in_registers: true\n", tcgen05}) {
    const Result<KernelConfig> first = read_kernel_text(text, "first.yaml");
    ASSERT_TRUE(first) << text;
    const Result<KernelConfig> again = read_kernel_text(to_yaml(*first, ""), "again.yaml");
    ASSERT_TRUE(again) << text;
    const Result<KernelConfig> one = resolve(*first, cube), other = resolve(*again, cube);
    ASSERT_EQ(static_cast<bool>(one), static_cast<bool>(other)) << text;
    EXPECT_EQ(again->shared_layout.value_or(SharedLayout::swizzled),
              first->shared_layout.value_or(SharedLayout::swizzled));
    EXPECT_EQ(again->a_in_registers, first->a_in_registers);
    EXPECT_EQ(again->scale_vectors, first->scale_vectors);
    if (one && other) {
      EXPECT_EQ(*one, *other) << text;
    }
  }
}

}  // namespace
}  // namespace noteg::kernels
