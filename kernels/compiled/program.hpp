// From the ways that the warps of a CTA take to the IR: a role for each way, loops as backward branches, control bits
// as they stand in the listing, address patterns from the emulation.
#pragma once

#include <map>
#include <vector>

#include "kernels/compiled/profile.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/support/result.hpp"

namespace noteg::compiled {

inline constexpr std::size_t most_program_code = 200'000;  // instructions of a program, loops once
inline constexpr std::size_t most_loops = 32'000;          // of a program
inline constexpr int most_nested_loops = 16;               // a warp of the SM counts the iterations of each

// What the timing knows of a global load beside its addresses.
struct L1Behaviour {
  double hit_rate = 0;  // of its sectors
  double whole = 0;     // likewise, of accesses that find all of theirs: the others wait for L2 with what is missing
  double joined = 0;    // of those that it finds, what a neighbour asked for in the same turn: still on their way
  double again = 0;     // of what it asks L2 for, or a store sends there, what its SM has before
  double since = 0, since_apart = 0;  // sectors that the SM sent there or got since: mean, standard deviation
  bool in_l2 = false;                 // L2 has what L1 does not, nearly always

  // It waits with who asked for them.
  [[nodiscard]] bool joins() const { return joined > 0.5; }
};

// A load within loops of a loop: what the first turn of the outer loop brings the others may find.
struct L1Turns {
  double first_share = 0;  // of its sectors, those of the first turn
  L1Behaviour first, later;
};

// Loads that fare alike in L1 share their turns: a finds all there, b most or all of it on its way, c a part, none
// nothing.
[[nodiscard]] kernels::Matrix l1_class(const L1Behaviour& load);

struct TimedProgram {
  kernels::Program program;
  std::vector<std::int32_t> origin;  // of each instruction of the program: its index in the listing, -1 none
};

// `loads`: by instruction of the listing. `turns`: those whose loop has its first turn apart. Error: ways that are too
// long where they do not repeat, or that hold too many loops.
[[nodiscard]] Result<TimedProgram> program_of(const Profile& profile, const CtaClass& cta, const Launch& launch,
                                              const std::vector<L1Behaviour>& loads,
                                              const std::map<std::int32_t, L1Turns>& turns = {});

}  // namespace noteg::compiled
