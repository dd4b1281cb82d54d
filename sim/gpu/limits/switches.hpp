// Limits that a study takes away one by one: one table says how each is called, what its values mean and what it
// removes. The command line, its help and messages, the reports and docs/reference/switches.md are made from that
// table. A switch never alters the kernel's program, only how the machine runs it; a report shows every switch that is
// not at its default.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/sm/sm.hpp"
#include "sim/support/result.hpp"

namespace noteg::gpu {

// Which accesses the load/store path of an SM takes any number of in a cycle.
enum class MemoryPath : std::uint8_t { modelled, l1_infinite, shared_infinite, infinite };

struct Switches {
  sm::CoreSwitches core;
  bool l2 = true;            // false: every load hits L2, and L2 delivers at any rate
  bool dram = true;          // false: DRAM delivers at any rate, its latency stays
  bool launch = true;        // false: launching the kernel and its CTAs takes no time
  bool tail = true;          // false: CTAs divide evenly over SMs and their slots, in fractions
  bool power = true;         // false: the clock stays at the highest that the board has
  bool one_fma = true;       // false: twice the FP32 lanes
  bool one_tensor = true;    // false: tensor cores take half the cycles for a multiplication
  bool pipe_latency = true;  // false: arithmetic results are there in the next cycle
  MemoryPath memory_path = MemoryPath::modelled;
  bool shared_latency = true;  // false: shared memory answers as soon as it is asked
  bool memory_latency = true;  // false: what lies behind L1 answers as fast as L1

  bool operator==(const Switches&) const = default;
};

struct SwitchInfo {
  std::string_view name;                 // core.rfc
  std::vector<std::string_view> values;  // the first one is the default
  std::string_view sentence;             // what the default models
  std::string_view removes;              // what the other values do
  std::size_t (*get)(const Switches&);   // index into values
  void (*set)(Switches&, std::size_t);
};

// Every switch, in the order of the documentation. Built at each call: there is no global state.
[[nodiscard]] std::vector<SwitchInfo> switch_table();

// True for names that can be switches only: a known one, or any that begins with "core." or "memory.".
[[nodiscard]] bool is_switch_name(std::string_view name);

// Errors: an unknown name (with the nearest ones), a value that the switch does not have (with those it has).
[[nodiscard]] Result<Switches> with_switch(Switches switches, std::string_view name, std::string_view value);

// (name, value) of every switch that is not at its default.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> changed_switches(const Switches& switches);

// The page docs/reference/switches.md, as Markdown.
[[nodiscard]] std::string switch_reference();

}  // namespace noteg::gpu
