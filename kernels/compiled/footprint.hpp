// What a launch asks of L1, L2 and DRAM, from real addresses: which sectors loads find in the L1 of their SM, what two
// neighbouring SMs ask for together, and which bytes of each buffer which CTAs share. Addresses are affine in the CTA's
// coordinates where samples say so and others agree; accesses that are not (a gather) are sampled.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/compiled/emulator/sm_accesses.hpp"
#include "kernels/compiled/profile.hpp"
#include "kernels/compiled/program.hpp"

namespace noteg::compiled {

// Accesses of one kind to one buffer whose addresses move alike from CTA to CTA.
struct FootprintGroup {
  int buffer = -1;
  bool store = false;
  std::array<std::int64_t, 3> step{};  // bytes by which the addresses move with x, y and z of the CTA
  bool is_affine = true;
  double sectors = 0;         // asked for by one CTA, mean over the launch
  double unique_sectors = 0;  // of these, different ones in one CTA
  double run = 32;            // bytes that follow each other among those that the CTA asks for at once
  double places = 1;          // of DRAM, in which what is waited for at once lies
  double partial = 0;         // 0..1: of a store's sectors, those that its CTA leaves in part as they were
  double longest = 1;         // sectors of the CTA that touches most, over the mean
  double span = 0;      // bytes from the first to the last that CTAs at one time go to, where not affine; 0: unknown
  double together = 1;  // CTAs that follow each other go to the same sector at one time, where not affine
  bool atomic = false;
  bool local = false;                // stores to local memory: a place for each live warp, which the next takes over
  bool adds = false;                 // bulk copies that add to what lies there, so that it is read
  double turns = 1, words = 1;       // of atomic operations, for each sector that a warp goes to
  bool goes_first = false;           // all of it is to leave L2 before anything else (.EF)
  std::vector<std::size_t> members;  // instructions of the listing
};

// CTAs in their order: x first, then y, then z.
struct Raster {
  std::array<double, 3> grid{};

  // Different positions that a group's addresses take among n CTAs that follow each other.
  [[nodiscard]] double positions(const FootprintGroup& group, double n) const;

  // CTAs until the same bytes are touched again, and how often they are, for each of the axes that share them.
  struct Gap {
    double ctas = 0, times = 0;
  };
  [[nodiscard]] std::vector<Gap> gaps(const FootprintGroup& group) const;
};

struct Footprints {
  std::vector<L1Behaviour> loads;         // by instruction
  std::map<std::int32_t, L1Turns> turns;  // by instruction: loads that find little in the first turn, much in others
  std::vector<double> passed;             // by instruction: sectors of a CTA that L2 is asked for or sent
  std::vector<double> lines_at_once;      // by instruction: different lines that all warps of a CTA go to with it once
  std::vector<double> lines_of_sector;    // by instruction: that it goes to at once, for each sector
  std::vector<FootprintGroup> groups;
  double streams = 1;  // that loads which wait together read from, beyond L1, mean
  // 0..1: of what an SM asks L2 for, what does not arrive there since it merges with the same of its neighbour in the
  // TPC; and of what leaves a TPC, since it merges with that of others of the GPC while their CTAs are in lockstep.
  double merged_by_pair = 0, merged_in_gpc = 0;
};

[[nodiscard]] Footprints footprints(const Profile& profile, const Listing& listing, const Code& code,
                                    const Launch& launch, const LaunchMemory& memory, const L1Spec& l1,
                                    unsigned jobs = 1);

}  // namespace noteg::compiled
