// What a memory instruction costs, counted from its lane addresses: shared-memory wavefronts with bank conflicts,
// global sectors and cache lines. Offsets are taken relative to an operand base that is aligned to a line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// Banks of shared memory and of L1's data.
struct SharedBanks {
  static constexpr std::uint32_t most = 256;
  std::uint32_t count = 32, width = 4;  // bytes that a bank delivers in a cycle: a word
};

// What L1 is filled and looked up by, in bytes.
struct LineSizes {
  std::uint32_t sector = 32, line = 128;
};

struct GlobalCost {
  int sectors = 0;  // distinct sectors
  int lines = 0;    // distinct lines
  int bytes = 0;    // bytes that active lanes asked for, duplicates counted once
};

// Different words of the banks that the active lanes ask for.
[[nodiscard]] int distinct_words(const AccessPattern& pattern, SharedBanks banks = {});
// Places where active lanes begin; at least one.
[[nodiscard]] int distinct_addresses(const AccessPattern& pattern);

// Wavefronts in the banks. Rule (32 banks of 4 bytes, measured on an H200 with 21 address patterns, and the counters of
// blocked and CUTLASS kernels there): 4-byte accesses are served for 32 lanes at once, 8-byte ones per half warp,
// 16-byte ones per quarter warp; two neighbouring parts are served together when every lane i of the warp has the
// address of lane i^1, or every lane that of i^2 (one half of a warp this way and the other that way do not merge).
// 16-byte accesses never merge across half warps. Within a part, each bank serves one word per wavefront. For a copy to
// shared memory (LDGSTS) pass shared_side().
[[nodiscard]] int shared_wavefronts(const AccessPattern& pattern, SharedBanks banks = {});

// Passes of a global load through L1's data banks where it finds its lines there: the same banks, whole
// warps, half warps and quarter warps as for shared memory, but parts are never served together (measured on an H200
// with 28 patterns for each width: LDG.64 of 16 addresses 16 bytes apart, the same in both half warps, 4.0 cycles where
// LDG.64 of 8 such takes 2.0; one address for all lanes 1.0, 2.0 and 4.0 cycles for 4, 8 and 16 bytes).
[[nodiscard]] int l1_wavefronts(const AccessPattern& pattern, SharedBanks banks = {});

// The shared-memory half of a global-to-shared copy, as a store pattern.
[[nodiscard]] AccessPattern shared_side(const AccessPattern& copy);

[[nodiscard]] GlobalCost global_cost(const AccessPattern& pattern, LineSizes sizes = {});

// Lines of which a store fills a sector in part.
[[nodiscard]] int masked_lines(const AccessPattern& store, LineSizes sizes = {});

// What a copy to shared memory asks L2 for. Where it passes L1 by (16 bytes a lane), a request is of sectors of one
// line of memory that go to one line of shared memory, and each of them goes to one sector there: a sector whose halves
// go to two comes twice (H100M, copy_twice: rows of 64 to 256 bytes, 16 more than a multiple of 32 apart, bring 1.5
// times their sectors; copy_requests: a copy of one SM takes a cycle for each request, 4 for four rows of 128
// bytes, 10.5 where they are 144 apart, 15 for eight rows of 64 bytes 80 apart).
struct CopyRequests {
  int requests = 0;
  int sectors = 0;  // that come to the SM
  int whole = 0;    // of these, from lines that one request is enough for
  int at_l2 = 0;    // that L2 is asked for: requests of one copy for the same sectors are one there
};
[[nodiscard]] CopyRequests copy_requests(const AccessPattern& copy, LineSizes sizes = {});

// Passes of a copy to shared memory that goes through L1 (LDGSTS of 4 or 8 bytes), counted from its addresses. Law
// found on an H200 with 251 patterns of global and shared addresses; the counters of each are met exactly:
// - L1 looks tags up in four banks. Which bank a line has is the exclusive or of a value per bit of its line number.
//   Lines of different banks are looked up together, those of one bank one after the other.
// - What one look-up finds is copied word by word, each bank of L1's data and each bank of shared memory serving one
//   word per wavefront, in the order of the lanes: a word waits for all earlier ones that share either bank with it.
// Not met: more than eight lines (the look-ups are up to 35 % more), copies that find their sectors in L1.

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

// The other way round from lane_expression.hpp: an expression over `lane` that gives 32 offsets.

// The shortest form found among constants, sums of quotients and remainders of the lane (as tiles of rows and columns
// give), and the same with single bits exclusive-ored (as swizzles give); otherwise all 32 offsets in brackets.
[[nodiscard]] std::string lane_form(const std::array<std::uint32_t, 32>& offset);

// Integer expressions over the lane number, as address patterns are written in assembly files.

// Value for one lane; nothing if the text is not an expression or divides by zero.
// Operators in rising precedence: ^, &, + -, * / %. Numbers in decimal or 0x hexadecimal; `lane` is 0..31.
[[nodiscard]] std::optional<std::int64_t> evaluate_lane_expression(std::string_view text, std::int64_t lane);

}  // namespace noteg::kernels
