// The pages of the commands: every chart has its table, and figures are those of the JSON output.
#include <gtest/gtest.h>

#include <set>

#include "arch/load.hpp"
#include "sim/compare/compare.hpp"
#include "sim/pages/page.hpp"
#include "sim/pages/reports.hpp"
#include "sim/report/write.hpp"
#include "tests/pages/page_reader.hpp"
#include "tests/report/sample_report.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

gpu::SimReport run_on(const std::string& arch, double time_us = 7700) {
  gpu::SimReport r = sample_report();
  r.arch_id = arch;
  r.time_us = time_us;
  r.power_w = 200;
  r.energy_mj = 1540;
  r.energy_stack_mj.fill(140);
  return r;
}

arch::GpuSpec gpu(const std::string& name) { return *arch::load_gpu(name, {}); }

compare::Comparison comparison() {
  compare::Comparison c;
  c.variants = {{"rtx4070", "", gpu("rtx4070")}, {"l4", "l2.size=24MiB", gpu("l4")}};
  c.reports = {run_on("rtx4070", 7700), run_on("l4", 12000)};
  c.waterfalls = {{"rtx4070", "l4", 7700, 12000, {{"SM count", 1, 6000, 6000. / 7700}, {"clock", 2, 12000, 2}}}};
  return c;
}

tune::Results tuned() {
  tune::Tuned one;
  one.problem.shape = {512, 512, 512, 1};
  one.top = {run_on("rtx4070", 10), run_on("rtx4070", 12)};
  one.why = "it is limited by less";
  for (const auto& [m, n, time, energy] : {std::tuple{64, 64, 10., 9.}, {128, 64, 12., 7.}, {128, 128, 14., 8.}}) {
    tune::Scored scored;
    scored.config.tile = {m, n, 8};
    scored.time_us = time;
    scored.energy_mj = energy;
    one.ranked.push_back(scored);
  }
  return {"rtx4070", "GeForce RTX 4070", tune::Objective::time, {one}, false};
}

validate::Validation validation() {
  validate::Validation v;
  v.data.files = {"measured.csv"};
  v.data.columns = {"gpu", "M", "N", "K"};
  for (int i = 1; i <= 40; ++i) {
    v.data.rows.push_back(
        {0, static_cast<std::size_t>(i), {i % 2 == 0 ? "L4" : "A40", "128", "256", std::to_string(i)}});
    validate::Outcome outcome;
    outcome.status = i == 40 ? validate::Status::skipped : validate::Status::predicted;
    outcome.reason = "tile was not recorded";
    if (i < 40) outcome.time_ms = {1.1 * i, 1.0 * i};
    v.outcomes.push_back(outcome);
  }
  v.predicted = 39, v.skipped = 1;
  validate::Metrics metrics;
  metrics.mape = metrics.median_ape = metrics.p90_ape = 0.1;
  v.groups = {{{"A40", "simt"}, 20, metrics, std::nullopt, std::nullopt, std::nullopt}};
  v.all = validate::Group{{}, 39, metrics, std::nullopt, std::nullopt, std::nullopt};
  v.wall_s = 12.5;
  return v;
}

std::vector<std::string> all_pages() {
  return {pages::simulate_report(gpu("rtx4070"), run_on("rtx4070")), pages::compare_report(comparison()),
          pages::tune_report(tuned(), gpu("rtx4070")), pages::validate_report(validation(), {"gpu", "family"})};
}

TEST(HtmlReports, BehindEveryChartIsATableWithTheSameFigures) {
  for (const std::string& page : all_pages()) {
    std::set<std::string> ids;
    for (const Json& chart : charts_of(page)) {
      const std::string id = chart["id"];
      EXPECT_TRUE(ids.insert(id).second) << id << " is there twice";
      EXPECT_FALSE(chart_figures(chart).empty()) << id;
      EXPECT_EQ(chart_figures(chart), table_figures(page, id)) << id;
    }
    EXPECT_GE(ids.size(), 3u);
  }
}

