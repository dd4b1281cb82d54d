// What L2 still has of what a compiled kernel's CTAs touch again, by groups of accesses: their different bytes, the
// room that these take, what is between two touches of them, and what is gone by then.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/compiled/traffic.hpp"
#include "sim/gpu/dram.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::compiled {

inline constexpr double sector_bytes = 32;

struct Reuse {
  const TrafficSource& source;
  Raster raster;
  double ctas = 1, live = 1;
  memory::Capacity capacity;
  memory::Spread spread;
  // What a CTA sends L2 and gets from there, by buffer: sectors, with copies in L2; lines, and those that it goes to at
  // once; bytes of the buffer; of all CTAs at one time, for each of them that goes to places of its own a sector.
  struct Passed {
    double sectors = 0, held = 0, lines = 0, lines_at_once = 0, most_bytes = 0, apart = 0;
  };
  std::vector<Passed> passed;

  [[nodiscard]] double copies(double readers) const { return memory::l2_copies(source.gpu->l2.partitions, readers); }

  // Of a place that a group reads, among n CTAs in a row. The two of a TPC read through the same partition.
  [[nodiscard]] double copies(const FootprintGroup& g, double n) const {
    const double readers = g.is_affine ? std::min(n, ctas) / std::max(1.0, raster.positions(g, n)) : g.together;
    const std::vector<Raster::Gap> gaps = raster.gaps(g);
    const bool of_neighbours = !g.is_affine || (!gaps.empty() && gaps.front().ctas <= 1);
    return copies(of_neighbours ? std::max(1.0, readers / 2) : readers);
  }

  // A group has no more bytes than its buffer, unless other CTAs go to other buffers with it.
  [[nodiscard]] double buffer_bytes(const FootprintGroup& g) const {
    constexpr double any = 1e30;
    if (g.buffer < 0) return any;
    const auto size = static_cast<double>(source.memory->buffers()[static_cast<std::size_t>(g.buffer)].bytes);
    const bool leaves =
        std::ranges::any_of(g.step, [&](std::int64_t step) { return static_cast<double>(std::abs(step)) >= size; });
    return leaves ? any : size;
  }

  // Different bytes of a group that n CTAs in a row touch.
  [[nodiscard]] double bytes(const FootprintGroup& g, double n) const {
    const double positions = raster.positions(g, n);
    const double longest = positions < n ? g.longest : 1;  // who goes furthest among those that share a place
    const double touched = g.unique_sectors * longest * sector_bytes * positions / std::min(n, g.together);
    const double size = buffer_bytes(g);
    if (g.is_affine || g.together > 1) return std::min(touched, size);
    return size * (1 - portable::exp(-touched / std::max(size, 1.0)));  // thrown in at random
  }

  // Of all groups, with the copies that partitions keep of what several SMs read.
  [[nodiscard]] double occupied(double n) const {
    double sum = 0;
    for (const FootprintGroup& g : source.footprints->groups) sum += bytes(g, n) * (g.store ? 1 : copies(g, n));
    return sum;
  }

  // Sectors at random places that L2 does not hold: those outside the part of the buffer that it keeps, with the copies
  // of its partitions. H200M, dram_random_rate: 35 MB are found again.
  [[nodiscard]] double random_reads(const FootprintGroup& g) const {
    const double held = std::min(1.0, capacity.bytes / std::max(1.0, buffer_bytes(g) * copies(g.sectors * ctas)));
    return g.unique_sectors * ctas / g.together * (1 - held);
  }

  // Each run of bytes opens a row of DRAM and brings whole granules. H200M, dram_random_rate and dram_gather_rows:
  // lines of 128 bytes at random places of 1 GiB come at 4.5 TB/s, rows of 512 bytes as fast as a stream.
  [[nodiscard]] double random_places(const FootprintGroup& g) const {
    return random_reads(g) * sector_bytes / std::max(g.run, sector_bytes);
  }
  [[nodiscard]] double random_read_bytes(const FootprintGroup& g) const {
    return random_places(g) * std::max(g.run, source.gpu->dram.granule.value);
  }

