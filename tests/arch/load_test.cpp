// How a GPU is found, and how base and GPU file become one spec.
#include "arch/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "arch/field.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::arch {
namespace {

namespace fs = std::filesystem;

// A directory for one test, gone afterwards.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "noteg_arch_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string shipped(const std::string& name) {
  const std::string id = fs::path(name).stem().string();
  if (id.starts_with("sm_")) return *read_text_file(NOTEG_SOURCE_DIR "/arch/generations/" + name);
  return *read_text_file(*find_gpu_file(id));
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::string id_of(std::string_view name) {
  const Result<GpuSpec> gpu = load_gpu(name);
  return gpu ? gpu->id : to_string(gpu.errors());
}

TEST(LoadGpu, FindsByIdInAnyCase) {
  EXPECT_EQ(id_of("rtx4070"), "rtx4070");
  EXPECT_EQ(id_of("RTX4070"), "rtx4070");
  EXPECT_EQ(id_of("A100-PCIE-40GB"), "a100-pcie-40gb");
}

TEST(LoadGpu, FindsByTheNamesThatToolsPrint) {
  EXPECT_EQ(id_of("NVIDIA L4"), "l4");
  EXPECT_EQ(id_of("RTXA6000"), "rtx-a6000");
  EXPECT_EQ(id_of("NVIDIA GeForce RTX 4070"), "rtx4070");
  EXPECT_EQ(id_of("NVIDIA H200"), "h200-sxm-141gb");
  EXPECT_EQ(id_of("nvidia h100 80gb hbm3"), "h100-sxm5-80gb");
  EXPECT_EQ(id_of("A100-80GB"), "a100-sxm4-80gb");
}

TEST(LoadGpu, SpacesDashesCaseAndMakerDoNotCount) {
  for (const char* name : {"RTX 4070", "rtx-4070", "GeForce RTX 4070", "NVIDIA RTX 4070", "nvidia geforce rtx4070"})
    EXPECT_EQ(id_of(name), "rtx4070") << name;
  EXPECT_EQ(id_of("NVIDIA GeForce RTX 4090"), "rtx4090");
  EXPECT_EQ(id_of("rtx 4070 ti"), "rtx4070-ti");
  EXPECT_EQ(id_of("Tesla A30"), "a30");
}

TEST(LoadGpu, AShortNameListsWhatItMayMean) {
  EXPECT_EQ(id_of("A100"),
            "--arch A100: expected a known GPU or the path of a file, found one that may be a100-pcie-40gb, "
            "a100-pcie-80gb, a100-sxm4-40gb or a100-sxm4-80gb\n");
}

// Every GPU is found by its id and by each of its names, whatever is done to their blanks and letters.
TEST(LoadGpu, EveryKnownNameFindsItsOwnGpu) {
  for (const KnownGpu& gpu : known_gpus()) {
    std::string spaced = gpu.id;
    std::replace(spaced.begin(), spaced.end(), '-', ' ');
    EXPECT_EQ(id_of(spaced), gpu.id);
    EXPECT_EQ(id_of("NVIDIA " + gpu.id), gpu.id);
  }
}

// The last two: where the files lay once.
TEST(LoadGpu, FindsByPath) {
  for (const char* path : {"arch/gpus/ada/tiny.yaml", "arch/gpus/tiny.yaml", "arch/tiny.yaml"})
    EXPECT_EQ(id_of(path), "tiny");
}

TEST(LoadGpu, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(id_of("rtx4071"),
            "--arch rtx4071: expected a known GPU or the path of a file, found neither (did you mean rtx4070, "
            "rtx3070 or rtx4060?)\n");
  EXPECT_EQ(id_of("warp drive"),
            "--arch warp drive: expected a known GPU or the path of a file, found neither (`noteg arch list` shows the "
            "known ones)\n");
  EXPECT_EQ(id_of("no/such.yaml"), "no/such.yaml: expected a file, found none\n");
}

TEST(LoadGpu, HostileNamesAreErrors) {
  for (const std::string& name : {std::string(), std::string("/"), std::string("."), std::string(100000, 'x'),
                                  std::string("/dev/null.yaml"), std::string("sm_89")}) {
    EXPECT_FALSE(load_gpu(name)) << name.substr(0, 20);
  }
}

TEST(LoadGpu, TakesSmKeysFromTheBaseAndChipKeysFromTheGpu) {
  const Result<GpuSpec> gpu = load_gpu("rtx4070");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->sm.name, "sm_89");
  EXPECT_EQ(gpu->sm.compute_capability, "8.9");
  EXPECT_EQ(gpu->sm.occupancy.max_warps, 48);
  EXPECT_EQ(gpu->sms, 46);
  EXPECT_EQ(gpu->l2.size.value, 36.0 * 1024 * 1024);
  EXPECT_EQ(gpu->dram.bandwidth.value, 504e9);
  EXPECT_EQ(gpu->dram.type, "GDDR6X");
  EXPECT_EQ(gpu->sm.occupancy.shared_configs.back().value, 100.0 * 1024);
}

