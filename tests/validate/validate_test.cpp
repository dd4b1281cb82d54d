#include "sim/validate/validate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "sim/support/text.hpp"
#include "sim/support/work_sharing.hpp"
#include "sim/validate/write.hpp"
#include "tests/validate/fixture.hpp"

namespace noteg::validate {
namespace {

using Json = nlohmann::ordered_json;

// Six rows: three that the fake gets right, one twice too slow, one of another family, one GPU that nobody knows.
const std::string file =
    "gpu,M,N,K,family,tile_m,tile_n,tile_k,dtype_in,time_ms,extra\n"
    "tiny,1000,1000,1000,simt,64,64,8,fp32,2,\"a,b\"\n"
    "tiny,2000,1000,1000,simt,64,64,8,fp32,4,c\n"
    "tiny,2000,1000,1000,mma,64,64,8,fp32,4,d\n"
    "tiny,4000,1000,1000,naive,16,16,16,fp32,4,e\n"
    "nobody's gpu,1000,1000,1000,simt,64,64,8,fp32,2,f\n"
    "tiny,100,100,100,simt,64,64,8,fp32,0.002,g\n";

Validation run(ValidateOptions options = {}) {
  const test::TemporaryFile data("rows.csv", file);
  const Result<Validation> result = validate({data.path()}, options, test::fake_simulator);
  if (!result) {
    ADD_FAILURE() << to_string(result.errors());
    return {};
  }
  return *result;
}

TEST(Validate, LosesNoRow) {
  ValidateOptions options;
  options.min_time_ms = 0.2;
  const Validation v = run(options);
  EXPECT_EQ(v.predicted, 3u);
  EXPECT_EQ(v.skipped, 2u);
  EXPECT_EQ(v.filtered, 1u);
  EXPECT_EQ(v.predicted + v.skipped + v.filtered, v.data.rows.size());
  EXPECT_NE(v.outcomes[2].reason.find("mma"), std::string::npos);
  EXPECT_NE(v.outcomes[4].reason.find("nobody's gpu"), std::string::npos);
  EXPECT_NE(v.outcomes[5].reason.find("0.2 ms"), std::string::npos);
}

TEST(Validate, GroupsByGpuAndFamily) {
  const Validation v = run();
  ASSERT_EQ(v.groups.size(), 2u);
  EXPECT_EQ(v.groups[0].keys, (std::vector<std::string>{"tiny", "naive"}));
  EXPECT_EQ(v.groups[0].rows, 1u);
  EXPECT_NEAR(v.groups[0].time->mape, 1, 1e-9);  // 8 ms for 4 ms
  EXPECT_NEAR(v.groups[0].time->bias, 2, 1e-9);
  EXPECT_EQ(v.groups[1].rows, 3u);
  EXPECT_NEAR(v.groups[1].time->mape, 0, 1e-9);
  ASSERT_TRUE(v.all);
  EXPECT_NEAR(v.all->time->mape, 0.25, 1e-9);
  EXPECT_FALSE(v.all->power);
}

TEST(Validate, GroupsByAnyColumnAndByDerivedOnes) {
  ValidateOptions options;
  options.by = {"time_decade", "waves", "extra"};
  const Validation v = run(options);
  ASSERT_EQ(v.groups.size(), 4u);
  EXPECT_EQ(v.groups[0].keys, (std::vector<std::string>{"0.001-0.01 ms", "<1", "g"}));
  EXPECT_EQ(v.groups[1].keys, (std::vector<std::string>{"1-10 ms", "<1", "a,b"}));
  EXPECT_EQ(v.groups[2].keys, (std::vector<std::string>{"1-10 ms", "1-2", "c"}));
  EXPECT_EQ(v.groups[3].keys, (std::vector<std::string>{"1-10 ms", "2-4", "e"}));
}

TEST(Validate, SetsOtherGpusAside) {
  ValidateOptions options;
  options.gpus = {"TINY"};
  const Validation v = run(options);
  EXPECT_EQ(v.filtered, 1u);
  EXPECT_EQ(v.outcomes[4].status, Status::filtered);
}

TEST(Validate, RefusesColumnsGpusAndFilesThatDoNotExist) {
  const test::TemporaryFile data("rows.csv", file);
  ValidateOptions options;
  options.by = {"famly"};
  options.gpus = {"rtx9999"};
  const Result<Validation> wrong = validate({data.path()}, options, test::fake_simulator);
  ASSERT_FALSE(wrong);
  ASSERT_EQ(wrong.errors().size(), 2u);
  EXPECT_NE(wrong.errors()[0].to_string().find("did you mean family"), std::string::npos);
  EXPECT_NE(wrong.errors()[1].to_string().find("rtx9999"), std::string::npos);
  EXPECT_FALSE(validate({"no/such.csv"}, {}, test::fake_simulator));
  const test::TemporaryFile bad("bad.csv", "gpu,M,N\na,1,2\n");
  const Result<Validation> missing = validate({bad.path()}, {}, test::fake_simulator);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.errors().size(), 3u);  // dtype_in, K and time_ms
}

std::string without_wall_time(const Validation& v, const std::vector<std::string>& by) {
  Json json = Json::parse(to_json(v, by));
  json.erase("wall_s");
  return json.dump() + predictions_csv(v) + to_markdown(v);
}

TEST(Validate, WritesTheSameBytesForAnyNumberOfJobs) {
  ValidateOptions one, many;
  many.jobs = 4;
  EXPECT_EQ(without_wall_time(run(one), one.by), without_wall_time(run(many), many.by));
}

TEST(Validate, WritesTheJsonOfTheContract) {
  const Json json = Json::parse(to_json(run(), {"gpu", "family"}));
  for (const char* key : {"groups", "all", "skipped", "wall_s"}) EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key : {"gpu", "family", "rows", "time", "power", "energy"})
    EXPECT_TRUE(json["groups"][0].contains(key)) << key;
  for (const char* key : {"mape", "median_ape", "p90_ape", "bias", "r2_log", "rank_corr"})
    EXPECT_TRUE(json["all"]["time"].contains(key)) << key;
  EXPECT_TRUE(json["all"]["power"].is_null());
  ASSERT_EQ(json["skipped"].size(), 2u);
  EXPECT_EQ(json["skipped"][0]["row"], 3);
  EXPECT_EQ(json["skipped"][1]["row"], 5);
}

