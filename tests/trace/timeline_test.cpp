// The timeline fits a terminal and says what it shows.
#include "sim/trace/views.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/trace/watched.hpp"

namespace noteg::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Timeline, FitsTheWidthAskedFor) {
  const gpu::Recording recording = watched(simulated("rtx4070"));
  for (const std::size_t width : {40u, 80u, 100u, 200u})
    for (const std::string& line : lines_of(trace::timeline(recording, 4, {width, 32})))
      EXPECT_LE(line.size(), width) << line;
}

TEST(Timeline, EveryLetterIsInTheLegend) {
  const std::string text = trace::timeline(watched(simulated("rtx4070")), 4);
  const std::string legend = text.substr(text.find("issues:"));
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("sub ")) continue;
    for (const char letter : line.substr(14)) {
      if (letter == ' ') continue;
      const std::string entry = std::string(1, letter) + " ";
      EXPECT_NE(legend.find(entry), std::string::npos) << letter;
    }
  }
}

TEST(Timeline, EveryWaitHasALetterOfItsOwn) {
  std::set<char> letters;
  for (std::size_t i = 0; i < sm::stall_count; ++i)
    EXPECT_TRUE(letters.insert(trace::letter_of(static_cast<sm::Stall>(i))).second);
}

TEST(Timeline, ASubCoreIssuesOneInstructionACycle) {
  const gpu::Recording recording = watched(simulated("rtx4070"), {2, 2});
  const std::vector<std::string> lines = lines_of(trace::timeline(recording, 4));
  const auto last_block =
      std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) { return line.starts_with("sub 0"); });
  ASSERT_NE(last_block, lines.rend());
  for (std::size_t column = 14; column < 100; ++column) {
    std::array<int, 4> issued{};
    for (auto line = std::find(lines.begin(), lines.end(), "its first cycles, one a column"); line != lines.end();
         ++line)
      if (line->starts_with("sub ") && column < line->size() && std::isupper((*line)[column]) != 0)
        ++issued[static_cast<std::size_t>((*line)[4] - '0')];
    for (const int count : issued) EXPECT_LE(count, 1);
  }
}

// The second consumer of a ping-pong kernel waits for its turn, and the first tile's recording ends before it comes.
TEST(Timeline, DrawsWaitsThatHaveNotEnded) {
  kernels::KernelConfig kernel;
  kernel.family = kernels::Family::wgmma;
  kernel.schedule = kernels::Schedule::pingpong;
  kernel.tile = {64, 128, 64};
  kernel.dtype_in = kernel.dtype_out = kernels::DataType::f16;
  kernel.layout = kernels::Layout::tn;
  gpu::SmCache cache;
  const auto report = gpu::simulate(*arch::load_gpu("h100-sxm5-80gb"), kernel, {2048, 2048, 1024, 1}, {}, cache);
  ASSERT_TRUE(report) << to_string(report.errors());
  const gpu::Recording recording = watched(*report, {2, 4});
  std::size_t begun = 0;
  for (const trace::WarpLane& lane : trace::warp_lanes(recording)) {
    if (lane.issues.empty()) continue;
    ++begun;
    std::uint64_t at = lane.issues.back().cycle + 1;
    if (!lane.waits.empty()) at = std::max(at, lane.waits.back().until);
    EXPECT_GE(at, recording.end);
  }
  EXPECT_GT(begun, 0u);
  const std::string text = trace::timeline(recording, 4);
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("sub ")) continue;
    EXPECT_GT(line.size(), 14u) << line << ": nothing of this warp is drawn";
  }
}

TEST(Timeline, SaysWhatItLeavesOut) {
  const std::string text = trace::timeline(watched(simulated("rtx4070")), 4, {100, 2});
  EXPECT_NE(text.find("of which 2 are shown"), std::string::npos);
}

TEST(InstructionTimeline, FitsTheWidthAndHasARowForEachIssue) {
  const gpu::Recording recording = watched(simulated("rtx4070"));
  for (const std::size_t width : {40u, 80u, 160u}) {
    const std::vector<std::string> lines = lines_of(trace::instruction_timeline(recording, {width, 32, 20}));
    for (const std::string& line : lines) EXPECT_LE(line.size(), std::max<std::size_t>(width, 72)) << line;
    EXPECT_EQ(
        std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("[") && line[1] != 'i'; }),
        20);
  }
}

// Rows of one warp: it issues one instruction a cycle, and in the order in which the rows stand.
TEST(InstructionTimeline, IssuesFollowEachOther) {
  std::size_t last = 0;
  bool begins = true;
  for (const std::string& line : lines_of(trace::instruction_timeline(watched(simulated("rtx4070")), {200, 32, 30}))) {
    if (line.starts_with(" ")) begins = true;
    if (!line.starts_with("[") || line[1] == 'i') continue;
    const std::string cells = line.substr(14, 200 - 14 - 46 - 2);
    const auto issue = std::ranges::find_if(cells, [](char c) { return c >= 'A' && c <= 'Z' && c != 'R'; });
    ASSERT_NE(issue, cells.end()) << line;
    const auto column = static_cast<std::size_t>(issue - cells.begin());
    EXPECT_TRUE(begins || column > last) << line;
    last = column;
    begins = false;
  }
}

TEST(Timeline, ColoursChangeNoCharacter) {
  const gpu::Recording recording = watched(simulated("rtx4070"));
  const auto plain = [](const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\033')
        i = text.find('m', i);
      else
        out += text[i];
    return out;
  };
  const trace::TimelineOptions colours{100, 32, 48, true};
  EXPECT_NE(trace::timeline(recording, 4, colours), trace::timeline(recording, 4));
  EXPECT_EQ(plain(trace::timeline(recording, 4, colours)), trace::timeline(recording, 4));
  EXPECT_EQ(plain(trace::instruction_timeline(recording, colours)), trace::instruction_timeline(recording));
}

}  // namespace
}  // namespace noteg::test
