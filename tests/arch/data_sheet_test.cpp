// A GPU from a data sheet: what was given is in it, the rest follows from a measured board and is marked as a guess.
#include "arch/data_sheet.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "arch/field.hpp"
#include "arch/print.hpp"

namespace noteg::arch {
namespace {

const Sheet least{{"from", "sm_89"}, {"name", "Half an L40S"},       {"sms", "71"},     {"boost", "2.52 GHz"},
                  {"l2", "48 MiB"},  {"dram_bandwidth", "432 GB/s"}, {"power", "175 W"}};

Sheet with(Sheet sheet, const std::string& name, const std::string& text) {
  std::erase_if(sheet, [&](const auto& one) { return one.first == name; });
  sheet.emplace_back(name, text);
  return sheet;
}

SourcedGpu made(const Sheet& sheet) {
  const Result<SourcedGpu> gpu = gpu_of_sheet(sheet);
  EXPECT_TRUE(gpu) << to_string(gpu.errors());
  return gpu ? *gpu : SourcedGpu{};
}

std::string mistakes(const Sheet& sheet) {
  const Result<SourcedGpu> gpu = gpu_of_sheet(sheet);
  return gpu ? "" : to_string(gpu.errors());
}

const Provenance& origin(const SourcedGpu& gpu, std::string_view key) { return gpu.provenance[*find_field(key)]; }

// A file in the folder of temporary files, removed at the end.
class File {
 public:
  File(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_" + name)) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(DataSheet, HoldsWhatWasGivenAndHalfOfTheMeasuredBoard) {
  const SourcedGpu gpu = made(least), whole = *load_sourced_gpu("l40s");
  EXPECT_EQ(gpu.gpu.sms, 71);
  EXPECT_EQ(gpu.gpu.power.limit.value, 175);
  EXPECT_EQ(gpu.gpu.dram.bus_bits, whole.gpu.dram.bus_bits / 2);
  EXPECT_EQ(gpu.gpu.l2.write_bandwidth.value, whole.gpu.l2.write_bandwidth.value / 2);
  EXPECT_EQ(gpu.gpu.l2.read_bandwidth.value, whole.gpu.l2.read_bandwidth.value / 2);
  EXPECT_EQ(gpu.gpu.power.idle.value, whole.gpu.power.idle.value / 2);
  EXPECT_EQ(gpu.gpu.power.thermal_resistance.value, whole.gpu.power.thermal_resistance.value * 2);
  EXPECT_EQ(gpu.gpu.power.floor_clock, whole.gpu.power.floor_clock);
  EXPECT_EQ(gpu.gpu.dram.latency, whole.gpu.dram.latency);
}

TEST(DataSheet, EveryNumberSaysWhereItIsFrom) {
  const SourcedGpu gpu = made(least);
  EXPECT_EQ(origin(gpu, "sms").to_string(), "OWN: data sheet, sms");
  EXPECT_EQ(origin(gpu, "power.idle").guess, "in proportion to the SMs, as on the L40S");
  EXPECT_EQ(origin(gpu, "power.idle").source, "DERIVED: from the file of the L40S");
  EXPECT_EQ(origin(gpu, "dram.latency").guess, "as on the L40S");
  for (std::size_t i = 0; i < fields().size(); ++i) {
    if (!gpu.provenance[i].file.empty()) continue;  // of the base
    EXPECT_EQ(gpu.provenance[i].fitted, "") << fields()[i].key;
  }
}

TEST(DataSheet, MakesFilesThatPassTheCheckForEveryGeneration) {
  for (const char* base : {"sm_80", "sm_86", "sm_89", "sm_90"}) {
    const File file(std::string("noteg_sheet_") + base + ".yaml", to_yaml(made(with(least, "from", base)), "made"));
    const Result<FileSummary> summary = check_file(file.path());
    ASSERT_TRUE(summary) << to_string(summary.errors());
    EXPECT_EQ(summary->fitted, 0);
    EXPECT_EQ(load_gpu(file.path())->sms, 71);
  }
}

TEST(DataSheet, TheTemplateHoldsEveryEntryAndMakesAGpu) {
  const std::string text = sheet_template();
  EXPECT_EQ(sheet_entries().size(), 16U);  // generation, name and fourteen of the data sheet
  for (const SheetEntry& entry : sheet_entries())
    EXPECT_NE(text.find(std::string(entry.name) + ": "), std::string::npos);
  const File file("noteg_template.yaml", text);
  const Result<Sheet> sheet = read_sheet(file.path());
  ASSERT_TRUE(sheet) << to_string(sheet.errors());
  EXPECT_EQ(made(*sheet).gpu.sms, 58);
}

TEST(DataSheet, HalfOfTheTensorPeakIsHalfRate) {
  const double full = 71 * 512.0 * 2 * 2.52e9 * 1e-12;
  EXPECT_EQ(made(with(least, "tensor_tflops", std::to_string(full))).gpu.sm.tensor.f32_accumulate_slowdown, 1);
  const SourcedGpu half = made(with(least, "tensor_tflops", std::to_string(full / 2)));
  EXPECT_EQ(half.gpu.sm.tensor.f32_accumulate_slowdown, 2);
  EXPECT_TRUE(origin(half, "sm.tensor.f32_accumulate_slowdown").source.starts_with("DERIVED: "));
}

TEST(DataSheet, MistakesNameTheOption) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string empty = mistakes({{"from", "sm_89"}});
  for (const char* option : {"--name", "--sms", "--boost", "--l2", "--dram-bandwidth", "--power"})
    EXPECT_TRUE(has(empty, option)) << empty;
  EXPECT_TRUE(has(mistakes(with(least, "from", "sm_70")), "--from: expected sm_80, sm_86, sm_89 or sm_90"));
  EXPECT_TRUE(has(mistakes(with(least, "power", "175")), "--power: expected"));
  EXPECT_TRUE(has(mistakes(with(least, "sms", "0")), "--sms: expected"));
  EXPECT_TRUE(has(mistakes(with(least, "tensor_tflops", "many")), "--tensor-tflops: expected a number"));
  EXPECT_TRUE(has(mistakes(with(least, "tensor_tflops", "1")), "--tensor-tflops: expected a number"));
  EXPECT_TRUE(has(mistakes(with(least, "name", "")), "--name: expected"));
  const std::string derived = mistakes(with(least, "power", "50 W"));
  EXPECT_TRUE(has(derived, "--idle: expected less than power.limit")) << derived;
  EXPECT_TRUE(has(derived, "which was not given but derived: in proportion to the SMs, as on the")) << derived;
  EXPECT_TRUE(has(derived, "(--idle says otherwise)")) << derived;
  EXPECT_FALSE(has(mistakes(with(with(least, "power", "50 W"), "idle", "60 W")), "--idle says otherwise"));
  const File file("noteg_sheet_bad.yaml", "from: sm_89\nsm: 58\n");
  const Result<Sheet> sheet = read_sheet(file.path());
  ASSERT_FALSE(sheet);
  EXPECT_TRUE(has(to_string(sheet.errors()), "noteg_sheet_bad.yaml:2:1: sm"));
}

}  // namespace
}  // namespace noteg::arch
