// What a unit did, as tracks of slices that do not overlap: where a unit works for several instructions at a time, it
// gets as many tracks as that takes.
#pragma once

#include <cstdint>
#include <vector>

namespace noteg::trace {

struct Slice {
  std::uint64_t from = 0, until = 0;
  std::int32_t pc = 0;
  std::uint16_t warp = 0;
  std::uint64_t ready = 0;
  std::size_t lane = 0;
};

// Puts each slice on the first lane that is free when it begins; slices come out in order of their beginnings. Returns
// the number of lanes.
std::size_t deal_lanes(std::vector<Slice>& slices);

}  // namespace noteg::trace
