// train and predict on the command line, and a model in noteg validate.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

// 96 simulated runs of made-up shapes on two GPUs, as a measured file whose times are 1.25 times the simulated ones.
const std::string make_data =
    "d=$(mktemp -d); (echo gpu,family,dtype_in,M,N,K,tile_m,tile_n,tile_k,time_ms; for g in RTX4070 A40; do for m in "
    "128 "
    "256 384 512 768 1024; do for n in 128 512; do for k in 64 128 256 512; do echo "
    "$g,simt,f32,$m,$n,$k,128,128,8,1; done; done; done; done) > $d/list.csv; "
    "\"$NOTEG\" validate --data $d/list.csv --table $d/runs.csv --predictions $d/p.csv --quiet > /dev/null; "
    "awk -F, -v OFS=, 'NR==1{for(i=1;i<=NF;i++)c[$i]=i} NR>1{$c[\"time_ms\"]=1.25*$c[\"predicted_time_ms\"]} 1' "
    "$d/p.csv | cut -d, -f1-10 > $d/measured.csv; ";

TEST(Train, WritesAModelThatPredictAndValidateTake) {
  const Ran ran = run_shell(
      make_data +
      "\"$NOTEG\" train --data $d/runs.csv --out $d/m.json --onnx $d/m.onnx --report $d/r.html --trees 20 --validate "
      "shape --format json --quiet > "
      "$d/t.json && "
      "\"$NOTEG\" predict --model $d/m.json --arch a40 --family simt --tile 128x128x8 --shape 512x512x256 --format "
      "json "
      "> $d/p.json && \"$NOTEG\" validate --data $d/list.csv --model $d/m.json --format json --quiet > $d/v.json && "
      "\"$NOTEG\" predict --model $d/m.json --data $d/runs.csv --quiet > $d/p.csv && grep -q TreeEnsembleRegressor "
      "$d/m.onnx && "
      "grep -q '<canvas' $d/r.html && wc -l < $d/p.csv && "
      "echo \"[$(cat $d/t.json),$(cat $d/p.json),$(cat $d/v.json)]\"");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::size_t begin = ran.out.find('[');
  EXPECT_EQ(std::stoi(ran.out.substr(0, begin)), 97);
  const Json all = Json::parse(ran.out.substr(begin));
  EXPECT_EQ(all[0]["validation"][0]["targets"]["time_us"]["rows"], 96);
  EXPECT_GT(all[0]["validation"][0]["targets"]["time_us"]["r2"], 0.8);
  EXPECT_GT(all[1]["time_us"]["value"], 1);
  EXPECT_LE(all[1]["time_us"]["low_95"], all[1]["time_us"]["low_80"]);
  EXPECT_EQ(all[2]["groups"][0]["rows"], 48);
}

TEST(Train, LearnsTheSimulatorsOwnError) {
  const Ran ran =
      run_shell(make_data +
                "\"$NOTEG\" train --residual --data $d/measured.csv --out $d/r.json --trees 20 --quiet > $d/t && "
                "\"$NOTEG\" validate --data $d/measured.csv --model $d/r.json --format json --quiet && cat $d/t");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "simulation, and with the model behind it")) << ran.out;
  const Json json = Json::parse(ran.out.substr(0, ran.out.find("\n}\n") + 2));
  EXPECT_LT(json["all"]["time"]["mape"], 0.01);
}

// What was simulated can be learnt from again, to the same trees, without simulating.
TEST(Train, LearnsAgainFromItsOwnTable) {
  const Ran ran = run_shell(
      make_data +
      "t() { \"$NOTEG\" train --residual --trees 10 --validate shape --quiet \"$@\"; }; "
      "t --data $d/measured.csv --table $d/t.csv --out $d/a.json > $d/a && t --data $d/t.csv --out $d/b.json > $d/b && "
      "for f in a b; do sed 's/\"files\": *\"[^\"]*\"//' $d/$f.json > $d/$f.parts; done; cmp $d/a.parts $d/b.parts && "
      "tail -3 $d/a > $d/a3; tail -3 $d/b | cmp - $d/a3 && "
      "t --data $d/t.csv --gpu A40 --out $d/c.json; "
      "t --data $d/t.csv --gpu h200-sxm-141gb --out $d/c.json; t --data $d/t.csv --data $d/measured.csv --out "
      "$d/c.json; "
      "cut -d, -f1-40 $d/t.csv > $d/u.csv; sed '1s/kernel.m,/time_ratio,/' $d/u.csv > $d/v.csv; t --data $d/v.csv "
      "--out $d/c.json");
  EXPECT_TRUE(has(ran.out, "a40")) << ran.err;
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_TRUE(has(ran.err, "--gpu: expected a GPU that the table has rows of")) << ran.err;
  EXPECT_TRUE(has(ran.err, "--data: expected measured rows, or tables of --table, not both")) << ran.err;
  EXPECT_TRUE(has(ran.err, "measured.time_us: expected a column of this name, as noteg train --table writes it"))
      << ran.err;
}

