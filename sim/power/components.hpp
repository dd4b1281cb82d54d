// What a kernel does, counted, and what that costs: the events of one run of the whole chip to which energies belong,
// and the energy of each component. Counts are of warp instructions, operands of 32 lanes, wavefronts, bytes, and
// cycles summed over the SMs that work.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/support/units.hpp"

namespace noteg::power {

inline constexpr std::size_t opcode_count = static_cast<std::size_t>(kernels::Opcode::count_);

struct Activity {
  Seconds time;                                             // of one run
  std::array<double, opcode_count> issued{};                // warp instructions by opcode
  double active_lanes = 32;                                 // mean lanes of a warp that work
  double operands = 0, cached_operands = 0;                 // read from register banks, from the register file cache
  double data_passes = 0;                                   // wavefronts through the shared-memory and L1 data array
  Bytes data_bytes;                                         // between that array and registers
  Bytes l2_bytes;                                           // between SMs and L2, both ways
  Bytes dram_read_bytes, dram_write_bytes;                  // between L2 and DRAM
  double sm_cycles = 0;                                     // cycles of SMs that work, summed over them
  std::vector<std::pair<std::string, double>> tensor_macs;  // multiply-accumulates by form
  double moved_activity = 1;  // how much the bits of moved data change where operands are random; 1: hashed words
  double tensor_padding = 0;  // share of these that fill up partial tiles with zeros

  // The same work done `factor` times, in `factor` times the time.
  [[nodiscard]] Activity operator*(double factor) const;
};

// Where the energy of a run goes: one entry per part of the board, the same names in text, JSON and documentation.

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
