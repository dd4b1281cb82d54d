// Passes of a copy to shared memory that goes through L1 (LDGSTS of 4 or 8 bytes), counted from its addresses. Law
// found on an H200 with 251 patterns of global and shared addresses; the counters of each are met exactly:
// - L1 looks tags up in four banks. Which bank a line has is the exclusive or of a value per bit of its line number.
//   Lines of different banks are looked up together, those of one bank one after the other.
// - What one look-up finds is copied word by word, each bank of L1's data and each bank of shared memory serving one
//   word per wavefront, in the order of the lanes: a word waits for all earlier ones that share either bank with it.
// Not met: more than eight lines (the look-ups are up to 35 % more), copies that find their sectors in L1.
#pragma once

#include <cstdint>

#include "kernels/access/wavefronts.hpp"
#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

struct CopyPasses {
  double lookups = 0;     // of tags
  double wavefronts = 0;  // through the data banks, all look-ups together
};

// Of one copy; `base`: byte address that the pattern's global offsets count from.
[[nodiscard]] CopyPasses copy_passes(const AccessPattern& copy, std::uint64_t base, SharedBanks banks = {},
                                     LineSizes sizes = {});

// Mean over a matrix whose rows (columns where it lies along M or N) are `pitch` bytes apart, on a line border.
[[nodiscard]] CopyPasses mean_copy_passes(const AccessPattern& copy, std::uint64_t pitch, SharedBanks banks = {},
                                          LineSizes sizes = {});

// Rows of a pattern, nominal_pitch apart, moved to `pitch`.
[[nodiscard]] AccessPattern with_pitch(const AccessPattern& copy, std::uint64_t pitch);

// A row pitch that stands for `pitch`: one of a few, so that kernels of shapes that are alike are alike.
[[nodiscard]] std::uint64_t alike_pitch(std::uint64_t pitch);

}  // namespace noteg::kernels
