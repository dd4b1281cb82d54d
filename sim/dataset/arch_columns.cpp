#include "sim/dataset/arch_columns.hpp"

#include <array>
#include <limits>

#include "arch/field.hpp"

namespace noteg::dataset {
namespace {

// Keys that differ between the GPUs known and that a kernel feels.
constexpr std::array keys{"sms",
                          "l2.size",
                          "l2.partitions",
                          "l2.read_bandwidth",
                          "l2.write_bandwidth",
                          "l2.sm_bandwidth",
                          "l2.latency",
                          "l2.far_latency",
                          "dram.bandwidth",
                          "dram.read_efficiency",
                          "dram.mixed_efficiency",
                          "dram.latency",
                          "dram.service",
                          "dram.granule",
                          "clock.boost",
                          "clock.sustained",
                          "launch.kernel",
                          "launch.cta_rate",
                          "power.limit",
                          "power.idle",
                          "power.leakage",
                          "power.thermal_resistance",
                          "power.voltage_floor",
                          "power.floor_clock",
                          "power.dram_byte",
                          "sm.cta_launch",
                          "sm.occupancy.max_warps",
                          "sm.occupancy.max_ctas",
                          "sm.occupancy.unified_l1_shared",
                          "sm.occupancy.max_shared_per_cta",
                          "sm.pipes.fma.lanes",
                          "sm.pipes.fma.latency",
                          "sm.memory.data_width",
                          "sm.memory.lds_latency",
                          "sm.memory.ldg_latency",
                          "sm.energy.issue",
                          "sm.energy.operand",
                          "sm.energy.fma",
                          "sm.energy.data_byte",
                          "sm.energy.l2_byte",
                          "sm.energy.clock_tree"};

double number_of(const arch::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<RunColumn> arch_columns() {
  std::vector<RunColumn> columns;
  for (const char* key : keys) {
    const std::optional<std::size_t> at = arch::find_field(key);
    if (!at) continue;
    const arch::Field& field = arch::fields()[*at];
    const std::string unit(field.kind == arch::Kind::quantity ? base_text(field.unit) : "");
    columns.push_back({{std::string("arch.") + key, unit, std::string(field.doc), Group::arch},
                       [get = field.get](const Run& run) -> Value { return number_of(get(*run.gpu)); }});
  }
  return columns;
}

}  // namespace noteg::dataset
