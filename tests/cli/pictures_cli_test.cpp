// --report, --trace and --timeline on the command line: files beside the result, clear mistakes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program.hpp"

namespace noteg::test {
namespace {

const std::string run = "simulate --arch l4 --family simt --tile 64x64x8 --shape 256x256x128 ";

TEST(Report, LiesBesideTheResultAndDoesNotChangeIt) {
  const Ran plain = run_program(run + "--format json");
  const Ran ran =
      run_shell("f=$(mktemp -d)/r.html; \"$NOTEG\" " + run + "--format json --report $f && head -c 15 $f >&2");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, plain.out);
  EXPECT_EQ(ran.err, "<!DOCTYPE html>");
}

void add_numbers(const nlohmann::json& json, std::set<double>& numbers) {
  if (json.is_number()) numbers.insert(json.get<double>());
  if (!json.is_structured()) return;  // a number is a range of itself
  for (const auto& each : json) add_numbers(each, numbers);
}

// Figures of the cards of a page, but those of the cards named, which are computed from several numbers.
std::vector<double> figures_of(const std::string& page, const std::set<std::string>& worked_out) {
  std::vector<double> out;
  const std::string mark = "<data value=\"";
  std::string card;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    if (page.compare(at, 4, "<h3>") == 0) card = page.substr(at + 4, page.find("</h3>", at) - at - 4);
    if (page.compare(at, mark.size(), mark) != 0 || worked_out.contains(card)) continue;
    out.push_back(std::stod(page.substr(at + mark.size())));
  }
  return out;
}

TEST(Report, EveryFigureIsOneOfTheJsonOfTheSameCommand) {
  const std::string kernel = "--family simt --tile 64x64x8 --shape 512x512x128 ";
  // Ends of roofs, what each resource alone would allow, sums of what is left over.
  const std::set<std::string> worked_out{"Roofline", "What keeps more CTAs out", "Which instructions run"};
  for (const std::string& command :
       {"simulate --arch l4 --explain " + kernel, "compare --arch l4 --arch rtx4070 " + kernel,
        std::string("tune --arch l4 --shape 512x512x128 --dtype f32 --max-configs 8 --top 3 --quiet")}) {
    const Ran ran = run_shell("f=$(mktemp); \"$NOTEG\" " + command + " --format json --report $f && cat $f >&2");
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::set<double> numbers;
    const nlohmann::json json = nlohmann::json::parse(ran.out);
    add_numbers(json, numbers);
    if (json.contains("gpus"))  // a table's column of speeds
      for (const auto& gpu : json["gpus"])
        numbers.insert(json["gpus"][0]["time_us"].get<double>() / gpu["time_us"].get<double>());
    std::set<std::string> left_out = worked_out;
    if (json.contains("gpus")) left_out.insert({"What resident warps do", "Energy by part of the board"});
    const std::vector<double> figures = figures_of(ran.err, left_out);
    EXPECT_GT(figures.size(), 20u) << command;
    for (const double figure : figures) EXPECT_TRUE(numbers.contains(figure)) << command << ": " << figure;
  }
}

TEST(Report, NamesTheCommandThatMadeIt) {
  const Ran ran = run_shell("f=$(mktemp); \"$NOTEG\" " + run + "--report $f --quiet > /dev/null && cat $f");
  EXPECT_TRUE(has(ran.out, "<code>noteg simulate --arch l4 --family simt --tile 64x64x8 --shape 256x256x128</code>"));
}

TEST(Report, IsRefusedBeforeTheRunWhereItCannotBe) {
  for (const std::string place : {"/no/such/folder/r.html", "/tmp", "-"}) {
    const Ran ran = run_program(run + "--report " + place);
    EXPECT_EQ(ran.status, 2) << place;
    EXPECT_TRUE(has(ran.err, "--report: expected a file")) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST(Report, FailsWhereTheDiskIsFull) {
  const Ran ran = run_program(run + "--report /dev/full");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.err, "/dev/full: No space left on device")) << ran.err;
}

