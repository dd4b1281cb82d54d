// One machine instruction as a listing shows it: where it stands, its words, mnemonic, operands and control bits.
// Text comes from a disassembler; control bits come from the 128-bit word. Nothing here knows what it does.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ir/ir.hpp"

namespace noteg::compiled {

enum class Kind : std::uint8_t {
  none,
  reg,
  ureg,
  pred,
  upred,
  barrier,  // B0 of BSSY
  integer,  // immediate, also of floating-point text (its bits as binary32)
  constant,
  special,
  memory,
  label,
  other  // text that no rule reads; kept for the report
};

inline constexpr int zero_register = 255;  // RZ, URZ
inline constexpr int true_predicate = 7;   // PT, UPT

struct Operand {
  Kind kind = Kind::none;
  std::int16_t index = -1;  // register, predicate, barrier; constants: bank; special: SpecialRegister
  bool negated = false;     // -R, also !P
  bool absolute = false;    // |R|
  bool inverted = false;    // ~R
  bool reuse = false;
  bool wide = false;             // .64: a pair
  bool is_float = false;         // an immediate that was written as a floating-point number
  std::uint8_t scale = 1;        // R5.X4
  std::int16_t uniform = -1;     // memory: [R2+UR4]; constants: c[0x0][UR4]; -1 none
  std::int16_t descriptor = -1;  // memory: desc[UR4]
  std::int64_t value = 0;        // immediate, offset, target of a label
  std::string_view text;         // as written, into the listing

  // An immediate of a floating-point instruction, which may be written as an integer: FMUL R0, R0, -2.
  [[nodiscard]] double number() const {
    return is_float ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value)))
                    : static_cast<double>(value);
  }
};

// What S2R reads.
enum class Special : std::int16_t {
  tid_x,
  tid_y,
  tid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  ntid_x,
  lane_id,
  warp_id,
  cga_cta_id,
  lane_mask_lt,
  lane_mask_le,
  lane_mask_gt,
  lane_mask_ge,
  lane_mask_eq,
  clock,
  zero,
  shared_window,  // upper half of generic addresses of shared memory
  unknown
};

// What rules ask for behind the dots of a mnemonic, in order.
inline constexpr auto known_modifiers = std::to_array<std::string_view>(
    {"128",    "2",    "2D",        "32",       "3D",    "4",   "4D",     "5D",       "64",   "A0T1", "A0TR",
     "A0TX",   "A1T0", "ADD",       "ALL",      "AND",   "ANY", "ARRIVE", "ART0",     "ARV",  "B1",   "BF16",
     "BYPASS", "CAS",  "CAST",      "CEIL",     "CTA",   "DEC", "DEPBAR", "DIV",      "DOWN", "EF",   "EQ",
     "EQU",    "EX",   "EXCH",      "F16",      "F32",   "F64", "FLOOR",  "G.S",      "GE",   "GEU",  "GT",
     "GTU",    "HI",   "IDX",       "INC",      "IVALL", "L",   "LE",     "LEU",      "LT",   "LTU",  "MAX",
     "MIN",    "MMA",  "MULTICAST", "NE",       "NEU",   "OR",  "PAND",   "PHASECHK", "POPC", "RED",  "RELU",
     "RESULT", "RM",   "RP",        "RZ",       "S16",   "S32", "S64",    "S8",       "SH",   "SM",   "STRONG",
     "SUM",    "SX32", "T",         "TRANSCNT", "TRUNC", "U16", "U24",    "U32",      "U64",  "U8",   "UP",
     "W",      "WIDE", "X",         "XOR"});

static_assert(std::ranges::is_sorted(known_modifiers));

// Its place among them; their number where it is none of them.
[[nodiscard]] constexpr std::size_t place_of_modifier(std::string_view name) {
  const auto at = std::ranges::lower_bound(known_modifiers, name);
  return at != known_modifiers.end() && *at == name ? static_cast<std::size_t>(at - known_modifiers.begin())
                                                    : known_modifiers.size();
}

// One of them, by its place; a name that is not among them does not compile.
struct Modifier {
  consteval Modifier(const char* name)  // NOLINT(google-explicit-constructor): has("WIDE") is what a listing says
      : place(place_of_modifier(name)) {
    if (place == known_modifiers.size()) throw "not among known_modifiers";
  }
  std::size_t place;
};

struct Instruction {
  std::uint32_t address = 0;  // in its section
  std::uint64_t low = 0, high = 0;
  std::string_view text;       // with its guard, without hexadecimal words and semicolon
  std::string_view base;       // IMAD
  std::string_view modifiers;  // .WIDE.U32, with the leading dot; empty where there are none
  std::int8_t guard = -1;      // predicate, -1 always
  bool guard_negated = false;
  bool guard_uniform = false;
  std::uint8_t operands = 0;
  std::array<Operand, 9> operand{};
  kernels::Control control;
  std::int32_t line = 0;          // in the listing
  std::int32_t source_line = 0;   // in the CUDA source, 0 unknown
  std::int16_t source_file = -1;  // Listing::sources

  std::bitset<known_modifiers.size()> known;  // which of known_modifiers stand there

  [[nodiscard]] bool has(Modifier modifier) const { return known[modifier.place]; }
};

// Stall, yield, dependence counters and wait mask: bits 105 to 121 of the word (MICRO25, section 3).
[[nodiscard]] kernels::Control control_bits(std::uint64_t high);

}  // namespace noteg::compiled
