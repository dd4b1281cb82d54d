#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "arch/field.hpp"
#include "arch/print.hpp"

namespace noteg::arch {

namespace {

TEST(ArchPrint, ShowHoldsEveryNumberWithUnitAndOrigin) {
  const Result<SourcedGpu> gpu = load_sourced_gpu("rtx4070");
  ASSERT_TRUE(gpu);
  const std::string text = show_text(*gpu);
  const nlohmann::json json = nlohmann::json::parse(show_json(*gpu));
  for (const Field& field : fields()) {
    if (field.optional) continue;  // of units that this GPU lacks
    EXPECT_NE(text.find(std::string(field.key) + " "), std::string::npos) << field.key;
    const nlohmann::json& entry = json["fields"][std::string(field.key)];
    EXPECT_TRUE(entry.contains("value")) << field.key;
    if (field.needs_source()) {
      EXPECT_TRUE(entry.contains("source") || entry.contains("guess") || entry.contains("fitted")) << field.key;
    }
    EXPECT_EQ(entry.contains("unit"), field.has_unit()) << field.key;
  }
  EXPECT_EQ(json["fields"]["l2.size"]["value"], 37748736);
  EXPECT_NE(text.find("36 MiB"), std::string::npos);
}

TEST(ArchPrint, ListHoldsEveryGpuInEveryFormat) {
  const std::string text = list_text(), csv = list_csv();
  const nlohmann::json json = nlohmann::json::parse(list_json());
  EXPECT_EQ(json["gpus"].size(), list_gpu_ids().size());
  for (const std::string& id : list_gpu_ids()) {
    EXPECT_NE(text.find(id), std::string::npos);
    EXPECT_NE(csv.find(id), std::string::npos);
  }
}

TEST(ArchPrint, ColumnsOfTheListStandApart) {
  const std::string text = list_text();
  for (const std::string& id : list_gpu_ids()) {
    const GpuSpec gpu = *load_gpu(id);
    const std::size_t begin = text.find("\n" + id + "  ") + 1;
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    EXPECT_NE(line.find("  " + gpu.sm.name + "  "), std::string::npos) << line;
    EXPECT_NE(line.find("  " + gpu.dram.type + "  "), std::string::npos) << line;
  }
}

TEST(ArchPrint, PeakOfTheRtx4070FollowsFromItsFile) {
  const nlohmann::json json = nlohmann::json::parse(list_json());
  for (const nlohmann::json& gpu : json["gpus"]) {
    // 46 SMs x 128 lanes x 2 x 2.475 GHz
    if (gpu["id"] == "rtx4070") {
      EXPECT_NEAR(gpu["fp32_tflops"].get<double>(), 29.14, 0.01);
    }
  }
}

TEST(ArchPrint, CsvRowsHaveFiveCells) {
  const std::string csv = show_csv(*load_sourced_gpu("tiny"));
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "key,value,unit,mark,origin");
  EXPECT_NE(csv.find("\nsms,4,,guess,guess: invented\n"), std::string::npos);
}

// As --arch does: where the files lay once, and by name.
TEST(ArchPrint, CheckFindsWhatArchFinds) {
  for (const char* given : {"arch/gpus/tiny.yaml", "arch/tiny.yaml", "tiny", "arch/sm_89.yaml"}) {
    const Result<FileSummary> summary = check_file(given);
    ASSERT_TRUE(summary) << to_string(summary.errors());
    EXPECT_EQ(summary->gpu, std::string(given) != "arch/sm_89.yaml");
  }
  EXPECT_FALSE(check_file("arch/gpus/no-such-board.yaml"));
}

TEST(ArchPrint, CheckCountsTheMarks) {
  const Result<FileSummary> summary = check_file("arch/gpus/ada/tiny.yaml");
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->numbers, summary->sourced + summary->fitted + summary->guessed);
  EXPECT_EQ(nlohmann::json::parse(check_json(*summary))["numbers"], summary->numbers);
  EXPECT_EQ(check_text(*summary).substr(0, 37), "arch/gpus/ada/tiny.yaml: no mistakes;");
}

}  // namespace

// What is written as an architecture file loads as the same GPU with the same origins.

namespace {

TEST(WriteGpu, EveryShippedGpuComesBackTheSame) {
  const std::string path = (std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_gpu.yaml"));
  for (const std::string& id : list_gpu_ids()) {
    const Result<SourcedGpu> before = load_sourced_gpu(id);
    ASSERT_TRUE(before) << to_string(before.errors());
    std::ofstream(path) << to_yaml(*before, "two\nlines");
    const Result<SourcedGpu> after = load_sourced_gpu(path);
    ASSERT_TRUE(after) << id << "\n" << to_string(after.errors());
    EXPECT_EQ(after->gpu.names, before->gpu.names);
    EXPECT_EQ(after->gpu.chip, before->gpu.chip);
    for (std::size_t i = 0; i < fields().size(); ++i) {
      const Field& field = fields()[i];
      EXPECT_EQ(field.get(after->gpu), field.get(before->gpu)) << id << " " << field.key;
      EXPECT_EQ(after->provenance[i].to_string(), before->provenance[i].to_string()) << id << " " << field.key;
    }
  }
  std::filesystem::remove(path);
}

}  // namespace

}  // namespace noteg::arch
