// Power on the command line: compare, calibrate, and the options of simulate that concern power and clock.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

const std::string kernel = "--family simt --tile 128x128x8 --shape 1024x1024x512";

Json json_of(const std::string& arguments) {
  const Ran ran = run_program(arguments + " --format json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.status == 0 ? Json::parse(ran.out) : Json{};
}

TEST(SimulatePower, ALowerLimitTakesLongerAtALowerClock) {
  const Json wide = json_of("simulate --arch l4 " + kernel),
             narrow = json_of("simulate --arch l4 --set arch.power.limit=50W " + kernel);
  EXPECT_TRUE(narrow["throttled"]);
  EXPECT_LT(narrow["sm_clock_mhz"], wide["sm_clock_mhz"]);
  EXPECT_GT(narrow["time_us"], wide["time_us"]);
  EXPECT_NEAR(narrow["power_w"].get<double>(), 50, 0.1);
}

TEST(SimulatePower, ABurstKeepsTheClockAndZerosCostLess) {
  const Json settled = json_of("simulate --arch l4 " + kernel),
             burst = json_of("simulate --arch l4 --clock-mode burst " + kernel),
             zeros = json_of("simulate --arch l4 --operands zeros " + kernel);
  EXPECT_EQ(burst["clock_mode"], "burst");
  EXPECT_FALSE(burst["throttled"]);
  EXPECT_GT(burst["power_w"], settled["power_w"]);
  EXPECT_GT(zeros["sm_clock_mhz"], settled["sm_clock_mhz"]);
}

TEST(SimulatePower, AFewLaunchesFromRestRunAtTheClockAtRest) {
  const Json few = json_of("simulate --arch rtx4070 --launches 13 " + kernel);
  EXPECT_EQ(few["clock_mode"], "cool");
  EXPECT_EQ(few["sm_clock_mhz"], 2505);
  EXPECT_GT(json_of("simulate --arch rtx4070 --launches 100000 " + kernel)["sm_clock_mhz"], 2505);
  EXPECT_TRUE(
      has(run_program("simulate --arch rtx4070 --launches 0 " + kernel).err, "--launches: expected an integer"));
  EXPECT_EQ(run_program("simulate --arch rtx4070 --launches 2 --clock-mode burst " + kernel).status, 2);
}

TEST(SimulatePower, ABurstOfTensorCoresSaysThatItsLimitHoldsTheClock) {
  const std::string one =
      "simulate --arch h100-sxm5-80gb --kernel auto --dtype f16 --shape 8192x8192x8192 --launches 1 --estimate";
  const Json json = json_of(one);
  EXPECT_TRUE(json["throttled"]);
  EXPECT_EQ(json["throttle_reason"], "the power limit of a burst, 1.2 times 700 W");
  EXPECT_EQ(json["bottleneck"]["clock_held_by"], json["throttle_reason"]);
  EXPECT_TRUE(has(run_program(one).out, "MHz, held down by the power limit of a burst")) << run_program(one).out;
}

TEST(SimulatePower, ALimitThatNoClockKeepsIsSaid) {
  const Json json = json_of(
      "simulate --arch b300-sxm-288gb --set arch.power.limit=260W --estimate --family mma --tile 128x128x32 "
      "--dtype bf16 --shape 4096x4096x4096");
  EXPECT_GT(json["power_w"], 260);
  EXPECT_EQ(json["throttle_reason"], "the power limit of 260 W, and even the lowest clock needs more");
}

TEST(SimulatePower, WritesTheTraceAsCsv) {
  const Ran ran = run_program("simulate --arch l4 --power-trace - " + kernel);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("time_s,sm_clock_mhz,power_w,averaged_power_w,temperature_c\n0,2040,"));
  EXPECT_EQ(run_program("simulate --arch l4 --power-trace /nowhere/x.csv " + kernel).status, 2);
}

TEST(SimulatePower, RefusesWrongModes) {
  const Ran ran = run_program("simulate --arch l4 --clock-mode fast --operands ones --clock 3W " + kernel);
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(has(ran.err, "--clock-mode: expected burst, cool or sustained, found \"fast\""));
  EXPECT_TRUE(has(ran.err, "--operands: expected random or zeros, found \"ones\""));
  EXPECT_TRUE(has(ran.err, "--clock: expected"));
}