  // Stores to random places that find their sector gone: L2 keeps what came in last, of all groups, in the half of it
  // that one partition is; sums are made where their sector is, in all of it. What is found does not come in.
  [[nodiscard]] double random_stores(const FootprintGroup& g) const {
    double in_order = 0, at_random = 0;  // bytes of a CTA
    for (const FootprintGroup& each : source.footprints->groups)
      (each.is_affine ? in_order : at_random) +=
          each.unique_sectors / (each.is_affine ? 1 : each.together) * sector_bytes;
    const double sectors = g.unique_sectors / g.together;
    const double room = capacity.bytes / (g.atomic ? 1 : copies(ctas));
    double found = 1;
    for (int turn = 0; turn < 32; ++turn) {
      const double kept_ctas = room / std::max(in_order + at_random * (1 - found), 1.0);
      found = 1 - portable::exp(-sectors * sector_bytes * kept_ctas / std::max(1.0, buffer_bytes(g)));
    }
    return sectors * ctas * (1 - found);
  }

  // Of a group's bytes, those that follow each other for as long as a row of DRAM: in a CTA, or from CTA to CTA where
  // each goes on where its neighbour ends.
  [[nodiscard]] double in_long_runs(const FootprintGroup& g) const {
    if (!g.is_affine) return 0;
    double run = g.run, beside = 1;
    for (std::size_t axis = 0; axis < 3 && beside <= live; ++axis) {
      if (raster.grid[axis] < 2) continue;
      if (g.step[axis] != 0 && static_cast<double>(std::abs(g.step[axis])) > run) break;
      if (g.step[axis] != 0) run *= std::min(raster.grid[axis], live / beside);
      beside *= raster.grid[axis];
    }
    return std::min(1.0, run / gpu::dram_row_bytes);
  }

  // In which what a step misses lies, geometric mean over all that DRAM brings; gone: of what is touched for the first
  // time. CTAs that share bytes wait for a part each.
  [[nodiscard]] double waiting_places(double gone) const {
    double logarithm = 0, brought = 0;
    for (const FootprintGroup& g : source.footprints->groups) {
      if (g.store) continue;
      const double readers = live / std::max(1.0, raster.positions(g, live));
      const double missed = bytes(g, ctas) * gone + late(g);
      logarithm += missed * portable::log(std::max(1.0, g.places / readers));
      brought += missed;
    }
    return brought > 0 ? portable::exp(logarithm / brought) : 1;
  }

  // What L2 holds of n sectors that an SM asks for one after another, of all SMs: lines, whose other sectors come later
  // or never (H200M, l2_lines); of a buffer no more than there is of it, of what is read the copies of its partitions
  // as well.
  [[nodiscard]] double held(double n) const {
    constexpr double line_sectors = 4;
    double all = 0, sum = 0;
    for (const Passed& each : passed) all += each.sectors;
    for (const Passed& each : passed) {
      if (each.sectors <= 0) continue;
      const double sectors = n * each.sectors / all, at_once = each.lines_at_once * source.resident;
      const double lines = std::max(sectors / line_sectors, std::min(sectors * each.lines / each.sectors, at_once));
      const double sms = std::min<double>(source.gpu->sms, each.apart / each.sectors);
      const double bytes = lines * line_sectors * sector_bytes * sms;
      sum += std::min(bytes, each.most_bytes) * each.held / each.sectors;
    }
    return sum;
  }

  // What L2 would have to hold for all of it to be there at the end. Of what is written where it is read there is no
  // second place. What is to leave first goes before what lay there from earlier and takes no room from the rest, but
  // that what is modified has to go back before, and takes part of its room (H200M, replayed).
  [[nodiscard]] double kept() const {
    constexpr double modified = 0.6;
    struct Sum {
      double copied = 0, written = 0;
    };
    std::map<int, Sum> of_buffer;
    double all_buffers = 0;
    for (const FootprintGroup& g : source.footprints->groups) {
      if (g.goes_first && !g.store) continue;
      const double all = bytes(g, g.local ? live : ctas) * (g.goes_first ? modified : 1);
      const double held = all * (g.store ? copies(1) : copies(g, ctas));
      Sum& sum = of_buffer[g.buffer];
      (g.buffer < 0 ? all_buffers : g.store ? sum.written : sum.copied) += held;
    }
    for (const auto& [buffer, sum] : of_buffer) all_buffers += std::max(sum.copied, sum.written);
    return all_buffers;
  }

