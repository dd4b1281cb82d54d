#include "sim/trace/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/report/format.hpp"

namespace noteg::trace {
namespace {

using sm::Stall;

constexpr std::array<std::pair<char, std::string_view>, sm::stall_count> letters{{
    {'I', "issued"},
    {'.', "not selected: another warp issued"},
    {'s', "stall count"},
    {'d', "dependence on shared memory"},
    {'g', "dependence on global memory"},
    {'b', "barrier"},
    {'p', "pipe busy"},
    {'q', "memory queue full"},
    {'r', "register-file ports"},
    {'i', "no instruction"},
    {'c', "constant miss"},
    {'y', "async copies"},
    {'w', "waiting by design"},
    {'x', "finished, its CTA is not"},
}};

// Issues by the unit that takes them.
char letter_of(kernels::Unit unit) {
  switch (unit) {
    case kernels::Unit::fma:
    case kernels::Unit::fma_heavy:
    case kernels::Unit::half:
    case kernels::Unit::fp64: return 'F';
    case kernels::Unit::tensor: return 'T';
    case kernels::Unit::memory: return 'M';
    case kernels::Unit::barrier: return 'B';
    case kernels::Unit::alu:
    case kernels::Unit::mufu:
    case kernels::Unit::uniform: return 'A';
    case kernels::Unit::branch:
    case kernels::Unit::control: return 'C';
  }
  return 'C';
}

const std::vector<std::string> issue_legend{"F floating point",     "T tensor",  "M memory",
                                            "A integer and others", "B barrier", "C branch and control"};

// What each warp does in each cycle of the window; blank where it is not there.
class Grid {
 public:
  Grid(const gpu::Recording& recording, std::size_t warps)
      : begin_(recording.begin), cycles_(recording.end - recording.begin), cells_(warps, std::string(cycles_, ' ')) {
    for (const sm::WaitRecord& wait : recording.log.waits)
      fill(wait.warp, wait.from, wait.until, trace::letter_of(wait.reason));
    for (const sm::IssueRecord& issue : recording.log.issues) {
      const kernels::Instruction& in = recording.program().code[static_cast<std::size_t>(issue.pc)];
      fill(issue.warp, issue.cycle, issue.cycle + 1, letter_of(kernels::opcode_info(in.op).unit));
    }
  }

  [[nodiscard]] std::size_t cycles() const { return cycles_; }

  // The most frequent letter of a stretch, the first of several.
  [[nodiscard]] char most(std::size_t warp, std::size_t from, std::size_t until) const {
    std::array<int, 128> counts{};
    char best = ' ';
    for (std::size_t i = from; i < std::min(until, cycles_); ++i) {
      const char c = cells_[warp][i];
      if (++counts[static_cast<std::size_t>(c)] > counts[static_cast<std::size_t>(best)] || best == ' ') best = c;
    }
    return best;
  }

 private:
  void fill(std::uint16_t warp, std::uint64_t from, std::uint64_t until, char letter) {
    if (warp >= cells_.size()) return;
    for (std::uint64_t c = std::max(from, begin_); c < std::min(until, begin_ + cycles_); ++c)
      cells_[warp][c - begin_] = letter;
  }

  std::uint64_t begin_;
  std::size_t cycles_;
  std::vector<std::string> cells_;
};

constexpr std::size_t label_width = 13;  // "sub 0 warp 12"

// A mark every ten columns, with the cycle of every second one.
std::string ruler(std::uint64_t begin, std::size_t columns, std::size_t scale) {
  std::string text(label_width + 1, ' ');
  for (std::size_t column = 0; column < columns; column += 20) {
    const std::string mark = fmt::format("|{}", begin + column * scale);
    text += fmt::format("{:<{}}", mark, std::min<std::size_t>(20, columns - column));
  }
  text.resize(std::min(text.size(), label_width + 1 + columns));
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string block(const Grid& grid, const std::vector<std::size_t>& warps, std::size_t sub_cores, std::uint64_t begin,
                  std::size_t columns, std::size_t scale) {
  std::string text = ruler(begin, columns, scale);
  for (const std::size_t warp : warps) {
    std::string line = fmt::format("{:<{}} ", fmt::format("sub {} warp {}", warp % sub_cores, warp), label_width);
    for (std::size_t column = 0; column < columns; ++column)
      line += grid.most(warp, column * scale, (column + 1) * scale);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// Entries separated by semicolons, lines broken between them only.
std::string entries(std::string line, const std::vector<std::string>& all, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string entry = " " + all[i] + (i + 1 < all.size() ? ";" : "");
    if (line.size() + entry.size() > width) {
      text += line + "\n";
      line = " ";
    }
    line += entry;
  }
  return text + line + "\n";
}

std::string legend(std::size_t width) {
  std::vector<std::string> waits;
  for (std::size_t i = 1; i < letters.size(); ++i)
    waits.push_back(fmt::format("{} {}", letters[i].first, letters[i].second));
  return "\n" + entries("issues:", issue_legend, width) + entries("waits:", waits, width);
}

}  // namespace

char letter_of(Stall stall) { return letters[static_cast<std::size_t>(stall)].first; }

std::string timeline(const gpu::Recording& recording, int sub_cores, const TimelineOptions& options) {
  const std::size_t width = std::max<std::size_t>(40, options.width), columns = width - label_width - 1;
  const auto all = static_cast<std::size_t>(recording.run->work().resident * recording.program().warps);
  const auto subs = static_cast<std::size_t>(sub_cores);
  const Grid grid(recording, all);
  std::vector<std::size_t> warps;  // by sub-core
  for (std::size_t sub = 0; sub < subs; ++sub)
    for (std::size_t warp = sub; warp < std::min(all, options.most_warps); warp += subs) warps.push_back(warp);
  const std::size_t scale = std::max<std::size_t>(1, (grid.cycles() + columns - 1) / columns);
  std::string text = fmt::format("cycles {} to {} of one SM, {} warps", recording.begin, recording.end, all);
  if (all > warps.size()) text += fmt::format(", of which {} are shown", warps.size());
  text += "\n\n";
  if (scale > 1) {
    for (const std::string& line : report::wrap(
             fmt::format("the whole window, {} cycles a column, the most frequent state of each", scale), width))
      text += line + "\n";
    text += block(grid, warps, subs, recording.begin, (grid.cycles() + scale - 1) / scale, scale) + "\n";
    text += "its first cycles, one a column\n";
  }
  text += block(grid, warps, subs, recording.begin, std::min(columns, grid.cycles()), 1);
  return text + legend(width);
}

}  // namespace noteg::trace
