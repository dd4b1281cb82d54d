#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sim/report/counters.hpp"
#include "sim/report/write.hpp"
#include "tests/report/sample_report.hpp"

namespace noteg {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(ReportJson, HasTheKeysOfTheContractInTheirOrder) {
  const Json json = Json::parse(report::to_json(test::sample_report()));
  EXPECT_EQ(keys_of(json),
            (std::vector<std::string>{
                "arch",        "kernel",       "time_us",       "cycles",    "sm_clock_mhz", "tflops",
                "pct_of_peak", "ipc",          "power_w",       "energy_mj", "throttled",    "throttle_reason",
                "clock_mode",  "tflops_per_w", "temperature_c", "voltage",   "power_note",   "energy_by_component_mj",
                "phases_us",   "occupancy",    "stalls",        "pipes",     "instructions", "memory",
                "rf",          "bottleneck",   "roofline",      "engine",    "confidence"}));
  EXPECT_EQ(keys_of(json["phases_us"]),
            (std::vector<std::string>{"launch", "prologue", "mainloop", "epilogue", "tail"}));
  EXPECT_EQ(keys_of(json["occupancy"]),
            (std::vector<std::string>{"ctas_per_sm", "warps_per_sm", "limiter", "waves", "tiles_per_cta"}));
  EXPECT_EQ(keys_of(json["pipes"]), (std::vector<std::string>{"fma", "alu", "tensor", "lsu", "issue"}));
  EXPECT_EQ(keys_of(json["instructions"]), (std::vector<std::string>{"warp_total", "by_opcode"}));
  EXPECT_EQ(keys_of(json["memory"]),
            (std::vector<std::string>{"l1_bytes", "shared_bytes", "shared_conflict_wavefronts", "l2_bytes",
                                      "l2_hit_rate", "dram_read_bytes", "dram_write_bytes", "dram_gb_per_s",
                                      "dram_peak_gb_per_s", "l2_before"}));
  EXPECT_EQ(keys_of(json["rf"]), (std::vector<std::string>{"reads", "cache_hits", "bank_conflict_cycles"}));
  EXPECT_EQ(keys_of(json["bottleneck"]),
            (std::vector<std::string>{"name", "because", "speedup_if_removed", "found_by", "roof", "share_of_roof_pct",
                                      "below_roof_by", "clock_held_by", "highest_clock_mhz"}));
  EXPECT_EQ(keys_of(json["roofline"]), (std::vector<std::string>{"arithmetic_intensity", "bound"}));
  EXPECT_EQ(keys_of(json["engine"]),
            (std::vector<std::string>{"exact", "simulated_cycles", "simulated_warp_instructions"}));
  EXPECT_EQ(keys_of(json["confidence"]),
            (std::vector<std::string>{"validated_mape", "on", "time_low_us", "time_high_us", "time_low_80_us",
                                      "time_high_80_us", "time_low_50_us", "time_high_50_us", "because"}));
}

TEST(ReportJson, HasOneStallPerReasonAndTheySumToOne) {
  const Json json = Json::parse(report::to_json(test::sample_report()));
  EXPECT_EQ(json["stalls"].size(), sm::stall_count);
  double sum = 0;
  for (const auto& [reason, share] : json["stalls"].items()) sum += share.get<double>();
  EXPECT_NEAR(sum, 1.0, 1e-12);
}

TEST(ReportJson, HasPhasesThatSumToTheTime) {
  const Json json = Json::parse(report::to_json(test::sample_report()));
  double sum = 0;
  for (const auto& [phase, us] : json["phases_us"].items()) sum += us.get<double>();
  EXPECT_NEAR(sum, json["time_us"].get<double>(), 1e-9);
}

TEST(ReportJson, ShowsTheKernelAsResolved) {
  const Json kernel = Json::parse(report::to_json(test::sample_report()))["kernel"];
  EXPECT_EQ(kernel["family"], "simt");
  EXPECT_EQ(kernel["tile_m"], 128);
  EXPECT_EQ(kernel["stages"], 4);
  EXPECT_EQ(kernel["async_copy"], true);
  EXPECT_EQ(kernel["registers"], 122);
}

TEST(ReportJson, WritesZeroWhereANumberIsNotFinite) {
  gpu::SimReport report = test::sample_report();
  report.tflops = std::numeric_limits<double>::infinity();
  report.rf.reads = std::numeric_limits<double>::quiet_NaN();
  const Json json = Json::parse(report::to_json(report));
  EXPECT_EQ(json["tflops"], 0.0);
  EXPECT_EQ(json["rf"]["reads"], 0.0);
}

TEST(ReportJson, WritesNullWhereNothingWasValidated) {
  gpu::SimReport report = test::sample_report();
  report.confidence = {-1, "none: no measured runs of this family", {}, ""};
  const Json confidence = Json::parse(report::to_json(report))["confidence"];
  EXPECT_TRUE(confidence["validated_mape"].is_null());
  EXPECT_TRUE(confidence["time_low_us"].is_null());
  EXPECT_TRUE(confidence["time_high_us"].is_null());
}

TEST(ReportJson, SurvivesAKernelNameThatIsNotUtf8) {
  gpu::SimReport report = test::sample_report();
  report.kernel.name = "kernel\xff\xfe";
  EXPECT_TRUE(Json::accept(report::to_json(report)));
}

TEST(ReportCsv, HasTheSameFiguresAsJson) {
  const gpu::SimReport report = test::sample_report();
  const std::string csv = report::to_csv({report});
  const std::size_t end = csv.find('\n');
  EXPECT_EQ(csv.substr(0, csv.find(',')), "arch");
  for (const report::Counter& counter : report::counter_table())
    EXPECT_NE(("," + csv.substr(0, end) + ",").find("," + counter.name + ","), std::string::npos) << counter.name;
  EXPECT_NE(csv.find(",7700,"), std::string::npos);
  EXPECT_NE(csv.find("FFMA=2100000000;IADD3=100000000;LDS=200000000"), std::string::npos);
}

TEST(CounterTable, NamesEveryCounterOnceAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const report::Counter& counter : report::counter_table()) {
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
    EXPECT_FALSE(counter.sentence.empty()) << counter.name;
  }
}

TEST(CounterReference, IsUpToDate) {
  const std::string path = NOTEG_SOURCE_DIR "/docs/reference/report-reference.md";
  const std::string page = report::counter_reference();
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(path) << page;
  std::ostringstream found;
  found << std::ifstream(path).rdbuf();
  EXPECT_EQ(found.str(), page) << "run NOTEG_UPDATE_GENERATED=1 test_report";
}

}  // namespace
}  // namespace noteg
