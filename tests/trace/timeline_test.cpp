// The timeline fits a terminal and says what it shows.
#include "sim/trace/timeline.hpp"

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

TEST(Timeline, SaysWhatItLeavesOut) {
  const std::string text = trace::timeline(watched(simulated("rtx4070")), 4, {100, 2});
  EXPECT_NE(text.find("of which 2 are shown"), std::string::npos);
}

}  // namespace
}  // namespace noteg::test