TEST(Predictions, KeepEveryInputRowInOrderWithItsOwnFields) {
  const Result<CsvTable> in = parse_csv(file, "in");
  const Result<CsvTable> out = parse_csv(predictions_csv(run()), "out");
  ASSERT_TRUE(out) << to_string(out.errors());
  ASSERT_EQ(out->rows.size(), in->rows.size());
  for (std::size_t i = 0; i < in->rows.size(); ++i)
    for (std::size_t j = 0; j < in->columns.size(); ++j) EXPECT_EQ(out->rows.at(i, j), in->rows.at(i, j));
  EXPECT_NEAR(*parse_number(std::string(out->rows.at(0, *out->column("predicted_time_ms")))), 2, 1e-9);
  EXPECT_EQ(out->rows.at(0, *out->column("predicted_dram_bytes")), "7");
  EXPECT_EQ(out->rows.at(0, *out->column("predicted_power_w")), "");
  EXPECT_EQ(out->rows.at(0, *out->column("skipped_reason")), "");
  EXPECT_EQ(out->rows.at(2, *out->column("predicted_time_ms")), "");
  EXPECT_NE(out->rows.at(2, *out->column("skipped_reason")), "");
}

TEST(Validate, JoinsFilesWithDifferentColumns) {
  const test::TemporaryFile a("a.csv",
                              "gpu,M,N,K,family,dtype_in,tile_m,tile_n,time_ms\ntiny,10,10,10,simt,f32,8,8,1\n");
  const test::TemporaryFile b("b.csv", "time_ms,mark,dtype_in,K,N,M,gpu\n1,x,f32,10,10,10,tiny\n");
  const Result<Validation> v = validate({a.path(), b.path()}, {}, test::fake_simulator);
  ASSERT_TRUE(v) << to_string(v.errors());
  EXPECT_EQ(v->data.rows.size(), 2u);
  EXPECT_EQ(v->data.rows[0].fields[*v->data.column("mark")], "");
  EXPECT_EQ(v->data.rows[1].fields[*v->data.column("mark")], "x");
  EXPECT_EQ(v->skipped, 1u);  // the second names no kernel
}

TEST(ShareWork, DoesEachItemOnceAndReportsEach) {
  for (const unsigned jobs : {1u, 3u}) {
    std::vector<std::atomic<int>> counts(100);
    std::size_t reports = 0, last = 0;
    share_work(
        counts.size(), jobs, [&](std::size_t done, std::size_t) { ++reports, last = done; },
        [&](std::size_t i) { ++counts[i]; });
    for (const std::atomic<int>& count : counts) EXPECT_EQ(count, 1);
    EXPECT_EQ(reports, 100u);
    EXPECT_EQ(last, 100u);
  }
}

TEST(ShareWork, ThrowsWhatAnItemThrew) {
  EXPECT_THROW(share_work(10, 2, {},
                          [](std::size_t i) {
                            if (i == 3) throw std::runtime_error("three");
                          }),
               std::runtime_error);
}

}  // namespace
}  // namespace noteg::validate
