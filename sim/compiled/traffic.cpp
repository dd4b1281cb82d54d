#include "sim/compiled/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/gpu/dram.hpp"
#include "sim/memory/l2_lookups.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::compiled {
namespace {

constexpr double sector_bytes = 32;
// Rows that a store to a random place opens, over a read's: written back, and where it does not fill its sector, that
// is read before. H200M, l2_partial_stores: over 1 GiB 35 and 60 ps for each, 22.7 for each read.
constexpr double whole_sector_rows = 1.55, filled_sector_rows = 1.05;

struct Reuse {
  const TrafficSource& source;
  Raster raster;
  double ctas = 1, live = 1;
  memory::Capacity capacity;
  memory::Spread spread;
  // What a CTA sends L2 and gets from there, by buffer: sectors, with copies in L2; lines, and
  // those that it goes to at once; bytes of the buffer.
  struct Passed {
    double sectors = 0, held = 0, lines = 0, lines_at_once = 0, most_bytes = 0;
  };
  std::vector<Passed> passed;

  [[nodiscard]] double copies(double readers) const { return memory::l2_copies(source.gpu->l2.partitions, readers); }

  [[nodiscard]] double buffer_bytes(const FootprintGroup& g) const {
    return g.buffer < 0 ? 1e30
                        : static_cast<double>(source.memory->buffers()[static_cast<std::size_t>(g.buffer)].bytes);
  }

  // Different bytes of a group that n CTAs in a row touch.
  [[nodiscard]] double bytes(const FootprintGroup& g, double n) const {
    const double positions = raster.positions(g, n);
    const double longest = positions < n ? g.longest : 1;  // who goes furthest among those that share a place
    const double touched = g.unique_sectors * longest * sector_bytes * positions / std::min(n, g.together);
    const double size = buffer_bytes(g);
    if (g.is_affine) return std::min(touched, size);
    return size * (1 - portable::exp(-touched / std::max(size, 1.0)));  // thrown in at random
  }