TEST(HtmlReports, SaySameAsTheJsonOutput) {
  const gpu::SimReport r = run_on("rtx4070");
  const std::string page = pages::simulate_report(gpu("rtx4070"), r);
  const Json json = Json::parse(report::to_json(r));
  std::set<std::string> seen;
  for (const Json& chart : charts_of(page)) {
    const std::string id = chart["id"];
    const std::string group = id == "phases" ? "phases_us" : id == "energy" ? "energy_by_component_mj" : id;
    if (group != id || id == "stalls" || id == "pipes") {
      seen.insert(id);
      for (std::size_t i = 0; i < chart["labels"].size(); ++i)
        EXPECT_EQ(chart["series"][0]["bars"][i]["value"], json[group][chart["labels"][i].get<std::string>()]) << id;
    }
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(HtmlReports, RunLiesUnderItsRoof) {
  const Json roofline = charts_of(pages::simulate_report(gpu("rtx4070"), run_on("rtx4070")))[0];
  double roof = 0, run = 0;
  for (const Json& series : roofline["series"])
    for (const Json& dot : series["dots"]) {
      if (series["name"] == "DRAM and pipes") roof = std::max(roof, dot["y"].get<double>());
      if (series["name"] == "run, per DRAM byte") run = dot["y"];
    }
  EXPECT_NEAR(roof, 17.85 / 0.612, 1e-9);
  EXPECT_LT(run, roof);
}

TEST(HtmlReports, WaterfallLeadsFromOneGpuToTheOther) {
  for (const Json& chart : charts_of(pages::compare_report(comparison()))) {
    if (chart["id"] != "waterfall-1") continue;
    const Json& bars = chart["series"][0]["bars"];
    ASSERT_EQ(bars.size(), 4u);
    EXPECT_EQ(bars[0]["value"], 7700);
    for (std::size_t i = 1; i + 1 < bars.size(); ++i) EXPECT_EQ(bars[i]["from"], bars[i - 1]["value"]);
    EXPECT_EQ(bars[3]["value"], 12000);
    EXPECT_EQ(bars[1]["colour"], "good");
    EXPECT_EQ(bars[2]["colour"], "bad");
    return;
  }
  FAIL() << "no waterfall";
}

// 10 us with 9 mJ and 12 us with 7 mJ are beaten by nothing, 14 us with 8 mJ is.
TEST(HtmlReports, TheParetoFrontIsWhatNothingBeats) {
  for (const Json& chart : charts_of(pages::tune_report(tuned(), gpu("rtx4070")))) {
    if (chart["id"] != "trade-1") continue;
    EXPECT_EQ(chart["series"][0]["dots"].size(), 1u);
    EXPECT_EQ(chart["series"][0]["dots"][0]["x"], 14);
    EXPECT_EQ(chart["series"][1]["name"], "Pareto front");
    EXPECT_EQ(chart["series"][1]["dots"].size(), 2u);
    return;
  }
  FAIL() << "no chart of time and energy";
}

TEST(HtmlReports, TheHeatMapHasACellForEachTile) {
  const std::string page = pages::tune_report(tuned(), gpu("rtx4070"));
  const std::string table = between(page, "The best time of each tile", "</table>");
  EXPECT_NE(table.find("style=\"--share:1.000\"><data value=\"10\">"), std::string::npos) << table;
  EXPECT_NE(table.find("style=\"--share:0.714\"><data value=\"14\">"), std::string::npos) << table;
}

// 1500 rows are enough to see how most lie; those that are far off are all there.
TEST(HtmlReports, ThinningKeepsEveryOutlier) {
  validate::Validation v = validation();
  v.data.rows.clear();
  v.outcomes.clear();
  for (int i = 1; i <= 6000; ++i) {
    v.data.rows.push_back({0, static_cast<std::size_t>(i), {"L4", "128", "256", std::to_string(i)}});
    validate::Outcome outcome;
    outcome.status = validate::Status::predicted;
    outcome.time_ms = {i % 1000 == 7 ? 2.0 * i : 1.0 * i, 1.0 * i};
    v.outcomes.push_back(outcome);
  }
  for (const Json& chart : charts_of(pages::validate_report(v, {"gpu"}))) {
    if (chart["id"] != "time") continue;
    int outliers = 0, drawn = 0;
    for (const Json& series : chart["series"])
      for (const Json& dot : series["dots"]) {
        if (!series["reference"]) ++drawn;
        if (!series["reference"] && dot["y"] == 2) ++outliers;
      }
    EXPECT_EQ(outliers, 6);
    EXPECT_LE(drawn, 1506);
    return;
  }
  FAIL() << "no chart of times";
}

TEST(HtmlReports, TheCommandStandsOnThePage) {
  const std::string page = pages::simulate_report(gpu("rtx4070"), run_on("rtx4070"));
  const std::string command = "noteg simulate --arch l4 --kernel-name 'a<b' --shape 1x2x3";
  const std::string live = pages::with_command(page, command, true), plain = pages::with_command(page, command, false);
  EXPECT_NE(live.find("<code>noteg simulate --arch l4 --kernel-name &#39;a&lt;b&#39; --shape 1x2x3</code>"),
            std::string::npos);
  EXPECT_NE(live.find("href=\"noteg.html#command=noteg%20simulate%20--arch%20l4%20--kernel-name%20%27a%3Cb%27"),
            std::string::npos);
  EXPECT_EQ(plain.find("open live"), std::string::npos);
}

TEST(HtmlReports, ListWhatWasSkipped) {
  EXPECT_NE(pages::validate_report(validation(), {"gpu"}).find("tile was not recorded"), std::string::npos);
}

TEST(HtmlReports, AreTheSameBytesForTheSameResults) {
  EXPECT_EQ(all_pages(), all_pages());
  validate::Validation slower = validation();
  slower.wall_s = 99;
  EXPECT_EQ(pages::validate_report(slower, {"gpu"}), pages::validate_report(validation(), {"gpu"}));
}

}  // namespace
}  // namespace noteg::test