TEST(Compare, ListsEveryLimitAndTheClockOfLeastEnergy) {
  const Json cases = json_of("compare --arch l4 --power-limits 40W,72W " + kernel)["cases"];
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0]["case"], "40 W");
  EXPECT_EQ(cases[2]["case"], "least energy");
  EXPECT_GT(cases[0]["time_us"], cases[1]["time_us"]);
  for (const Json& one : cases) {
    EXPECT_GE(one["energy_mj"], cases[2]["energy_mj"]);
    EXPECT_LE(one["power_w"], 72.001);
  }
  const Ran text = run_program("compare --arch l4 --power-limits 72W " + kernel);
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(has(text.out, "least energy")) << text.out;
  const Ran csv = run_program("compare --arch l4 --power-limits 72W --format csv " + kernel);
  EXPECT_TRUE(csv.out.starts_with("case,arch,time_us,sm_clock_mhz,power_w,energy_mj,")) << csv.out;
}

TEST(Compare, WritesTheReportOfPowerLimitsToo) {
  const Ran ran = run_shell("f=$(mktemp -d)/r.html; \"$NOTEG\" compare --arch l4 --power-limits 40W,72W " + kernel +
                            " --report $f && grep -c 'least energy' $f");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(run_program("compare --arch l4 --power-limits 40W --report /nowhere/r.html " + kernel).status, 2);
}

TEST(Compare, RefusesWrongInput) {
  const Ran nothing = run_program("compare");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_TRUE(has(nothing.err, "--arch: expected 2 to 12 GPUs (or --power-limits with one), found 0")) << nothing.err;
  EXPECT_TRUE(has(run_program("compare --power-limits 40W " + kernel).err, "--arch: expected one GPU with"));
  const Ran idle = run_program("compare --arch l4 --power-limits 10W " + kernel);
  EXPECT_EQ(idle.status, 2);
  EXPECT_TRUE(has(idle.err, "--power-limits: expected more than the idle power of 27 W, found 10 W")) << idle.err;
  EXPECT_EQ(run_program("compare --arch l4 --power-limits 40m " + kernel).status, 2);
}

// Twelve shapes at 2 GHz instead of 2.505 GHz.
const std::string make_rows =
    "for m in 256 512 768 1024 1280 1536 1792 2048 2304 2560 2816 3072; do "
    "t=$(\"$NOTEG\" simulate --arch rtx4070 --family simt --tile 128x128x8 --shape ${m}x512x128 --clock 2GHz --format "
    "json | grep '\"time_us\"' | tr -dc '0-9.'); echo \"own,RTX4070,f32,simt,$m,512,128,128,128,8,$(awk \"BEGIN{print "
    "$t/1000}\")\"; done";

TEST(Calibrate, WritesAFileThatTheOtherCommandsTake) {
  const Ran ran = run_shell(
      "d=$(mktemp -d); (echo source,gpu,dtype_in,family,M,N,K,tile_m,tile_n,tile_k,time_ms; " + make_rows +
      ") > $d/own.csv; \"$NOTEG\" calibrate --arch rtx4070 --data $d/own.csv --set clock.sustained --out $d/mine.yaml "
      "--quiet && \"$NOTEG\" arch check $d/mine.yaml && grep '^base: sm_89' $d/mine.yaml && grep 'sustained:' "
      "$d/mine.yaml; s=$?; rm -r $d; exit $s");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "held out: every fifth shape")) << ran.out;
  EXPECT_TRUE(has(ran.out, "no mistakes")) << ran.out;
  EXPECT_TRUE(has(ran.out, "fitted: \"own.csv: ")) << ran.out;
}

TEST(Calibrate, TellsEveryMistakeOfTheCommandLineAtOnce) {
  const Ran ran = run_program("calibrate --arch l44 --format csv --jobs 0");
  EXPECT_EQ(ran.status, 2);
  for (const char* part :
       {"--arch l44: expected a known GPU", "--data: expected a measured file, found nothing",
        "--out: expected the file to write, found nothing", "--format: expected text or json, found \"csv\"", "--jobs"})
    EXPECT_TRUE(has(ran.err, part)) << part << "\n" << ran.err;
}

TEST(Calibrate, RefusesWhatMayNotBeFitted) {
  const Ran ran = run_program(
      "calibrate --arch l4 --data tests/data/measured_subset.csv --out x.yaml --set power.limit,power.idel");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(has(ran.err, "found \"power.limit\" (a fact of the product, not a constant to fit)"));
  EXPECT_TRUE(has(ran.err, "found \"power.idel\" (did you mean power.idle?)"));
  EXPECT_EQ(run_program("calibrate --arch l4 --data missing.csv --out x.yaml").status, 2);
}

}  // namespace
}  // namespace noteg::test
