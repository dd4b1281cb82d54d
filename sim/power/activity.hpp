// What a kernel does, counted: the events of one run of the whole chip to which energies belong, and how long it took.
// Counts are of warp instructions, operands of 32 lanes, wavefronts, bytes, and cycles summed over the SMs that work.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace noteg::power
