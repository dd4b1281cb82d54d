// The opcode table of compiled code: what a mnemonic does to registers that addresses and branches may need, and as
// which instruction of the IR it is timed. What is not in the table runs as a stated class, or is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/compiled/listing/instruction.hpp"
#include "kernels/compiled/listing/listing.hpp"

namespace noteg::compiled {

enum class Semantics : std::uint8_t {
  nothing,  // writes no register
  opaque,   // its results are not known: floating point, matrices
  mov,
  iadd,  // IADD3, VIADD, UIADD3
  imad,
  lea,
  lop3,
  plop3,
  shift,
  prmt,
  isetp,
  sel,
  minmax,
  add_minmax,
  iabs,
  int_to_float,
  float_to_int,
  mufu,
  fadd,
  fmul,
  ffma,
  fsetp,
  number_minmax,  // FMNMX
  number_select,  // FSEL
  number_round,   // FRND
  double_arithmetic,
  double_compare,
  convert_number,  // F2F
  check_division,  // FCHK
  half_constant,
  special_register,
  zero_or_clock,  // CS2R
  load_constant,
  load_indexed,  // LDC at an address in a register
  popc,
  find_leading_one,
  reverse_bits,
  bit_mask,
  sign_extend,
  vote,
  barrier_result,  // B2R.RESULT, of BAR.RED
  shuffle,
  match,
  reduce,
  predicates_from_register,
  register_from_predicates,
  to_uniform,
  elect,
  load_shared,
  load_global,
  load_local,
  store_shared,
  store_global,
  store_local,
  copy_to_shared,  // LDGSTS
  load_matrix,     // LDSM
  store_matrix,    // STSM
  atomic_shared,
  atomic_global,
  try_alloc,  // USETMAXREG: registers are there at once
  // The asynchronous units, emulator/async_acts.hpp; who waits finds its phase complete.
  mbarrier,    // SYNCS
  fence,       // MEMBAR
  bulk_load,   // UTMALDG, UBLKCP.S.G
  bulk_store,  // UTMASTG, UTMAREDG, UBLKCP.G.S
  cluster_arrive,
  cluster_wait,
  branch,
  branch_indexed,
  exit,
  push_convergence,
  converge,
  leave_convergence,
  move_convergence,
  call,
  ret,
  barrier,
  warp_sync
};

struct OpcodeRow {
  std::string_view base;
  Semantics semantics;
  kernels::Opcode timed_as;
};

// By base mnemonic; null: not in the table.
[[nodiscard]] const OpcodeRow* find_opcode(std::string_view base);
// What an unknown mnemonic runs as: an ALU instruction whose results are not known.
[[nodiscard]] const OpcodeRow& unknown_opcode();

// The instruction of the IR, modifiers taken into account (IMAD.WIDE, DADD ...).
[[nodiscard]] kernels::Opcode timed_as(const Instruction& in);

// Bytes per lane of a memory instruction.
[[nodiscard]] int access_bytes(const Instruction& in);

// One diagnostic for each mnemonic of the kernel that the table does not have, with its line.
[[nodiscard]] Diagnostics unknown_opcodes(const Listing& listing, const Code& code);

}  // namespace noteg::compiled
