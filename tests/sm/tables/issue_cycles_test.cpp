// MICRO25, section 7: the cycle in which the i-th of a row of independent memory instructions issues, with 1 to 4
// active sub-cores (one warp each, GA102, all L1 hits, register addresses). The first one issues in cycle 2.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

constexpr int instructions = 24;

// Issue cycles of the i-th instruction (from 1) over the active sub-cores, ascending.
std::vector<double> issue_cycles(int sub_cores, int i) {
  std::string text = fmt::format(".warps {}\n", sub_cores);
  for (int n = 0; n < instructions; ++n) text += ins(fmt::format("LDG.E R{}, [R2]", 8 + 2 * n));
  std::vector<double> out;
  for (const IssueRecord& issue : issues(text, ga102)) {
    if (issue.pc == i - 1) out.push_back(static_cast<double>(issue.cycle) + 2);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void add(std::vector<MeasuredRow>& rows, int sub_cores, int i, int which, double measured) {
  rows.push_back(
      {fmt::format("issue cycle: {} sub-cores, instruction {}, sub-core in order {}", sub_cores, i, which + 1),
       measured, "MICRO25, section 7", [=] { return issue_cycles(sub_cores, i).at(static_cast<std::size_t>(which)); }});
}

}  // namespace

std::vector<MeasuredRow> issue_cycle_rows() {
  std::vector<MeasuredRow> rows;
  constexpr std::array<int, 4> sixth{13, 13, 13, 13}, seventh{17, 17, 19, 21}, eighth{21, 21, 25, 29};
  constexpr std::array<int, 4> steady{4, 4, 6, 8};
  for (int n = 1; n <= 4; ++n) {
    const auto at = static_cast<std::size_t>(n - 1);
    for (int i = 1; i <= 5; ++i) add(rows, n, i, n - 1, i + 1);
    for (int k = 0; k < n; ++k) {
      add(rows, n, 6, k, sixth[at] + 2 * k);
      add(rows, n, 7, k, seventh[at] + 2 * k);
      add(rows, n, 8, k, eighth[at] + 2 * k);
    }
    rows.push_back({fmt::format("issue cycle: {} sub-cores, steady spacing", n), static_cast<double>(steady[at]),
                    "MICRO25, section 7", [=] { return (issue_cycles(n, 24).at(0) - issue_cycles(n, 12).at(0)) / 12; },
                    Allowed::only_3_percent});
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(IssueCycles, HardwareTable, testing::ValuesIn(issue_cycle_rows()), test_name);

}  // namespace noteg::sm::tables