TEST(Trace, IsCompressedWhereItsNameSaysSo) {
  const Ran ran =
      run_shell("d=$(mktemp -d); \"$NOTEG\" " + run + "--trace $d/t.json --quiet > /dev/null && \"$NOTEG\" " + run +
                "--trace $d/t.json.gz > /dev/null && gzip -dc $d/t.json.gz | cmp - $d/t.json && "
                "head -c 20 $d/t.json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "{\"displayTimeUnit\":\"");
}

TEST(Trace, TellsMistakes) {
  for (const auto& [words, part] :
       {std::pair{"--trace t.txt", "--trace: expected a file named .json or .json.gz"},
        std::pair{"--timeline --window 4:2", "--window: expected iterations A:B"},
        std::pair{"--window 2:4", "--window: expected --trace or --timeline"},
        std::pair{"--timeline --window 900", "--window: expected iterations between 1 and 16"},
        std::pair{"--timeline --format csv", "--timeline: expected --format text"}}) {
    const Ran ran = run_program(run + words);
    EXPECT_EQ(ran.status, 2) << words;
    EXPECT_TRUE(has(ran.err, part)) << ran.err;
  }
  for (const char* option : {"--timeline", "--trace t.json", "--power-trace t.csv", "--explain"}) {
    const Ran ran = run_program(std::string("simulate --arch l4 --memory 'reads=1MB' ") + option);
    EXPECT_EQ(ran.status, 2) << option;
    EXPECT_TRUE(has(ran.err, "expected a GEMM or attention kernel")) << ran.err;
    EXPECT_TRUE(has(ran.err, "with it, found a memory kernel")) << ran.err;
  }
}

TEST(Trace, ShowsCompiledKernelsAsTheirListingDoes) {
  const std::string folder = NOTEG_SOURCE_DIR "/examples/triton_kernel/";
  const std::string words = "simulate --arch a100-sxm4-80gb --sass " + folder + "softmax.sass --launch " + folder;
  const Ran ran =
      run_shell("d=$(mktemp -d); \"$NOTEG\" " + words + "launch.yaml --timeline --window 0 --trace $d/t.json && " +
                "grep -c '\"text\":' $d/t.json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "instructions of warp 0")) << ran.out;
  EXPECT_TRUE(has(ran.out, "LDC")) << ran.out;
  const Ran power = run_program(words + "launch.yaml --power-trace t.csv");
  EXPECT_EQ(power.status, 2);
  EXPECT_TRUE(has(power.err, "found a compiled kernel")) << power.err;
}

// The first warp copies, others multiply: their loop is the one whose iterations count.
TEST(Trace, ShowsAWindowOfKernelsWhoseFirstWarpOnlyCopies) {
  const std::string launch =
      "kernel: z_ws128x256s3\ngrid: [1, 1, 1]\nblock: [384, 1, 1]\ndynamic_shared: 148480 B\n"
      "args: [{i32: 128}, {i32: 256}, {i32: 4096},\n"
      "  {tensor_map: A, rows: 128, columns: 4096, box_rows: 128, box_columns: 64},\n"
      "  {tensor_map: B, rows: 256, columns: 4096, box_rows: 256, box_columns: 64}, {buffer: C, bytes: 65536 B}]\n";
  const auto products = [&launch](const char* window) {
    const Ran ran = run_shell("d=$(mktemp -d); printf '" + launch +
                              "' > $d/l.yaml; \"$NOTEG\" simulate --arch "
                              "h200-sxm-141gb --sass " NOTEG_SOURCE_DIR
                              "/tests/data/compiled/bulk/bulk_sm90a.sass.gz --launch $d/l.yaml --window " +
                              window + " --trace $d/t.json > $d/out && grep -c '\"text\":\"HGMMA' $d/t.json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out.empty() ? 0 : std::stoi(ran.out);
  };
  const int few = products("6:7"), more = products("6:9");
  EXPECT_GT(few, 0);
  EXPECT_NEAR(more, 2 * few, 0.25 * more);
}

TEST(Timeline, FitsTheTerminal) {
  const Ran ran = run_shell("COLUMNS=60 \"$NOTEG\" " + run +
                            "--timeline | sed -n '/^cycles /,$p' | awk '{ print length }' | sort -n | tail -1");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_LE(std::stoi(ran.out), 60);
}

}  // namespace
}  // namespace noteg::test
