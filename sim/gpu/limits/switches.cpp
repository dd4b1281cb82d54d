#include "sim/gpu/limits/switches.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/support/text.hpp"

namespace noteg::gpu {

namespace {

// A switch of the SM or of what is around it.
template <auto member>
auto& field_of(auto& switches) {
  if constexpr (requires { switches.core.*member; })
    return switches.core.*member;
  else
    return switches.*member;
}

template <auto member>
SwitchInfo flag(std::string_view name, std::vector<std::string_view> values, std::string_view sentence,
                std::string_view removes) {
  return {name,
          std::move(values),
          sentence,
          removes,
          [](const Switches& s) -> std::size_t { return field_of<member>(s) ? 0 : 1; },
          [](Switches& s, std::size_t i) { field_of<member>(s) = i == 0; }};
}

template <auto member>
SwitchInfo core_choice(std::string_view name, std::vector<std::string_view> values, std::string_view sentence,
                       std::string_view removes) {
  return {name,
          std::move(values),
          sentence,
          removes,
          [](const Switches& s) { return static_cast<std::size_t>(s.core.*member); },
          [](Switches& s, std::size_t i) {
            s.core.*member = static_cast<std::remove_reference_t<decltype(s.core.*member)>>(i);
          }};
}

std::vector<std::string> names_of(const std::vector<SwitchInfo>& table) {
  std::vector<std::string> names;
  for (const SwitchInfo& row : table) names.emplace_back(row.name);
  return names;
}

}  // namespace

std::vector<SwitchInfo> switch_table() {
  using Core = sm::CoreSwitches;
  SwitchInfo ideal{"core.rf",
                   {"modelled", "ideal"},
                   "operands wait for a read port of their bank",
                   "ideal: operands never wait",
                   [](const Switches& s) -> std::size_t { return s.core.rf_ideal ? 1 : 0; },
                   [](Switches& s, std::size_t i) { s.core.rf_ideal = i == 1; }};
  SwitchInfo path{
      "memory.path",
      {"modelled", "l1-infinite", "shared-infinite", "infinite"},
      "loads and stores of an SM go through one path, wavefront by wavefront; tensor cores read shared memory",
      "l1-infinite: it takes any number of global accesses a cycle; shared-infinite: of those of shared "
      "memory, tensor cores' among them; infinite: of all",
      [](const Switches& s) { return static_cast<std::size_t>(s.memory_path); },
      [](Switches& s, std::size_t i) { s.memory_path = static_cast<MemoryPath>(i); }};
  return {
      core_choice<&Core::scheduler>("core.scheduler", sm::scheduler_names(),
                                    "a warp goes on issuing while it can, then the youngest ready one",
                                    "gto: then the oldest; lrr: ready warps take turns; oldest: always the oldest"),
      core_choice<&Core::dependence>("core.dependence", {"control_bits", "scoreboard"},
                                     "the compiler's stall counts and counters say when an instruction may issue",
                                     "scoreboard: the hardware looks at registers itself and ignores these bits"),
      core_choice<&Core::icache>("core.icache", {"modelled", "off-prefetch", "perfect"},
                                 "instruction caches, with a stream buffer that fetches ahead",
                                 "off-prefetch: nothing is fetched ahead; perfect: instructions are always there"),
      flag<&Core::constant_cache>("core.constant_cache", {"modelled", "perfect"},
                                  "constant operands may miss their cache", "perfect: they always hit"),
      flag<&Core::rf_cache>("core.rfc", {"on", "off"},
                            "the register file cache serves operands that carry a reuse flag",
                            "off: every operand is read from its bank"),
      core_choice<&Core::rf_read_ports>("core.rf_read_ports", {"arch", "1", "2", "3"},
                                        "read ports per register bank as the GPU file says",
                                        "1, 2, 3: that many instead"),
      ideal,
      flag<&Core::memory_queue>("core.memory_queue", {"modelled", "infinite"},
                                "a full load/store queue holds its sub-core back", "infinite: it never fills"),
      flag<&Core::barriers>("core.barriers", {"modelled", "free"}, "warps of a CTA wait for each other",
                            "free: a barrier lets every warp pass at once"),
      flag<&Core::bank_conflicts>("memory.bank_conflicts", {"on", "off"},
                                  "lanes that meet in a bank of shared memory take turns",
                                  "off: an access takes the wavefronts that its bytes alone need"),
      flag<&Core::one_issue>("core.issue", {"modelled", "double"}, "each sub-core issues one instruction a cycle",
                             "double: one each from two of its warps; pipes stay as wide as they are"),
      flag<&Switches::one_fma>("core.fma", {"modelled", "double"}, "an FFMA occupies FP32 lanes",
                               "double: twice the lanes; an FFMA a cycle needs core.issue=double besides"),
      flag<&Switches::one_tensor>("core.tensor", {"modelled", "double"}, "a multiplication occupies the tensor cores",
                                  "double: for half the cycles"),
      flag<&Switches::pipe_latency>("core.pipe_latency", {"modelled", "none"},
                                    "stall counts cover the latency of arithmetic",
                                    "none: results are there in the next cycle"),
      path,
      flag<&Switches::shared_latency>("memory.shared_latency", {"modelled", "none"},
                                      "shared memory answers after its latency", "none: as soon as it is asked"),
      flag<&Switches::memory_latency>("memory.latency", {"modelled", "l1"}, "L2 and DRAM answer after their latency",
                                      "l1: as fast as L1"),
      flag<&Switches::l2>("l2", {"modelled", "infinite"}, "L2 has a size and a bandwidth",
                          "infinite: every load hits L2, and L2 delivers at any rate"),
      flag<&Switches::dram>("dram", {"modelled", "infinite"}, "DRAM has a bandwidth",
                            "infinite: it delivers at any rate; its latency stays"),
      flag<&Switches::power>("power", {"modelled", "infinite"},
                             "the clock falls until power and temperature keep to the board's limits",
                             "infinite: it stays at the highest that the board has"),
      flag<&Switches::launch>("launch", {"modelled", "free"}, "launching a kernel and its CTAs takes time",
                              "free: it takes none"),
      flag<&Switches::tail>("tail", {"modelled", "free"}, "the tail wave leaves SMs or slots of them idle",
                            "free: CTAs divide evenly over SMs and slots, in fractions"),
  };
}

bool is_switch_name(std::string_view name) {
  if (name.starts_with("core.") || name.starts_with("memory.")) return true;
  return std::ranges::any_of(switch_table(), [&](const SwitchInfo& row) { return row.name == name; });
}

Result<Switches> with_switch(Switches switches, std::string_view name, std::string_view value) {
  const std::vector<SwitchInfo> table = switch_table();
  const auto row = std::ranges::find(table, name, &SwitchInfo::name);
  if (row == table.end()) {
    const std::vector<std::string> near = nearest_names(name, names_of(table), 3);
    return Diagnostic{"",
                      0,
                      0,
                      "--set",
                      near.empty() ? "a switch (noteg simulate --list-switches)" : "a switch such as " + join_or(near),
                      fmt::format("\"{}\"", name.substr(0, 80))};
  }
  const auto at = std::ranges::find(row->values, value);
  if (at == row->values.end()) {
    return Diagnostic{"",
                      0,
                      0,
                      fmt::format("--set {}", name),
                      join_or(std::vector<std::string>(row->values.begin(), row->values.end())),
                      fmt::format("\"{}\"", value.substr(0, 80))};
  }
  row->set(switches, static_cast<std::size_t>(at - row->values.begin()));
  return switches;
}

std::vector<std::pair<std::string, std::string>> changed_switches(const Switches& switches) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const SwitchInfo& row : switch_table()) {
    if (const std::size_t at = row.get(switches); at != 0) out.emplace_back(row.name, row.values.at(at));
  }
  return out;
}

std::string switch_reference() {
  std::string text =
      "# Switches\n\nWith `noteg simulate --set NAME=VALUE` a limit is taken away, to see what it costs. Made from the "
      "table in\n`sim/gpu/limits/switches.cpp`, as are `--list-switches` and the messages; a test fails where it is "
      "out of "
      "date. Do not edit it by\nhand: run `NOTEG_UPDATE_GENERATED=1 test_gpu`. The first value is the default.\n\n"
      "| name | values | what the default models | what the others do |\n| --- | --- | --- | --- |\n";
  for (const SwitchInfo& row : switch_table()) {
    text +=
        fmt::format("| `{}` | `{}` | {} | {} |\n", row.name, fmt::join(row.values, "`, `"), row.sentence, row.removes);
  }
  return text;
}

}  // namespace noteg::gpu
