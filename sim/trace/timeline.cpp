#include "sim/trace/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/ir/listing.hpp"
#include "sim/report/write.hpp"

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
    for (const WarpLane& lane : warp_lanes(recording)) {
      for (const sm::WaitRecord& wait : lane.waits)
        fill(wait.warp, wait.from, wait.until, trace::letter_of(wait.reason));
      for (const sm::IssueRecord& issue : lane.issues) {
        const kernels::Instruction& in = recording.program().code[static_cast<std::size_t>(issue.pc)];
        fill(issue.warp, issue.cycle, issue.cycle + 1, letter_of(kernels::opcode_info(in.op).unit));
      }
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

// Issues, waits for memory and other waits in three colours; the text between them as it is.
std::string painted(const std::string& cells, bool in_colour) {
  if (!in_colour) return cells;
  constexpr std::string_view issued = "\033[1;32m", memory = "\033[31m", waits = "\033[33m", off = "\033[0m";
  std::string out;
  std::string_view now;
  for (const char c : cells) {
    const std::string_view wanted = c >= 'A' && c <= 'Z'               ? issued
                                    : c == 'g' || c == 'q' || c == 'y' ? memory
                                    : c >= 'a' && c <= 'z'             ? waits
                                                                       : std::string_view{};
    if (wanted != now) out.append(now.empty() ? "" : off).append(wanted);
    now = wanted;
    out += c;
  }
  return out.append(now.empty() ? "" : off);
}

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
                  std::size_t columns, std::size_t scale, bool in_colour) {
  std::string text = ruler(begin, columns, scale);
  for (const std::size_t warp : warps) {
    std::string cells;
    for (std::size_t column = 0; column < columns; ++column)
      cells += grid.most(warp, column * scale, (column + 1) * scale);
    cells.erase(cells.find_last_not_of(' ') + 1);
    text += fmt::format("{:<{}}{}{}\n", fmt::format("sub {} warp {}", warp % sub_cores, warp), label_width,
                        cells.empty() ? "" : " ", painted(cells, in_colour));
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

// One issue of the warp that is shown: when it could have issued, when it did, and what followed.
struct Row {
  std::uint64_t cycle = 0;
  std::int32_t pc = 0;
  std::vector<sm::WaitRecord> waits;
  std::uint64_t until = 0, ready = 0;  // its unit is free again; its result is there, 0 where that is not known
  [[nodiscard]] std::uint64_t begin() const { return waits.empty() ? cycle : waits.front().from; }
  [[nodiscard]] std::uint64_t end() const { return std::max({cycle + 1, until, ready + 1}); }
};

std::vector<Row> rows_of(const gpu::Recording& recording, std::size_t most) {
  const auto warp = static_cast<std::uint16_t>(recording.program().lead_warp);
  const WarpLane lane = warp_lanes(recording)[warp];
  std::vector<Row> rows;
  auto wait = lane.waits.begin();
  for (const sm::IssueRecord& issue : lane.issues) {
    if (issue.cycle >= recording.end || rows.size() >= most) break;
    Row row{issue.cycle, issue.pc, {}, 0, 0};
    for (; wait != lane.waits.end() && wait->until <= issue.cycle; ++wait) row.waits.push_back(*wait);
    if (issue.cycle >= recording.begin) rows.push_back(std::move(row));
  }
  for (const sm::UseRecord& use : recording.log.uses) {
    if (use.warp != warp) continue;
    const auto of = std::ranges::find_if(rows, [&](const Row& row) {  // the last issue of it before the use
      return row.pc == use.pc && row.cycle <= use.from && row.cycle + 4096 > use.from && row.until == 0;
    });
    if (of == rows.end()) continue;
    of->until = use.until;
    of->ready = use.ready;
  }
  return rows;
}

constexpr std::size_t shortest_text = 12, longest_text = 46;

std::string cells_of(const Row& row, const kernels::Program& program, std::uint64_t begin, std::size_t columns) {
  std::string cells(columns, ' ');
  const auto fill = [&](std::uint64_t from, std::uint64_t until, char letter) {
    for (std::uint64_t c = std::max(from, begin); c < std::min<std::uint64_t>(until, begin + columns); ++c)
      cells[c - begin] = letter;
  };
  fill(row.cycle + 1, row.until, '=');
  fill(std::max(row.cycle + 1, row.until), row.ready, '-');
  if (row.ready > row.cycle) fill(row.ready, row.ready + 1, 'R');
  for (const sm::WaitRecord& wait : row.waits) fill(wait.from, wait.until, trace::letter_of(wait.reason));
  const kernels::Instruction& in = program.code[static_cast<std::size_t>(row.pc)];
  fill(row.cycle, row.cycle + 1, letter_of(kernels::opcode_info(in.op).unit));
  return cells;
}

// Mnemonic and operands, without the control bits before them.
std::string shortened(std::string text, std::size_t most) {
  if (text.starts_with('[')) text.erase(0, text.find(']') + 2);
  if (text.size() > most) text = text.substr(0, most - 2) + "..";
  return text;
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
    text +=
        block(grid, warps, subs, recording.begin, (grid.cycles() + scale - 1) / scale, scale, options.in_colour) + "\n";
    text += "its first cycles, one a column\n";
  }
  text += block(grid, warps, subs, recording.begin, std::min(columns, grid.cycles()), 1, options.in_colour);
  return text + legend(width);
}

std::string instruction_timeline(const gpu::Recording& recording, const TimelineOptions& options) {
  const std::size_t width = std::max<std::size_t>(40, options.width);
  const std::size_t text = std::clamp(width / 3, shortest_text, longest_text), columns = width - label_width - text - 2;
  const kernels::Program& program = recording.program();
  const std::vector<Row> rows = rows_of(recording, options.most_instructions);
  std::string out =
      fmt::format("instructions of warp {}, the first {} of the window\n", program.lead_warp, rows.size());
  for (std::size_t first = 0; first < rows.size();) {
    const std::uint64_t begin = std::max(recording.begin, rows[first].begin());
    out += ruler(begin, columns, 1);
    std::size_t next = first;
    for (; next < rows.size() && (next == first || rows[next].cycle < begin + columns); ++next) {
      const Row& row = rows[next];
      const auto iteration =
          std::ranges::upper_bound(recording.iteration_begins, row.cycle) - recording.iteration_begins.begin();
      const gpu::ShownInstruction& shown = recording.shown[static_cast<std::size_t>(row.pc)];
      const std::string label = fmt::format("[{},{:04x}]", iteration, shown.address);
      out +=
          fmt::format("{:<{}} {} {}\n", label, label_width,
                      painted(cells_of(row, program, begin, columns), options.in_colour), shortened(shown.text, text));
    }
    first = next;
  }
  return out + "[iteration,address], a cycle a column\n= keeps its unit; - until its result; R result\n";
}

}  // namespace noteg::trace
