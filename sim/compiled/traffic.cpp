#include "sim/compiled/traffic.hpp"

#include <algorithm>
#include <map>

#include "sim/compiled/l2_reuse.hpp"
#include "sim/gpu/dram.hpp"
#include "sim/memory/l2_lookups.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::compiled {
namespace {

// Rows that a store to a random place opens, over a read's: written back, and where it does not fill its sector, that
// is read before. H200M, l2_partial_stores: over 1 GiB 35 and 60 ps for each, 22.7 for each read.
constexpr double whole_sector_rows = 1.55, filled_sector_rows = 1.05;

}  // namespace

// What the SMs of a TPC copy in bulk merges whole, and what TPCs of a GPC copy in lockstep two by two (h100_sm_micro,
// gpc_merge). CTAs that start together are in lockstep for 60 steps of 32 KB (bulk_steps: where L2 binds; where it does
// not it does not matter); those that follow them go wherever one has ended.
double sectors_that_arrive(const TrafficSource& source) {
  const Footprints& prints = *source.footprints;
  const double loads = 1 - source.whole_share * (1 - gpu::reads_that_arrive(*source.gpu, 2 * prints.merged_by_pair));
  const double at_once = static_cast<double>(source.resident) * source.gpu->sms;
  const auto ctas = static_cast<double>(source.launch->ctas());
  constexpr double lockstep = 60 * 32768;  // bytes of an SM
  const double copied =
      source.bulk_share * source.missed_sectors * sector_bytes / std::min<double>(source.gpu->sms, ctas);
  const double in_lockstep = std::min({1.0, at_once / ctas, lockstep / std::max(1.0, copied)});
  const double bulk = (1 - prints.merged_by_pair) * (1 - in_lockstep * prints.merged_in_gpc);
  return loads + source.bulk_share * (bulk - loads);
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
  // Warps are at any of the instructions: all that these touch keeps units busy.
  struct OfBuffer {
    double size = 0, touched = 0;  // sectors
  };
  std::map<int, OfBuffer> buffers;
  double all_turns = 0;
  Seconds longest{};
  for (const FootprintGroup& g : source.footprints->groups) {
    if (!g.atomic) continue;
    const double touched =
        g.is_affine ? g.unique_sectors * reuse.raster.positions(g, reuse.ctas) : g.sectors * reuse.ctas;
    const double size = reuse.buffer_bytes(g) / sector_bytes, places = std::max(1.0, std::min(size, touched));
    OfBuffer& buffer = buffers[g.buffer];
    buffer.size = std::max(buffer.size, size);
    buffer.touched += touched;
    const double turns = g.sectors * reuse.ctas * g.turns, steps = halves ? std::max(1.0, g.words / 2) : 1;
    all_turns += turns * steps;
    const Seconds each = form.is_float ? l2.atomic_sum + l2.atomic_interval * (steps - 1) : l2.atomic_interval;
    longest = std::max(longest, each * (turns / places));
  }
  double places = 0;
  for (const auto& [index, buffer] : buffers) places += std::max(1.0, std::min(buffer.size, buffer.touched));
  const double blocks = places * sector_bytes / l2.atomic_interleave.value;
  const double groups = std::clamp(2 * blocks, 1.0, std::max(2.0, blocks));  // two units share a pair of blocks
  return std::max(longest, l2.atomic_interval * (all_turns * (groups + units) / (groups * units)));
}

void find_loads_in_l2(const TrafficSource& source, Footprints& footprints) {
  const Reuse reuse = reuse_of(source);
  const double kept = reuse.kept();
  for (const FootprintGroup& g : footprints.groups) {
    if (g.store) continue;
    const double missed = reuse.bytes(g, reuse.ctas) * reuse.gone(g, kept) + reuse.late(g) + reuse.comes_again(g).lost;
    const auto is_in_l2 = [&](const L1Behaviour& load) {
      return reuse.stays_in_l2(g, missed) || reuse.finds_again(g, load);
    };
    for (const std::size_t at : g.members) {
      footprints.loads[at].in_l2 = is_in_l2(footprints.loads[at]);
      const auto turns = footprints.turns.find(static_cast<std::int32_t>(at));
      if (turns == footprints.turns.end()) continue;
      for (L1Behaviour* load : {&turns->second.first, &turns->second.later}) load->in_l2 = is_in_l2(*load);
    }
  }
}

gpu::Traffic traffic_of(const TrafficSource& source) {
  const arch::GpuSpec& gpu = *source.gpu;
  const Reuse reuse = reuse_of(source);

  gpu::Traffic out;
  // Of what was there before: L2 has it no more.
  const double kept = reuse.kept();
  double once = 0, late = 0, in_waves = 0, again = 0, written = 0, scattered = 0, filled = 0;
  double once_gone = 0, brought = 0, written_gone = 0, rewritten = 0;
  for (const FootprintGroup& g : source.footprints->groups) {
    const double bytes = g.local ? reuse.asked_of_l2(g) : reuse.bytes(g, reuse.ctas);
    const double gone = reuse.gone(g, kept);
    const Reuse::Again comes = reuse.comes_again(g);
    if (g.store) {
      rewritten += comes.lost;
      // A store to a random place goes back as a sector of its own once L2 needs the room.
      if (!g.is_affine) scattered += std::max(0.0, reuse.random_stores(g) * sector_bytes - bytes);
      // What is added to has to be there; of others the bytes that they leave.
      const double read = g.adds || g.atomic ? 1 : g.is_affine ? 0 : g.partial;
      filled += read * (g.is_affine ? bytes * gone : reuse.random_stores(g) * sector_bytes);
      written += bytes;
      written_gone += bytes * gone;
      continue;
    }
    once += bytes;
    once_gone += bytes * gone;
    brought += bytes * reuse.gone(g, kept * reuse.since_last_launch(g));
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
  const double arriving = sectors_that_arrive(source);
  out.reads_that_arrive = arriving * source.pairs_per_sector;
  // A store that fills sectors of a line in part sends a mask before them.
  if (source.stored_sectors > 0) out.write_beats = 1 + gpu.l2.store_mask * source.masked_lines / source.stored_sectors;
  out.compulsory_bytes = once;
  out.result_bytes = written;
  out.footprint_bytes = once + written;
  const auto from_dram = [&](double first) {
    return std::min(first + late, std::max(out.l2_read_bytes, first)) + filled;
  };
  out.dram_read_bytes = from_dram(brought);
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
  // Who waits does so as if what waves share had to come too (H200M, cutlass/h200_dram.csv: what stays saves no time).
  const double missing = std::clamp(from_dram(once_gone) / std::max(in_waves + again, 1.0), 0.0, 1.0);
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
