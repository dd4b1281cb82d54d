// What a kernel moves between SMs, L2 and DRAM, as the timing needs it: bytes, hit rates, which steps wait for DRAM.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "arch/spec.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

struct Traffic {
  double l2_read_bytes = 0, l2_write_bytes = 0;  // between SMs and L2, whole sectors
  double l2_lookups = 0;                         // of sectors, in all partitions of L2
  double l2_hit_rate = 0;                        // 0..1, of these
  double reads_that_arrive = 1;                  // of the sectors that SMs ask L2 for: what a TPC merges arrives once
  double reads_inside = 1, writes_inside = 1;    // of what whole tiles ask for and store: the rest is masked
  double read_beats = 1;                         // of L2's data path, over those that long pieces would take
  double write_beats = 1;          // likewise: a store of parts of sectors brings a mask for each line too
  double modified_read_bytes = 0;  // of l2_read_bytes: of what was stored before, by this launch or the one before it
  double dram_read_bytes = 0, dram_write_bytes = 0;
  double compulsory_bytes = 0;  // read by DRAM if everything came once
  double footprint_bytes = 0;   // of all operands: which part of L2 they lie in
  double result_bytes = 0;      // of what is written, once
  double sharers = 1;           // SMs or CTAs that ask L2 for a sector which is read, on average

  double found_apart = 0;      // 0..1: of L2's own time, what DRAM's comes on top of
  double waiting_steps = 0;    // 0..1: steps of CTAs that wait for DRAM in full; the others find their data in L2
  double waiting_places = 1;   // in DRAM where what such a step misses lies
  double queued_places = 1;    // of these, whose queues it waits for side by side, where a walk tells
  bool asks_again = false;     // what L2 is known to have was asked for before: it lies in the near partition
  bool waits_at_once = false;  // for these places: nothing was copied ahead, and CTAs wait for a part each of a tile
  double stream_share = 0;     // 0..1, of DRAM's bytes: in runs as long as its rows, at the rate of one long stream
  double opened_rows = 0;      // of DRAM, by reads that do not follow each other
  double c_missing = 0;        // 0..1, of the C (or of the queries) that is read: comes from DRAM

  double l1_hit_rate = 0;                     // of the sectors that loads ask for
  std::array<sm::SharedSectors, 4> shared{};  // by kernels::Matrix
  std::array<sm::BoxTraffic, 3> boxes{};      // of bulk copies
};

// What both SMs of a TPC ask for reaches L2 once if they ask at about the same time. Our H200, SMs that read 64 KB at a
// time without a barrier between them: with 0, 1/4, 1/2, 3/4 and all of it in common each SM gets 35, 37, 40, 51 and 63
// bytes per cycle.
[[nodiscard]] inline double reads_that_arrive(const arch::GpuSpec& gpu, double share) {
  return 1.0 - share * (gpu.sm.tpc.merge + gpu.sm.tpc.merge_growth * share) / 2.0;
}

// The least that Traffic::reads_that_arrive can be on a GPU, where the SMs of a TPC read the same.
[[nodiscard]] inline double least_reads_that_arrive(const arch::GpuSpec& gpu) { return reads_that_arrive(gpu, 1.0); }

// Of the lines of rows that lie in so many bytes of memory, those whose pages' addresses have to be translated anew.
[[nodiscard]] inline double untranslated(const arch::L2Spec& l2, double bytes) {
  return l2.translation_reach.value > 0 ? std::max(0.0, 1 - l2.translation_reach.value / std::max(1.0, bytes)) : 0;
}

// Beats that the translation of each line takes, over those that the bytes of a row's `piece` in it take.
[[nodiscard]] inline double translation_beats(const arch::L2Spec& l2, double piece) {
  constexpr double line = 128, read = 64;  // bytes
  return l2.translation_reads * read * std::ceil(piece / line) / piece;
}

// The traffic where nothing comes from DRAM.
[[nodiscard]] inline Traffic all_found_in_l2(Traffic traffic) {
  traffic.dram_read_bytes = traffic.waiting_steps = 0;
  return traffic;
}

// Between the traffic of SMs that get on alike and that of those which L2, `full` for that share, serves unequally.
[[nodiscard]] inline Traffic between(Traffic alike, const Traffic& apart, double full) {
  const auto mix = [&](double Traffic::*member) { alike.*member += full * (apart.*member - alike.*member); };
  for (double Traffic::*member :
       {&Traffic::dram_read_bytes, &Traffic::opened_rows, &Traffic::waiting_steps, &Traffic::waiting_places,
        &Traffic::queued_places, &Traffic::l2_lookups, &Traffic::l2_hit_rate})
    mix(member);
  return alike;
}

}  // namespace noteg::gpu