  // Of all groups, with the copies that partitions keep of what several SMs read.
  [[nodiscard]] double occupied(double n) const {
    double sum = 0;
    for (const FootprintGroup& g : source.footprints->groups) {
      const double readers = std::min(n, ctas) / std::max(1.0, raster.positions(g, n));
      sum += bytes(g, n) * (g.store ? 1 : copies(readers));
    }
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
  // that one partition is.
  [[nodiscard]] double random_stores(const FootprintGroup& g) const {
    double inserted = 0;  // bytes of a CTA
    for (const FootprintGroup& each : source.footprints->groups)
      inserted += each.unique_sectors / (each.is_affine ? 1 : each.together) * sector_bytes;
    const double kept_ctas = capacity.bytes / copies(ctas) / std::max(inserted, 1.0);
    const double sectors = g.unique_sectors / g.together;
    const double found = 1 - portable::exp(-sectors * sector_bytes * kept_ctas / std::max(1.0, buffer_bytes(g)));
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
    const double active = std::min<double>(source.gpu->sms, ctas);
    double all = 0, sum = 0;
    for (const Passed& each : passed) all += each.sectors;
    for (const Passed& each : passed) {
      if (each.sectors <= 0) continue;
      const double sectors = n * each.sectors / all, at_once = each.lines_at_once * source.resident;
      const double lines = std::max(sectors / line_sectors, std::min(sectors * each.lines / each.sectors, at_once));
      const double bytes = lines * line_sectors * sector_bytes * active;
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
      const double held = all * copies(g.store ? 1 : ctas / std::max(1.0, raster.positions(g, ctas)));
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

Reuse reuse_of(const TrafficSource& source) {
  const arch::GpuSpec& gpu = *source.gpu;
  const Launch& launch = *source.launch;
  Reuse out{source, {}, static_cast<double>(launch.ctas()), 1, memory::capacity_of(gpu.l2), {}, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) out.raster.grid[axis] = static_cast<double>(launch.grid[axis]);
  out.live = std::min(out.ctas, static_cast<double>(source.resident) * gpu.sms);
  const double drift = memory::drift_per_wave(gpu.sm, source.resident * launch.warps(), source.loads_ahead);
  out.spread = {out.ctas > out.live ? drift : 0.0, out.ctas / out.live};
  std::map<int, Reuse::Passed> of_buffer;
  for (const FootprintGroup& g : source.footprints->groups) {
    Reuse::Passed& passed = of_buffer[g.buffer];
    passed.most_bytes = out.buffer_bytes(g);
    for (const std::size_t at : g.members) {
      passed.sectors += source.footprints->passed[at];
      passed.lines += source.footprints->passed[at] * source.footprints->lines_of_sector[at];
      passed.lines_at_once += source.footprints->lines_at_once[at];
      passed.held += source.footprints->passed[at] * (g.store ? 1 : out.copies(1));
    }
  }
  for (const auto& [buffer, passed] : of_buffer) out.passed.push_back(passed);
  return out;
}

}  // namespace

// What the SMs of a TPC copy in bulk merges whole (h100_sm_micro, gpc_merge). That TPCs of a GPC merge what they copy
// in step is left out: CTAs that multiply are not, but for short ones that start together.
double sectors_that_arrive(const TrafficSource& source) {
  const double shared = source.footprints->shared_by_pair;
  const double loads = 1 - source.whole_share * (1 - gpu::reads_that_arrive(*source.gpu, shared));
  return loads + source.bulk_share * (1 - shared / 2 - loads);
}

// N groups of addresses keep units * N / (N + units) of the units busy: few groups one each, and many collide. H200M,
// l2_atomics: words at random in 1, 4, 16, 64, 256 KB and 16 MB at 2.6, 10.5, 32, 66, 92 and 104 per ns. Answers take
// 1.35 times as long where all units work (77 words, 56 sectors of lines per ns). A unit takes each turn of a sector in
// one step, two doubles of it in one; a sum of floating-point numbers is there for the next turn of its sector some
// steps later.
Seconds atomic_time(const TrafficSource& source, const AtomicForm& form) {
  constexpr double answer = 1.35;
  const arch::L2Spec& l2 = source.gpu->l2;
  const double units = l2.atomic_units / (form.answers ? answer : 1.0);
  const Reuse reuse = reuse_of(source);
  const bool halves = form.is_float && form.bytes_per_lane > 4;
  Seconds busy{}, longest{};
  for (const FootprintGroup& g : source.footprints->groups) {
    if (!g.atomic) continue;
    const double touched =
        g.is_affine ? g.unique_sectors * reuse.raster.positions(g, reuse.ctas) : g.sectors * reuse.ctas;
    const double places = std::max(1.0, std::min(reuse.buffer_bytes(g) / sector_bytes, touched));
    const double blocks = places * sector_bytes / l2.atomic_interleave.value;
    const double groups = std::clamp(2 * blocks, 1.0, std::max(2.0, blocks));  // two units share a pair of blocks
    const double turns = g.sectors * reuse.ctas * g.turns, steps = halves ? std::max(1.0, g.words / 2) : 1;
    busy = busy + l2.atomic_interval * (turns * steps * (groups + units) / (groups * units));
    const Seconds each = form.is_float ? l2.atomic_sum + l2.atomic_interval * (steps - 1) : l2.atomic_interval;
    longest = std::max(longest, each * (turns / places));
  }
  return std::max(busy, longest);
}

void find_loads_in_l2(const TrafficSource& source, Footprints& footprints) {
  const Reuse reuse = reuse_of(source);
  const double kept = reuse.kept();
  for (const FootprintGroup& g : footprints.groups) {
    if (g.store) continue;
    const double missed = reuse.bytes(g, reuse.ctas) * reuse.gone(g, kept) + reuse.late(g) + reuse.comes_again(g).lost;
    for (const std::size_t at : g.members)
      footprints.loads[at].in_l2 = reuse.stays_in_l2(g, missed) || reuse.finds_again(g, footprints.loads[at]);
  }
}

gpu::Traffic traffic_of(const TrafficSource& source) {
  const arch::GpuSpec& gpu = *source.gpu;
  const Reuse reuse = reuse_of(source);

  gpu::Traffic out;
  // Of what was there before: L2 has it no more.
  const double kept = reuse.kept();
  double once = 0, late = 0, in_waves = 0, again = 0, written = 0, scattered = 0, filled = 0;
  double once_gone = 0, written_gone = 0, rewritten = 0;
  for (const FootprintGroup& g : source.footprints->groups) {
    const double bytes = g.local ? reuse.asked_of_l2(g) : reuse.bytes(g, reuse.ctas);
    const double gone = reuse.gone(g, kept);
    const Reuse::Again comes = reuse.comes_again(g);
    if (g.store) {
      rewritten += comes.lost;
      // A store to a random place goes back as a sector of its own once L2 needs the room.
      if (!g.is_affine) scattered += std::max(0.0, reuse.random_stores(g) * sector_bytes - bytes);
      if (!g.is_affine) filled += g.partial * reuse.random_stores(g) * sector_bytes;
      if (g.adds && g.is_affine) filled += bytes * gone;
      written += bytes;
      written_gone += bytes * gone;
      continue;
    }
    once += bytes;
    once_gone += bytes * gone;
    const double behind = reuse.late(g);
    late += behind + comes.lost;
    again += comes.waiting;
    if (!reuse.stays_in_l2(g, bytes * gone + behind + comes.lost))
      in_waves += reuse.bytes(g, reuse.live) * reuse.ctas / reuse.live;
  }
  double random = 0, random_bytes = 0, streams = 0, all = 0;
  for (const FootprintGroup& g : source.footprints->groups) {
    const double bytes = reuse.bytes(g, reuse.ctas);
    streams += bytes * reuse.in_long_runs(g);
    all += bytes;
    if (!g.is_affine && !g.store && reuse.late(g) > 0) {
      random += reuse.random_places(g);
      random_bytes += reuse.random_read_bytes(g);
    }
    if (!g.is_affine && g.store) {
      const double sectors = reuse.random_stores(g);
      const double places = sectors * sector_bytes / std::max(g.run, sector_bytes);
      random += places * (whole_sector_rows + g.partial * filled_sector_rows);
      random_bytes += sectors * sector_bytes;
    }
  }
  out.stream_share = all > 0 ? streams / all : 0;
  out.l2_read_bytes = source.missed_sectors * sector_bytes;
  out.l2_write_bytes = source.stored_sectors * sector_bytes;
  // L2 delivers sectors by pairs: one of 64 bytes alone takes the time of both (H200M, dram_random_rate: 67 million
  // words at random places of 32 MiB take 480 us, 8.9 TB/s of pairs).
  const double arriving = sectors_that_arrive(source);
  out.reads_that_arrive = arriving * source.pairs_per_sector;
  // A store that fills sectors of a line in part sends a mask before them.
  if (source.stored_sectors > 0) out.write_beats = 1 + gpu.l2.store_mask * source.masked_lines / source.stored_sectors;
  out.compulsory_bytes = once;
  out.result_bytes = written;
  out.footprint_bytes = once + written;
  out.dram_read_bytes = std::min(once_gone + late, std::max(out.l2_read_bytes, once_gone)) + filled;
  // Of a buffer that is both read and stored to, as much as is stored comes back modified.
  struct Sectors {  // of a CTA
    double read = 0, stored = 0;
  };
  std::map<int, Sectors> of_buffer;
  for (const FootprintGroup& g : source.footprints->groups)
    if (g.buffer >= 0) (g.store ? of_buffer[g.buffer].stored : of_buffer[g.buffer].read) += g.sectors;
  for (const auto& [buffer, sectors] : of_buffer)
    out.modified_read_bytes += std::min(sectors.read, sectors.stored) * reuse.ctas * sector_bytes;
  out.modified_read_bytes *= 1 - std::min(1.0, out.dram_read_bytes / std::max(1.0, out.l2_read_bytes));
  // What L2 holds at the end is a mix of what came in last, as far as it surely keeps it (l2.kept_below).
  const double came = kept + late;
  const double stays = came > 0 ? std::min(1.0, reuse.capacity.kept_below * reuse.capacity.bytes / came) : 1;
  out.dram_write_bytes =
      (source.l2 == memory::L2State::warm ? written_gone : written * (1 - stays)) + scattered + rewritten;
  // Misses whose place something modified has to leave first hold up what L2 has: then DRAM's time comes on top of the
  // rest (H200M, replayed: streams of which a third or more is written, not such as are only read).
  const double left = written_gone / std::max(1.0, once_gone + written_gone);
  if (once > 0) out.found_apart = (1 - once_gone / once) * std::min(1.0, 3 * left);
  // Rows that are opened for random places, and what else passes in the same channels meanwhile.
  if (random > 0) {
    const double rest = std::max(0.0, out.dram_read_bytes + out.dram_write_bytes - random_bytes);
    const double bandwidth = gpu::dram_bandwidth(gpu.dram, out).value;
    out.opened_rows = random + rest / bandwidth * gpu::dram_rows_per_second(gpu.dram);
  }
  // A step waits for DRAM where any of its streams does. What was there before and is gone went together.
  const double missing = std::clamp(out.dram_read_bytes / std::max(in_waves + again, 1.0), 0.0, 1.0);
  const double apart = once_gone < once ? 1 : source.footprints->streams;
  if (in_waves > 0) out.waiting_steps = 1 - portable::pow(1 - missing, apart);
  if (out.waiting_steps < 0.005) out.waiting_steps = 0;
  out.waiting_places = reuse.waiting_places(once > 0 ? once_gone / once : 1);
  // Who copies ahead takes what comes late as it comes: the next copies are on their way meanwhile.
  out.waits_at_once = !source.loads_ahead;
  out.asks_again = true;
  if (out.waits_at_once) out.queued_places = out.waiting_places;
  out.sharers = once > 0 ? std::max(1.0, source.missed_sectors * sector_bytes / once) : 1;

  memory::L2Traffic l2;
  l2.read_sectors = source.missed_sectors * arriving;
  l2.write_sectors = source.stored_sectors;
  l2.dram_read_sectors = out.dram_read_bytes / sector_bytes;
  l2.sharers = once > 0 ? std::max(1.0, source.asked_sectors * sector_bytes / once) : 1;
  l2.partitions = gpu.l2.partitions;
  const memory::L2Lookups lookups = memory::l2_lookups(l2);
  out.l2_lookups = lookups.lookups;
  out.l2_hit_rate = lookups.hit_rate();
  return out;
}

}  // namespace noteg::compiled