TEST(LoadGpu, GpuOverridesItsBaseOnlyUnderSm) {
  const TemporaryDirectory directory;
  const std::string file = directory.write(
      "mine.yaml", shipped("tiny.yaml") + "sm:\n  occupancy:\n    max_ctas: {value: 12, source: \"OWN: test\"}\n");
  const Result<SourcedGpu> gpu = load_sourced_gpu(file);
  ASSERT_TRUE(gpu) << to_string(gpu.errors());
  EXPECT_EQ(gpu->gpu.sm.occupancy.max_ctas, 12);
  EXPECT_EQ(gpu->gpu.sm.occupancy.max_warps, 48);
  EXPECT_EQ(gpu->provenance[*find_field("sm.occupancy.max_ctas")].source, "OWN: test");
  EXPECT_EQ(gpu->provenance[*find_field("sm.occupancy.max_ctas")].file, file);
}

TEST(LoadGpu, BaseBesideTheGpuFileWins) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("mine.yaml", shipped("tiny.yaml"));
  directory.write("sm_89.yaml", replaced(shipped("sm_89.yaml"), "max_ctas: {value: 24", "max_ctas: {value: 20"));
  const Result<GpuSpec> gpu = load_gpu(file);
  ASSERT_TRUE(gpu) << to_string(gpu.errors());
  EXPECT_EQ(gpu->sm.occupancy.max_ctas, 20);
}

TEST(LoadGpu, MistakesOfBothFilesComeInOneRun) {
  const TemporaryDirectory directory;
  const std::string file =
      directory.write("mine.yaml", replaced(shipped("tiny.yaml"), "sms: {value: 4", "sms: {value: 0"));
  const std::string base =
      directory.write("sm_89.yaml", replaced(shipped("sm_89.yaml"), "max_ctas: {value: 24", "max_ctas: {value: 0"));
  const Result<GpuSpec> gpu = load_gpu(file);
  ASSERT_FALSE(gpu);
  ASSERT_EQ(gpu.errors().size(), 2U);
  EXPECT_EQ(gpu.errors()[0].file, base);
  EXPECT_EQ(gpu.errors()[0].key, "sm.occupancy.max_ctas");
  EXPECT_EQ(gpu.errors()[1].file, file);
  EXPECT_EQ(gpu.errors()[1].key, "sms");
}

TEST(LoadGpu, FourFittedNumbersAreAllowedFiveAreNot) {
  std::string text = shipped("tiny.yaml");
  const TemporaryDirectory directory;
  for (int i = 0; i < 4; ++i) text = replaced(text, "guess: \"invented\"", "fitted: \"rows\"");
  const Result<FileSummary> four = check_file(directory.write("mine.yaml", text));
  ASSERT_TRUE(four) << to_string(four.errors());
  EXPECT_EQ(four->fitted, 4);
  const Result<FileSummary> five =
      check_file(directory.write("mine.yaml", replaced(text, "guess: \"invented\"", "fitted: \"rows\"")));
  EXPECT_FALSE(five);
}

