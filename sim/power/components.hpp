// Where the energy of a run goes: one entry per part of the board, the same names in text, JSON and documentation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "arch/spec.hpp"
#include "sim/power/activity.hpp"

namespace noteg::power {

enum class Component : std::uint8_t {
  idle,           // board without work, leakage left out
  leakage,        // grows with temperature and voltage
  clock_tree,     // of the SMs that work
  issue,          // fetch, decode, schedule
  register_file,  // banks and register file cache
  fp32,           // FP32 lanes
  other_lanes,    // integer, FP16, FP64, transcendental lanes
  tensor,
  shared_l1,  // shared memory and L1 data array, into registers and back
  l2_noc,
  dram,
  count_
};
inline constexpr std::size_t component_count = static_cast<std::size_t>(Component::count_);

[[nodiscard]] std::string_view name_of(Component component);
[[nodiscard]] std::string_view description_of(Component component);

[[nodiscard]] constexpr std::size_t at(Component component) { return static_cast<std::size_t>(component); }

using Stack = std::array<Joules, component_count>;
[[nodiscard]] Joules total(const Stack& stack);

// How much the operands' bits change from one instruction to the next: 1 random, 0 constant. The measured ends are
// h200_micro's random and steady operands.
struct Toggling {
  double activity = 1;
};

// Energy of the events alone at a supply voltage: idle and leakage, which depend on temperature, stay 0. A tensor form
// that the generation's table does not name costs nothing and is reported by unknown_forms().
[[nodiscard]] Stack event_energy(const arch::GpuSpec& gpu, const Activity& activity, Volts voltage, Toggling toggling);

[[nodiscard]] std::vector<std::string> unknown_forms(const arch::EnergySpec& energy, const Activity& activity);

}  // namespace noteg::power
