#include <algorithm>
#include <cmath>

#include "arch/read_spec.hpp"

namespace noteg::arch {

namespace {

bool multiple_of(Bytes size, Bytes unit) { return unit.value > 0 && std::fmod(size.value, unit.value) == 0; }

bool power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

bool ascending(const std::vector<Bytes>& sizes) {
  return std::adjacent_find(sizes.begin(), sizes.end(), [](Bytes a, Bytes b) { return a >= b; }) == sizes.end();
}

std::vector<Rule> chip_rules() {
  return {
      {"at most 1.5 times clock.boost",
       {"clock.sustained", "clock.boost"},
       [](const GpuSpec& g) { return g.clock.sustained <= g.clock.boost * 1.5; }},
      {"at most sms", {"gpcs", "sms"}, [](const GpuSpec& g) { return g.gpcs <= g.sms; }},
      {"at least l2.latency",
       {"l2.far_latency", "l2.latency"},
       [](const GpuSpec& g) { return g.l2.far_latency >= g.l2.latency; }},
      {"equal to l2.latency with one partition",
       {"l2.far_latency", "l2.latency", "l2.partitions"},
       [](const GpuSpec& g) { return g.l2.partitions > 1 || g.l2.far_latency <= g.l2.latency; }},
      {"more than l2.kept_below",
       {"l2.gone_above", "l2.kept_below"},
       [](const GpuSpec& g) { return g.l2.gone_above > g.l2.kept_below; }},
      {"at most l2.read_bandwidth",
       {"l2.sm_bandwidth", "l2.read_bandwidth"},
       [](const GpuSpec& g) { return g.l2.sm_bandwidth <= g.l2.read_bandwidth; }},
      {"at most dram.read_efficiency",
       {"dram.mixed_efficiency", "dram.read_efficiency"},
       [](const GpuSpec& g) { return g.dram.mixed_efficiency <= g.dram.read_efficiency; }},
      {"longer than an L2 hit at the boost clock",
       {"dram.latency", "l2.latency", "clock.boost"},
       [](const GpuSpec& g) { return g.dram.latency > g.l2.latency / g.clock.boost; }},
      {"larger than l2.size", {"dram.size", "l2.size"}, [](const GpuSpec& g) { return g.dram.size > g.l2.size; }},
      {"less than power.limit",
       {"power.idle", "power.limit"},
       [](const GpuSpec& g) { return g.power.idle < g.power.limit; }},
      {"at most power.idle",
       {"power.leakage", "power.idle"},
       [](const GpuSpec& g) { return g.power.leakage <= g.power.idle; }},
      {"above the temperature of the idle board (power.ambient + power.thermal_resistance x power.idle)",
       {"power.slowdown", "power.ambient", "power.thermal_resistance", "power.idle"},
       [](const GpuSpec& g) { return g.power.slowdown > g.power.ambient + g.power.thermal_resistance * g.power.idle; }},
      {"at most power.voltage_max",
       {"power.voltage_floor", "power.voltage_max"},
       [](const GpuSpec& g) { return g.power.voltage_floor <= g.power.voltage_max; }},
      {"less than clock.boost",
       {"power.floor_clock", "clock.boost"},
       [](const GpuSpec& g) { return g.power.floor_clock < g.clock.boost; }},
      {"longer than an L1 hit (sm.memory.ldg_latency)",
       {"l2.latency", "sm.memory.ldg_latency"},
       [](const GpuSpec& g) { return g.l2.latency > g.sm.memory.ldg_latency; }},
  };
}

std::vector<Rule> sm_rules() {
  return {
      {"32 times max_warps or less",
       {"sm.occupancy.max_threads", "sm.occupancy.max_warps"},
       [](const GpuSpec& g) { return g.sm.occupancy.max_threads <= 32 * g.sm.occupancy.max_warps; }},
      {"at most max_threads",
       {"sm.occupancy.max_threads_per_cta", "sm.occupancy.max_threads"},
       [](const GpuSpec& g) { return g.sm.occupancy.max_threads_per_cta <= g.sm.occupancy.max_threads; }},
      {"at most max_warps",
       {"sm.occupancy.max_ctas", "sm.occupancy.max_warps"},
       [](const GpuSpec& g) { return g.sm.occupancy.max_ctas <= g.sm.occupancy.max_warps; }},
      {"a multiple of sub_cores",
       {"sm.occupancy.max_warps", "sm.sub_cores"},
       [](const GpuSpec& g) { return g.sm.sub_cores > 0 && g.sm.occupancy.max_warps % g.sm.sub_cores == 0; }},
      {"at most 32 for each of sub_cores",
       {"sm.occupancy.max_warps", "sm.sub_cores"},
       [](const GpuSpec& g) { return g.sm.occupancy.max_warps <= 32 * g.sm.sub_cores; }},
      {"sizes that ascend",
       {"sm.occupancy.shared_configs"},
       [](const GpuSpec& g) { return ascending(g.sm.occupancy.shared_configs); }},
      {"no size above unified_l1_shared",
       {"sm.occupancy.shared_configs", "sm.occupancy.unified_l1_shared"},
       [](const GpuSpec& g) {
         return std::all_of(g.sm.occupancy.shared_configs.begin(), g.sm.occupancy.shared_configs.end(),
                            [&](Bytes size) { return size <= g.sm.occupancy.unified_l1_shared; });
       }},
      {"with shared_reserved_per_cta at most the largest of shared_configs",
       {"sm.occupancy.max_shared_per_cta", "sm.occupancy.shared_reserved_per_cta", "sm.occupancy.shared_configs"},
       [](const GpuSpec& g) {
         const OccupancySpec& o = g.sm.occupancy;
         return !o.shared_configs.empty() &&
                o.max_shared_per_cta + o.shared_reserved_per_cta <= o.shared_configs.back();
       }},
      {"a multiple of instruction_bytes",
       {"sm.front_end.icache_line", "sm.front_end.instruction_bytes"},
       [](const GpuSpec& g) { return multiple_of(g.sm.front_end.icache_line, g.sm.front_end.instruction_bytes); }},
      {"at most l1_icache",
       {"sm.front_end.l0_icache", "sm.front_end.l1_icache"},
       [](const GpuSpec& g) { return g.sm.front_end.l0_icache <= g.sm.front_end.l1_icache; }},
      {"a power of two",
       {"sm.memory.shared_banks"},
       [](const GpuSpec& g) { return power_of_two(g.sm.memory.shared_banks); }},
      {"at most pipes.fma.lanes",
       {"sm.pipes.fma_heavy.lanes", "sm.pipes.fma.lanes"},
       [](const GpuSpec& g) { return g.sm.pipes.fma_heavy.lanes <= g.sm.pipes.fma.lanes; }},
      {"a multiple of sector",
       {"sm.memory.l1_line", "sm.memory.sector"},
       [](const GpuSpec& g) { return multiple_of(g.sm.memory.l1_line, g.sm.memory.sector); }},
      {"false where has_async_copy is false",
       {"sm.has_tma", "sm.has_async_copy"},
       [](const GpuSpec& g) { return g.sm.has_async_copy || !g.sm.has_tma; }},
  };
}

std::vector<Rule> all_rules() {
  std::vector<Rule> all = chip_rules();
  for (Rule& rule : sm_rules()) all.push_back(std::move(rule));
  return all;
}

std::string found_text(const PartialSpec& spec, const Rule& rule) {
  std::string text, others;
  for (const std::string_view key : rule.keys) {
    const Field& field = fields()[*find_field(key)];
    const std::string value = format_value(field, field.get(spec.gpu));
    if (text.empty()) {
      text = value;
    } else {
      others += (others.empty() ? "" : ", ") + std::string(key) + " is " + value;
    }
  }
  return others.empty() ? text : text + " (" + others + ")";
}

}  // namespace

std::span<const Rule> rules() {
  static const std::vector<Rule> table = all_rules();
  return table;
}

void check_rules(const PartialSpec& spec, Diagnostics& errors) {
  for (const Rule& rule : rules()) {
    const bool readable = std::all_of(rule.keys.begin(), rule.keys.end(), [&](std::string_view key) {
      const std::optional<std::size_t> index = find_field(key);
      return index && spec.known[*index];
    });
    if (!readable || rule.holds(spec.gpu)) continue;
    const Provenance& where = spec.provenance[*find_field(rule.keys.front())];
    const bool from_set = where.file == "--set";
    errors.push_back({from_set ? "" : where.file, where.position.line, where.position.column,
                      (from_set ? "--set arch." : "") + std::string(rule.keys.front()), std::string(rule.sentence),
                      found_text(spec, rule)});
  }
}

}  // namespace noteg::arch
