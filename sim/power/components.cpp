#include "sim/power/components.hpp"

#include <algorithm>

namespace noteg::power {

Activity Activity::operator*(double factor) const {
  Activity scaled = *this;
  scaled.time = time * factor;
  for (double& count : scaled.issued) count *= factor;
  scaled.operands *= factor;
  scaled.cached_operands *= factor;
  scaled.data_passes *= factor;
  scaled.data_bytes = data_bytes * factor;
  scaled.l2_bytes = l2_bytes * factor;
  scaled.dram_read_bytes = dram_read_bytes * factor;
  scaled.dram_write_bytes = dram_write_bytes * factor;
  scaled.sm_cycles *= factor;
  for (auto& [form, macs] : scaled.tensor_macs) macs *= factor;
  return scaled;
}

namespace {

struct Described {
  std::string_view name, description;
};

constexpr std::array<Described, component_count> described{{
    {"idle", "board without work, leakage left out"},
    {"leakage", "leakage of the chip at its temperature and voltage"},
    {"clock_tree", "clock trees of the SMs that work"},
    {"issue", "fetch, decode and scheduling of warp instructions"},
    {"register_file", "operands from register banks and from the register file cache"},
    {"fp32", "FP32 lanes"},
    {"other_lanes", "integer, FP16, FP64 and transcendental lanes"},
    {"tensor", "tensor cores"},
    {"shared_l1", "shared memory and L1, into registers and back"},
    {"l2_noc", "L2 and the network to it"},
    {"dram", "DRAM, its bus and controllers"},
}};

constexpr double warp_lanes = 32;

// Rows beyond the matrix are zeros, what they are multiplied with changes. H200M: bf16 GEMMs of 8192 cubed draw 402 W
// where all is zero, 497 where all of A is, 509, 564 and 609 where 1, 8 and 16 of each 64 rows of A are not, and would
// draw 960 at the same clock where none is; most of the 95 W is B on its way to the SMs.
constexpr double padding_toggling = 0.1;

// Share of an energy at an activity between constant and random data.
double moving(double share, double activity) { return share + (1.0 - share) * std::clamp(activity, 0.0, 1.0); }

// Which lanes an instruction uses, and what one costs.
struct LaneCost {
  Component component = Component::other_lanes;
  Joules energy;
};

LaneCost lane_cost(const arch::EnergySpec& e, kernels::Unit unit) {
  using kernels::Unit;
  switch (unit) {
    case Unit::fma: return {Component::fp32, e.fma};
    case Unit::fma_heavy:
    case Unit::alu: return {Component::other_lanes, e.alu};
    case Unit::half: return {Component::other_lanes, e.half};
    case Unit::mufu: return {Component::other_lanes, e.mufu};
    case Unit::fp64: return {Component::other_lanes, e.fp64};
    case Unit::uniform:  // one lane for the warp: within what issuing costs
    case Unit::memory:   // addresses are within what a pass of the data array costs
    case Unit::tensor:   // counted by multiply-accumulates
    case Unit::branch:
    case Unit::barrier:
    case Unit::control: return {};
  }
  return {};
}

}  // namespace

std::string_view name_of(Component component) { return described[at(component)].name; }
std::string_view description_of(Component component) { return described[at(component)].description; }

Joules total(const Stack& stack) {
  Joules sum;
  for (const Joules part : stack) sum += part;
  return sum;
}

Stack event_energy(const arch::GpuSpec& gpu, const Activity& a, Volts voltage, Toggling toggling) {
  const arch::EnergySpec& e = gpu.sm.energy;
  const double square = voltage.value * voltage.value;  // energies are stated at 1 V; charge times voltage
  const double lanes = moving(e.static_operands, toggling.activity) * square;
  const double data = moving(e.static_data, toggling.activity * a.moved_activity);
  Stack out{};
  double instructions = 0;
  for (std::size_t i = 0; i < opcode_count; ++i) {
    instructions += a.issued[i];
    const LaneCost lane = lane_cost(e, kernels::opcode_info(static_cast<kernels::Opcode>(i)).unit);
    out[at(lane.component)] += lane.energy * (a.issued[i] * a.active_lanes * lanes);
  }
  out[at(Component::issue)] = e.issue * (instructions * square);
  out[at(Component::register_file)] =
      (e.operand * a.operands + e.cached_operand * a.cached_operands) * (a.active_lanes / warp_lanes * lanes);
  out[at(Component::shared_l1)] = (e.data_pass * a.data_passes + e.data_byte * a.data_bytes.value) * (data * square);
  out[at(Component::l2_noc)] = e.l2_byte * (a.l2_bytes.value * data * square);
  out[at(Component::clock_tree)] = e.clock_tree * (a.sm_cycles * square);
  out[at(Component::dram)] =
      (gpu.power.dram_byte * a.dram_read_bytes.value + gpu.power.dram_write_byte * a.dram_write_bytes.value) * data;
  const double padded = moving(e.static_tensor, toggling.activity * padding_toggling);
  const double tensor = moving(e.static_tensor, toggling.activity) * (1 - a.tensor_padding) + padded * a.tensor_padding;
  for (const auto& [form, macs] : a.tensor_macs) {
    const auto found = std::ranges::find(e.tensor, form, &arch::NamedEnergy::name);
    if (found != e.tensor.end()) out[at(Component::tensor)] += found->energy * (macs * tensor * square);
  }
  return out;
}

std::vector<std::string> unknown_forms(const arch::EnergySpec& energy, const Activity& activity) {
  std::vector<std::string> unknown;
  for (const auto& [form, macs] : activity.tensor_macs) {
    if (std::ranges::find(energy.tensor, form, &arch::NamedEnergy::name) == energy.tensor.end())
      unknown.push_back(form);
  }
  return unknown;
}

}  // namespace noteg::power