  // Bytes that DRAM brings because they are touched again too late.
  [[nodiscard]] double late(const FootprintGroup& g) const {
    double sum = 0;
    const double once = bytes(g, ctas);
    if (!g.is_affine && g.span > 0 && g.span * copies(ctas) < capacity.kept_below * capacity.bytes) return 0;
    if (!g.is_affine) return std::max(0.0, random_read_bytes(g) - once);
    for (const Raster::Gap& gap : raster.gaps(g)) {
      const double between = occupied(gap.ctas), wave = occupied(live);
      // Neighbours in this sense lie in one wave, but for those on either side of where a new one begins.
      const double same_wave = 1 - std::min(1.0, gap.ctas * (std::ceil(ctas / live) - 1) / ctas);
      const double other = gap.ctas >= live ? between : wave + (std::max(wave, between) - wave) * spread.mean();
      const double missed = same_wave * (1 - spread.retained(between, capacity)) +
                            (1 - same_wave) * (1 - memory::retained_fraction(other, capacity));
      sum += once * gap.times * missed;
    }
    return sum;
  }

  // Of all CTAs.
  [[nodiscard]] double asked_of_l2(const FootprintGroup& g) const {
    double sectors = 0;
    for (const std::size_t at : g.members) sectors += source.footprints->passed[at];
    return sectors * ctas * sector_bytes;
  }

  // Of what a launch touches, the part between the last CTA that touches a place and the first of the next launch that
  // does: what every wave reads was there a wave ago (H200M, cutlass/h200_dram.csv).
  [[nodiscard]] double since_last_launch(const FootprintGroup& g) const {
    double from_first_to_last = 0;
    for (const Raster::Gap& gap : raster.gaps(g)) from_first_to_last += gap.ctas * gap.times;
    return occupied(std::clamp(ctas - from_first_to_last, live, ctas)) / std::max(1.0, occupied(ctas));
  }

  // Of a group's bytes that the launch before touched: those that L2 has no more, where it would have to keep so much.
  // What is stored to local memory is touched again by the next warp there.
  [[nodiscard]] double gone(const FootprintGroup& g, double kept) const {
    if (g.local) return 1 - memory::retained_fraction(occupied(live), capacity);
    if (source.l2 != memory::L2State::warm || (g.goes_first && !g.store)) return 1;
    return 1 - memory::retained_fraction(kept, capacity);
  }

  // Of what comes again to L2 from its SM, what that has no more: behind all that live CTAs read and store in between.
  [[nodiscard]] double lost(const L1Behaviour& load) const {
    constexpr int points = 8;  // as far from each other as their deviation says
    double sum = 0;
    for (int i = 0; i < points; ++i) {
      const double place = std::sqrt(3.0) * (2.0 * i + 1 - points) / points;
      const double since = std::max(0.0, load.since + place * load.since_apart);
      sum += memory::retained_fraction(held(since), capacity);
    }
    return 1 - sum / points;
  }

  // Bytes of the whole launch that come again, by the instructions of a group: those that L2 has no more, and those
  // whose loads may wait for DRAM.
  struct Again {
    double lost = 0, waiting = 0;
  };
  [[nodiscard]] Again comes_again(const FootprintGroup& g) const {
    Again out;
    if (!g.is_affine || g.local) return out;  // random_read_bytes(), random_stores() and gone() tell of those
    for (const std::size_t at : g.members) {
      const L1Behaviour& load = source.footprints->loads[at];
      const double bytes = source.footprints->passed[at] * load.again * ctas * sector_bytes;
      if (bytes <= 0) continue;
      out.lost += bytes * lost(load);
      if (!load.in_l2) out.waiting += bytes;
    }
    return out;
  }

  // Loads of few bytes by many, of which DRAM brings `missed`: no access in a hundred waits for it.
  static constexpr double few = 0.01;
  [[nodiscard]] bool stays_in_l2(const FootprintGroup& g, double missed) const {
    return !g.atomic && missed < few * asked_of_l2(g);
  }
  // Nor of what its SM has asked for before, where L2 still has that.
  [[nodiscard]] bool finds_again(const FootprintGroup& g, const L1Behaviour& load) const {
    return !g.atomic && load.again > 1 - few && 1 - load.again * (1 - lost(load)) < few;
  }
};

[[nodiscard]] Reuse reuse_of(const TrafficSource& source);

}  // namespace noteg::compiled
