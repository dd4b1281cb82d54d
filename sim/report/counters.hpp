// The one table of what a simulation reports: name, unit, sentence, getter. Text, JSON, CSV and the documentation are
// made from it, so that they cannot drift apart. A name is a dotted path and equals the JSON key. Left out of the
// table: the instruction mix, whose rows are opcodes and therefore differ from run to run.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/gpu/report.hpp"
#include "sim/support/quantity_text.hpp"

namespace noteg::report {

using Value = std::variant<double, std::int64_t, bool, std::string>;

using noteg::Unit;

struct Counter {
  std::string name;  // phases_us.launch
  Unit unit = Unit::none;
  std::string sentence;  // what it says, for the documentation
  std::function<Value(const gpu::SimReport&)> get;

  [[nodiscard]] std::string_view leaf() const;   // launch
  [[nodiscard]] std::string_view group() const;  // phases_us; empty at the top level
};

// Every counter, in the order of the output. Built at each call: there is no global state.
[[nodiscard]] std::vector<Counter> counter_table();

// A counter's number; integers and claims as doubles, texts as 0. Not finite becomes 0, since JSON has no such
// number.
[[nodiscard]] double number_of(const Value& value);

// Whether the number stands for one that nobody knows: confidence where nothing was measured.
[[nodiscard]] bool is_absent(const Counter& counter, const Value& value);

// The reference page, docs/reference/report-reference.md, as Markdown.
[[nodiscard]] std::string counter_reference();

// The part of the table of counters that shows the kernel as resolved: every default that was filled in.

[[nodiscard]] std::vector<Counter> kernel_counters();

}  // namespace noteg::report