TEST(Train, RefusesWrongInput) {
  const Ran nothing = run_program("train");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_TRUE(has(nothing.err, "--data, --arch: expected a data set, or a GPU to make one of, found nothing"))
      << nothing.err;
  EXPECT_TRUE(has(nothing.err, "--out: expected the file to write, found nothing"));
  const Ran folder = run_program("train --data x --out /nowhere/m.json --report /nowhere/r.html");
  EXPECT_EQ(folder.status, 2);
  EXPECT_TRUE(has(folder.err, "--out: expected a file in a folder that exists, found \"/nowhere/m.json\""))
      << folder.err;
  EXPECT_TRUE(has(folder.err, "--report: expected a file in a folder"));
  const Ran words = run_program(
      "train --data x --out y --features magic --validate rows --monotone up --trees 0 --folds 1 --format csv --gpu z");
  EXPECT_EQ(words.status, 2);
  for (const char* part :
       {"--features: expected config, arch, physics or counter", "--validate: expected shape",
        "--monotone: expected TARGET:FEATURE:+", "--trees: expected an integer from 1", "--folds: expected at least 2",
        "--format: expected text or json", "--gpu: expected --residual"})
    EXPECT_TRUE(has(words.err, part)) << part << "\n" << words.err;
}

std::string refused_data(const std::string& csv) {
  const Ran ran =
      run_shell("d=$(mktemp -d); printf '" + csv + "' > $d/x.csv; \"$NOTEG\" train --data $d/x.csv --out $d/m.json");
  EXPECT_EQ(ran.status, 2) << csv;
  return ran.err;
}

TEST(Train, RefusesBadDataSets) {
  const std::string header = "kernel.m,arch.sms,time_us,power_w,energy_mj,tflops\\n";
  EXPECT_TRUE(
      has(refused_data("kernel.m,time_us\\n1,2\\n2,3\\n"), "power_w: expected a column of this name, found none"));
  EXPECT_TRUE(
      has(refused_data(header + "1,2,nan,4,5,6\\n2,3,4,5,6,7\\n"), "x.csv:2:3: time_us: expected a finite number"));
  EXPECT_TRUE(has(refused_data(header + "1,2,inf,4,5,6\\n2,3,4,5,6,7\\n"), "found \"inf\""));
  EXPECT_TRUE(has(refused_data(header + "1,2,3,4,5,6\\n"), "expected at least two rows"));
  EXPECT_TRUE(has(refused_data(header + "1,2,3,,5,6\\n2,3,4,,6,7\\n"),
                  "time_us, power_w, energy_mj, tflops: expected at least two rows that have all of these targets"));
  EXPECT_TRUE(has(refused_data(header), "expected at least one row, found none"));
  EXPECT_TRUE(has(refused_data(header + "1,2,3,4,5,6\\n1,2,3,4,5,6\\n"), "at least one column whose values differ"));
}

TEST(Predict, RefusesBadModels) {
  EXPECT_EQ(run_program("predict").status, 2);
  const Ran gone = run_program("predict --model /nowhere.json --data x.csv");
  EXPECT_EQ(gone.status, 2);
  EXPECT_TRUE(has(gone.err, "/nowhere.json: expected a file, found none")) << gone.err;
  for (const char* text : {"", "{", "[]", "{\\\"schema\\\":\\\"noteg-model\\\",\\\"version\\\":99}"}) {
    const Ran ran =
        run_shell(std::string("d=$(mktemp -d); printf \"") + text +
                  "\" > $d/m.json; \"$NOTEG\" predict --model $d/m.json --data x.csv; s=$?; \"$NOTEG\" validate "
                  "--model $d/m.json --data x.csv; [ $? = 2 ] && exit $s");
    EXPECT_EQ(ran.status, 2) << text << ran.err;
    EXPECT_TRUE(has(ran.err, "m.json:")) << ran.err;
  }
}

}  // namespace
}  // namespace noteg::test