TEST(LoadGpu, SearchPathComesFirst) {
  const TemporaryDirectory directory;
  directory.write("rtx4070.yaml", replaced(shipped("rtx4070.yaml"), "sms: {value: 46", "sms: {value: 45"));
  directory.write("broken.yaml", "a: [");
  ASSERT_EQ(setenv("NOTEG_ARCH_PATH", ("/no/such/place:" + directory.path()).c_str(), 1), 0);
  const Result<GpuSpec> gpu = load_gpu("rtx4070");
  const std::vector<std::string> ids = list_gpu_ids();
  unsetenv("NOTEG_ARCH_PATH");
  ASSERT_TRUE(gpu) << to_string(gpu.errors());
  EXPECT_EQ(gpu->sms, 45);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "rtx4070"), 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "broken"), 1);
  EXPECT_EQ(load_gpu("rtx4070")->sms, 46);
}

// A file lies in a place of the search path itself, or anywhere below its gpus/ or generations/.
TEST(LoadGpu, FindsAtAnyDepthBelowGpusAndGenerations) {
  const TemporaryDirectory directory;
  directory.write("flat.yaml", shipped("tiny.yaml"));
  directory.write("gpus/mine/new/deep.yaml", replaced(shipped("tiny.yaml"), "base: sm_89", "base: sm_77"));
  directory.write("generations/own/sm_77.yaml", shipped("sm_89.yaml"));
  directory.write("elsewhere/unseen.yaml", shipped("tiny.yaml"));
  ASSERT_EQ(setenv("NOTEG_ARCH_PATH", directory.path().c_str(), 1), 0);
  const std::string flat = id_of("flat"), deep = id_of("deep");
  const Result<GpuSpec> unseen = load_gpu("unseen");
  unsetenv("NOTEG_ARCH_PATH");
  EXPECT_EQ(flat, "flat");
  EXPECT_EQ(deep, "deep");
  EXPECT_FALSE(unseen);
}

// As `noteg arch new --template` prints one, beside the file made of it.
TEST(LoadGpu, ADataSheetBearsNoName) {
  const TemporaryDirectory directory;
  directory.write("mine.yaml", replaced(shipped("tiny.yaml"), "names: [", "names: [My GPU, "));
  directory.write("sheet.yaml", "from: sm_89\nname: My GPU\nsms: 4\n");
  ASSERT_EQ(setenv("NOTEG_ARCH_PATH", directory.path().c_str(), 1), 0);
  const std::string id = id_of("My GPU");
  unsetenv("NOTEG_ARCH_PATH");
  EXPECT_EQ(id, "mine");
}

TEST(LoadGpu, TwoFilesOfOneNameInOnePlaceAreAMistake) {
  const TemporaryDirectory directory;
  const std::string one = directory.write("gpus/a/rtx4070.yaml", shipped("rtx4070.yaml"));
  const std::string other = directory.write("gpus/b/rtx4070.yaml", shipped("rtx4070.yaml"));
  const std::string base = directory.write("generations/sm_89.yaml", shipped("sm_89.yaml"));
  const std::string base_again = directory.write("gpus/sm_89.yaml", shipped("sm_89.yaml"));
  ASSERT_EQ(setenv("NOTEG_ARCH_PATH", directory.path().c_str(), 1), 0);
  const std::string gpu = id_of("RTX4070"), by_base = id_of("l4");
  unsetenv("NOTEG_ARCH_PATH");
  EXPECT_EQ(gpu, "--arch RTX4070: expected a known GPU or the path of a file, found one that may be " + one + " or " +
                     other + "\n");
  EXPECT_NE(by_base.find("base: expected one file of this name, found one that may be " + base + " or " + base_again),
            std::string::npos)
      << by_base;
}

TEST(LoadGpu, ManyThreadsReadTheSame) {
  std::vector<std::thread> threads;
  std::array<int, 4> found{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&found, i] {
      const Result<GpuSpec> gpu = load_gpu("NVIDIA L4");
      found[i] = gpu ? gpu->sms : -1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, (std::array<int, 4>{58, 58, 58, 58}));
}

}  // namespace
}  // namespace noteg::arch
