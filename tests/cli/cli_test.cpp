#include <gtest/gtest.h>

#include <regex>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

constexpr const char* small = "simulate --arch rtx4070 --family simt --tile 128x128x8 --shape 1024x1024x256";

TEST(Program, HelpsOnStandardOutput) {
  for (const char* arguments : {"--help", "simulate --help", "validate --help", "compare --help", "calibrate --help",
                                "arch --help", "kernel show --help"}) {
    const Ran ran = run_program(arguments);
    EXPECT_EQ(ran.status, 0) << arguments;
    EXPECT_TRUE(has(ran.out, "usage: noteg")) << arguments;
    EXPECT_EQ(ran.err, "") << arguments;
  }
}

TEST(Program, TellsItsVersion) {
  const Ran ran = run_program("--version");
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(ran.out.starts_with("noteg 0."));
}

TEST(Program, RefusesAnUnknownCommandAndNamesTheNearest) {
  const Ran ran = run_program("simlate");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(has(ran.err, "did you mean simulate"));
  EXPECT_EQ(run_program("").status, 2);
}

TEST(Simulate, WritesTextToStandardOutputAndNothingElse) {
  const Ran ran = run_program(small);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(has(ran.out, "limited by"));
}

TEST(Simulate, WritesJsonWhosePhasesSumToTheTimeAndStallsToOne) {
  const Ran ran = run_program(std::string(small) + " --format json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  double phases = 0, stalls = 0;
  for (const auto& [name, us] : json["phases_us"].items()) phases += us.get<double>();
  for (const auto& [name, share] : json["stalls"].items()) stalls += share.get<double>();
  EXPECT_NEAR(phases / json["time_us"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(stalls, 1, 1e-9);
  EXPECT_GT(json["time_us"].get<double>(), 0);
}

TEST(Simulate, WritesTheSameBytesTwice) {
  const std::string command = std::string(small) + " --format json";
  EXPECT_EQ(run_program(command).out, run_program(command).out);
}

TEST(Simulate, TakesAProfilersName) {
  const Ran ran = run_program(
      "simulate --arch a100-pcie-40gb --kernel-name ampere_sgemm_128x64_tn --shape 2048x2048x512 --format csv");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("arch,kernel.name,"));
}

TEST(Simulate, RefusesTypesThatAKernelsNameDoesNotHave) {
  const std::string name =
      "simulate --arch rtx4090 --shape 512x512x512 --kernel-name ampere_bf16_s16816gemm_bf16_128x64_"
      "ldg8_f2f_stages_64x3_tn";
  EXPECT_EQ(run_program(name + " --dtype bf16").out, run_program(name).out);
  const Ran ran = run_program(name + " --dtype f16");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(has(ran.err, "--dtype: expected bf16 (f32 sums, bf16 results), as the kernel's name says")) << ran.err;
}

TEST(Simulate, RunsANameThatSplitsKWithANumberOfSlicesOnly) {
  const std::string name =
      "simulate --arch h200-sxm-141gb --shape 64x2048x4096 --format json --kernel-name "
      "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT";
  const Ran unsaid = run_program(name);
  EXPECT_EQ(unsaid.status, 2);
  EXPECT_TRUE(has(unsaid.err, "--split-k: expected how many CTAs share K")) << unsaid.err;
  const Ran said = run_program(name + " --split-k 4");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(has(said.out, "\"split_k_mode\": \"parallel\"")) << said.out.substr(0, 2000);
}

TEST(Simulate, SaysWhatAKernelIsThatIsNoGemmAndNamesTheNearestOfAMistypedOne) {
  const std::string start = "simulate --arch l4 --shape 512x512x512 --kernel-name ";
  EXPECT_TRUE(has(run_program(start + "gemv2T_kernel_val").err, "a matrix-vector product"));
  EXPECT_TRUE(has(run_program(start + "splitKreduce_kernel").err, "the second pass of a split-K GEMM"));
  EXPECT_TRUE(
      has(run_program(start + "nvjet_sm100_tst_64x8_64x16_2x1_v_bz_TNT").err, "no multiplications into tensor memory"));
  EXPECT_TRUE(has(run_program(start + "ampere_sgem_128x64_tn").err, "did you mean ampere_sgemm_128x64_tn?"));
}

// The whole name stands in the text, unbroken, and gives the same run again.
TEST(Simulate, PrintsANameOfTheChosenKernelThatGivesItAgain) {
  for (const std::string problem :
       {"--arch rtx4090 --dtype bf16 --shape 512x2048x1024", "--arch a100-sxm4-80gb --dtype tf32 --shape 256x512x512",
        "--arch l4 --shape 1000x600x300 --layout nt", "--arch h100-sxm5-80gb --dtype f16 --shape 2048x2048x1024"}) {
    const Ran chosen = run_program("simulate " + problem + " --kernel auto");
    ASSERT_EQ(chosen.status, 0) << chosen.err;
    std::smatch name, slices;
    ASSERT_TRUE(std::regex_search(chosen.out, name, std::regex("kernel +(\\S+)\n"))) << chosen.out;
    if (std::regex_search(chosen.out, slices, std::regex("split K"))) continue;  // no name says how many
    std::string again = problem;
    for (const char* option : {" --dtype bf16", " --dtype tf32", " --dtype f16", " --layout nt"})
      if (const std::size_t at = again.find(option); at != std::string::npos)
        again.erase(at, std::string(option).size());
    // A kernel that the model chose itself is less sure: only what is said of the measured times differs.
    const auto run_itself = [](const std::string& text) { return text.substr(0, text.find("\nconfidence")); };
    EXPECT_EQ(run_itself(run_program("simulate " + again + " --kernel-name " + name[1].str()).out),
              run_itself(chosen.out));
  }
}

TEST(Simulate, ObeysSetAndClock) {
  const Ran ran =
      run_program(std::string(small) + " --clock 1.4GHz --set arch.l2.size=18MiB --set stages=2 --format json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_DOUBLE_EQ(json["sm_clock_mhz"].get<double>(), 1400);
  EXPECT_EQ(json["kernel"]["stages"], 2);
}

TEST(Simulate, ListsItsSwitches) {
  const Ran ran = run_program("simulate --list-switches --format json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_GE(json.size(), 14u);
  for (const Json& row : json) EXPECT_EQ(row["default"], row["values"][0]);
  EXPECT_TRUE(has(run_program("simulate --list-switches").out, "core.rfc = on | off"));
}

TEST(Simulate, ShowsChangedSwitchesAndRefusesUnknownOnes) {
  const Ran json = run_program(std::string(small) + " --set core.rfc=off --set tail=free --format json");
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(Json::parse(json.out)["switches"], (Json{{"core.rfc", "off"}, {"tail", "free"}}));
  EXPECT_TRUE(has(run_program(std::string(small) + " --set core.rfc=off").out, "core.rfc=off"));
  EXPECT_FALSE(Json::parse(run_program(std::string(small) + " --format json").out).contains("switches"));
  const Ran bad = run_program(std::string(small) + " --set core.rfcc=off --set l2=huge");
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(has(bad.err, "core.rfc")) << bad.err;
  EXPECT_TRUE(has(bad.err, "modelled or infinite")) << bad.err;
  EXPECT_EQ(run_program("kernel show --family simt --tile 128x128x8 --set core.rfc=off").status, 2);
}

TEST(Simulate, ExplainsInTextJsonAndCsv) {
  const std::string command = std::string(small) + " --explain";
  const Ran json = run_program(command + " --format json");
  ASSERT_EQ(json.status, 0) << json.err;
  const Json parsed = Json::parse(json.out);
  ASSERT_GE(parsed["explain"].size(), 12u);
  EXPECT_EQ(parsed["bottleneck"]["speedup_if_removed"], parsed["explain"][0]["speedup"]);
  EXPECT_TRUE(has(run_program(command).out, "what each limit costs"));
  EXPECT_TRUE(run_program(command + " --format csv").out.starts_with("limit,removed,time_us,"));
}

TEST(Simulate, TellsEveryMistakeOfTheCommandLineAtOnce) {
  const Ran ran = run_program(
      "simulate --arch rtx4071 --shpe 1x1x1 --family simd --tile 12 --layout xy --l2 hot --clock 1.4 --format xml "
      "--set x --jobs 0");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(has(ran.err, "--shpe")) << ran.err;
  EXPECT_TRUE(has(ran.err, "did you mean --shape")) << ran.err;
  const Ran values = run_program(
      "simulate --arch rtx4071 --shape 12 --family simd --tile 12 --layout xy --l2 hot --clock 1.4 --format xml --set "
      "x --jobs 0");
  EXPECT_EQ(values.status, 2);
  for (const char* part :
       {"rtx4071", "--shape", "--family", "--tile", "--layout", "--l2", "--clock", "--format", "--set", "--jobs"})
    EXPECT_TRUE(has(values.err, part)) << part << "\n" << values.err;
}

TEST(Simulate, RefusesWhatTheKernelThatItRunsWouldIgnore) {
  const std::string gpu = "simulate --arch l4 ", compiled = gpu + "--sass x --launch x ";
  const auto refuses = [](const std::string& words, const std::string& part) {
    const Ran ran = run_program(words);
    EXPECT_EQ(ran.status, 2) << words;
    EXPECT_TRUE(has(ran.err, part)) << words << "\n" << ran.err;
  };
  const std::string one = ": expected a GEMM or attention kernel with it, found a compiled kernel";
  for (const char* option : {"--kernel", "--family", "--tile", "--shape", "--dtype", "--layout", "--batch"})
    refuses(compiled + option + " auto", option + one);
  refuses(compiled + "--set stages=3", "--set: expected arch.KEY or a switch: a compiled kernel has no such key");
  refuses(gpu + "--memory 'softmax rows=8 columns=8' --shape 1x1x1", "--shape: expected a GEMM or attention kernel");
  refuses(gpu + "--memory 'softmax rows=8 columns=8' --asm x", "--memory: expected a memory kernel or experts with it");
  refuses(std::string(small) + " --stalls -", "--stalls: expected a compiled kernel with it");
  refuses(std::string(small) + " --warps 4", "--warps: expected assembly with it");
  refuses("compare --arch l4 --arch l40s --sass x --launch x --shape 1x1x1", "--shape" + one);
}

TEST(Simulate, RefusesMissingValuesRepeatedOptionsAndStrayWords) {
  const Ran ran = run_program("simulate stray --arch rtx4070 --arch l4 --exact=yes --shape");
  EXPECT_EQ(ran.status, 2);
  for (const char* part : {"stray", "--arch: expected it once", "--exact", "--shape: expected MxNxK, found nothing"})
    EXPECT_TRUE(has(ran.err, part)) << part << "\n" << ran.err;
}

TEST(Simulate, RefusesShapesAndKernelsThatCannotBe) {
  const std::string base = "simulate --arch rtx4070 --family simt ";
  for (const char* rest :
       {"--tile 128x128x8 --shape 0x1x1", "--tile 128x128x8 --shape 2147483647x2147483647x2147483647",
        "--tile 4096x4096x8 --shape 1024x1024x1024", "--tile 128x128x8 --shape -1x2x3", "--tile 0x0x0 --shape 1x1x1",
        "--tile 128x128x8 --shape 99999999999999999999x1x1", "--tile 128x128x8 --shape 64x64x64 --set no_such_key=1",
        "--tile 128x128x8 --shape 64x64x64 --set arch.no.such=1",
        "--tile 128x128x8 --shape 64x64x64 --set arch.l2.size=36"}) {
    const Ran ran = run_program(base + rest);
    EXPECT_EQ(ran.status, 2) << rest << "\n" << ran.err;
    EXPECT_EQ(ran.out, "") << rest;
    EXPECT_TRUE(has(ran.err, "expected")) << rest << "\n" << ran.err;
  }
  EXPECT_EQ(run_program("simulate --arch rtx4070 --kernel no/such.yaml --shape 64x64x64").status, 2);
  EXPECT_EQ(run_program("simulate --arch rtx4070 --kernel-name not_a_kernel --shape 64x64x64").status, 2);
  EXPECT_EQ(run_program("simulate --arch no/such.yaml --family simt --tile 128x128x8 --shape 64x64x64").status, 2);
  EXPECT_EQ(run_program("simulate --arch rtx4070 --kernel-name x --family simt --shape 64x64x64").status, 2);
}

TEST(Program, EndsQuietlyWhereItsReaderHasSeenEnough) {
  const Ran ran = run_shell("\"$NOTEG\" arch show rtx4070 | head -c 1 >/dev/null");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
}

TEST(Program, FailsWhereItsOutputCannotBeWritten) {
  const Ran ran = run_shell("\"$NOTEG\" --help >/dev/full");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.err, "No space left on device"));
}

TEST(Validate, ReportsTheSubsetWithoutProgressInAPipe) {
  const Ran ran = run_program("validate --data " NOTEG_SOURCE_DIR
                              "/tests/data/measured_subset.csv --gpu RTXA6000 --by gpu,kernel --format json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["rows"]["read"], 1211);
  EXPECT_GE(json["all"]["rows"].get<int>(), 4);
}

TEST(Validate, RefusesWrongInput) {
  EXPECT_EQ(run_program("validate").status, 2);
  EXPECT_EQ(run_program("validate --data no/such.csv").status, 2);
  EXPECT_EQ(run_program("validate --data " NOTEG_SOURCE_DIR "/tests/data/measured_subset.csv --by nonsense").status, 2);
  EXPECT_EQ(
      run_program("validate --data " NOTEG_SOURCE_DIR "/tests/data/measured_subset.csv --min-time-ms soon").status, 2);
}

TEST(Validate, FailsWhereAFileCannotBeWritten) {
  const Ran ran = run_program("validate --data " NOTEG_SOURCE_DIR
                              "/tests/data/measured_subset.csv --gpu RTX3090 --predictions /no/such/folder/p.csv");
  EXPECT_EQ(ran.status, 2) << "told before the work";
  EXPECT_TRUE(has(ran.err, "/no/such/folder/p.csv"));
}

TEST(Arch, ListsShowsAndChecks) {
  const Ran list = run_program("arch list");
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_TRUE(has(list.out, "rtx4070"));
  const Ran show = run_program("arch show 'NVIDIA L4' --format json");
  EXPECT_EQ(show.status, 0) << show.err;
  EXPECT_TRUE(Json::accept(show.out));
  EXPECT_EQ(run_program("arch check " NOTEG_SOURCE_DIR "/arch/gpus/ada/l4.yaml " NOTEG_SOURCE_DIR
                        "/arch/generations/sm_89.yaml")
                .status,
            0);
  EXPECT_TRUE(Json::accept(run_program("arch schema").out));
  EXPECT_EQ(run_program("arch show").status, 2);
  EXPECT_EQ(run_program("arch check no/such.yaml").status, 2);
  EXPECT_EQ(run_program("arch lst").status, 2);
}

TEST(Arch, MakesAGpuFromADataSheetThatTheCheckAndTheSimulatorTake) {
  const Ran ran = test::run_shell(
      "d=$(mktemp -d) && cd $d && $NOTEG arch new --template > sheet.yaml && $NOTEG arch new sheet.yaml --name Mine "
      "--out mine.yaml && $NOTEG arch check mine.yaml && $NOTEG simulate --arch mine.yaml --kernel auto --dtype f16 "
      "--shape 512x512x512 | head -1; $NOTEG arch new sheet.yaml --out sheet.yaml; echo $?; rm -r $d");
  EXPECT_NE(ran.out.find("no mistakes; GPU file"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("Mine (mine)"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("\n2\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("--out: expected another file than the sheet"), std::string::npos) << ran.err;
}

TEST(Kernel, ShowsTheInstructionList) {
  const Ran ran = run_program("kernel show --family naive --tile 16x16x16");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "FFMA"));
  const Ran json = run_program("kernel show --family simt --tile 128x128x8 --arch l4 --format json");
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(Json::parse(json.out)["parts"].size(), 3u);
}

TEST(SimulateAssembly, PrintsWhatItsPageSays) {
  const Ran ran = run_program("simulate --arch h200-sxm-141gb --asm " NOTEG_SOURCE_DIR
                              "/examples/02_micro_kernel/shared_stride.nsass");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(output_on_page("docs/assembly.md", ran.out), ran.out) << "run test_cli with NOTEG_UPDATE_GENERATED=1";
}

TEST(SimulateAssembly, GivesEveryFigureOfTheRunAndOfAnIterationAsJsonAndCsv) {
  const std::string command = "simulate --arch l4 --ctas 2 --warps 4 --iterations 30 --asm " NOTEG_SOURCE_DIR
                              "/examples/02_micro_kernel/shared_stride.nsass";
  const Ran ran = run_program(command + " --format json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["per_iteration"]["warp_instructions"], 2 * 4 * 5);
  EXPECT_EQ(json["run"]["warp_instructions"], 30 * 2 * 4 * 5 + 2 * 4);  // and an EXIT for each warp
  EXPECT_EQ(json["per_iteration"]["shared_bytes"], 2 * 4 * 2 * 128);
  EXPECT_EQ(json["run"].size(), json["per_iteration"].size());
  const Ran csv = run_program(command + " --format csv");
  EXPECT_EQ(csv.out.substr(0, 31), "figure,whole_run,per_iteration\n") << csv.out;
}

TEST(SimulateAssembly, RunsWhatKernelShowPrints) {
  const Ran ran = run_shell(
      "f=$(mktemp) && $NOTEG kernel show --kernel naive_16 --arch l4 > $f && $NOTEG simulate --arch l4 --asm $f; "
      "s=$?; rm -f $f; exit $s");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("cycles per iteration of the main loop"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace noteg::test
