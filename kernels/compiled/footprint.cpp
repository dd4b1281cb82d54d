#include "kernels/compiled/footprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "sim/support/work_sharing.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

// Instructions that load, whose answers nothing uses before the last of them has been asked for: they wait together.
using Wait = std::vector<std::size_t>;

std::vector<Wait> waits_of(const EmulatedCode& code, const std::vector<int>& waits) {
  std::vector<Wait> out;
  int last = -1;
  for (std::size_t i = 0; i < code.steps.size(); ++i) {
    if (code.steps[i].semantics != S::load_global) continue;
    if (std::exchange(last, waits[i]) != waits[i]) out.emplace_back();
    out.back().push_back(i);
  }
  return out;
}

// Loads that wait together and lie within a place of DRAM read from one stream: what one of them misses the others miss
// too. Mean over what they ask L2 for.
double streams_of(const std::vector<Wait>& waits, const Profile& profile, const AddressSamples& samples,
                  const std::vector<L1Behaviour>& loads) {
  double sum = 0, all = 0;
  for (const Wait& wait : waits) {
    std::vector<std::uint64_t> begins;
    double asked = 0;
    for (const std::size_t i : wait) {
      const double from_l2 = profile.counts[i].sectors * (1 - loads[i].hit_rate);
      if (from_l2 <= 0 || samples.origin[i].empty()) continue;
      const LaneAddresses& lanes = samples.origin[i].begin()->second;
      if (lanes.known == 0) continue;
      begins.push_back(lanes.address[static_cast<std::size_t>(std::countr_zero(lanes.known))]);
      asked += from_l2;
    }
    std::ranges::sort(begins);
    int streams = begins.empty() ? 0 : 1;
    for (std::size_t i = 1; i < begins.size(); ++i) streams += begins[i] - begins[i - 1] > place_bytes;
    sum += streams * asked;
    all += asked;
  }
  return all > 0 ? sum / all : 1;
}

// Places of DRAM in which lies what those of a group of instructions that wait together ask for: mean over all that
// they ask for. What runs ahead waits for itself.
double mean_places(const SmAccesses& sm, const std::vector<std::size_t>& group, const std::vector<Wait>& waits,
                   const std::vector<double>& asked, double waiting_alone) {
  double sum = 0, all = 0;
  const auto add = [&](const std::vector<std::size_t>& together) {
    double sectors = 0;
    for (const std::size_t i : together) sectors += asked[i];
    sum += sectors * sm.places(together, waiting_alone);
    all += sectors;
  };
  std::vector<std::size_t> left = group;
  for (const Wait& wait : waits) {
    std::vector<std::size_t> together;
    std::ranges::set_intersection(left, wait, std::back_inserter(together));
    if (together.empty()) continue;
    add(together);
    std::erase_if(left, [&](std::size_t i) { return std::ranges::binary_search(together, i); });
  }
  for (const std::size_t i : left) add({i});
  return all > 0 ? sum / all : 1;
}

// Loops that hold loops, outermost: how often a warp comes to each load in the first turn.
SmAccesses::FirstTurns first_turns_of(const Profile& profile) {
  SmAccesses::FirstTurns out;
  for (const WarpClass& warps : profile.classes.front().warps)
    for (const std::int32_t each : warps.path) {
      const PathNode& node = profile.nodes[each];
      const auto is_loop = [&](std::int32_t inner) { return profile.nodes[inner].block < 0; };
      if (node.block >= 0 || node.count == 1 || std::ranges::none_of(node.body, is_loop)) continue;
      SmAccesses::FirstTurns times;
      profile.nodes.count(profile.code, node.body, times);
      out.merge(times);
    }
  std::erase_if(out, [&](const auto& of) {
    return profile.code.steps[static_cast<std::size_t>(of.first)].semantics != S::load_global;
  });
  return out;
}

// How a load fares in L1, of which an SM was seen with so many CTAs of all that take part.
L1Behaviour behaviour(const SmAccesses::Lookups& of, double share) {
  const double times = std::max(1.0, of.again), since = of.since / times;
  const double apart = std::sqrt(std::max(0.0, of.since_squared / times - since * since));
  const double asked = std::max(1e-9, of.asked);
  return {of.found / asked,
          std::min(of.whole, of.found) / asked,
          of.joined / std::max(1.0, of.found),
          of.again / std::max(1.0, of.passed),
          since / share,
          apart / share};
}

// SMs of a GPC, walked through with all CTAs that they hold, or with as many as come to all loads.
struct Walk {
  std::unique_ptr<SmAccesses> here, beside;      // of one TPC; beside: none where it holds one CTA
  std::vector<std::unique_ptr<SmAccesses>> gpc;  // of each TPC one, a beginning, where CTAs copy in lockstep
  double share = 1;  // of what all these CTAs touch, what those touch that were walked through
};

struct WalkRequest {
  const EmulatedCode& code;
  const Profile& profile;
  const Launch& launch;
  const LaunchMemory& memory;
  const AsyncPlan& async;
  const SmAccesses::LoadFacts& facts;
  L1Spec l1;
  unsigned jobs = 1;

  // CTAs that follow each other go to one GPC, a GPC's part of all; two to each of its TPCs, or one where there are
  // TPCs for all of them (H200M, cta_placement).
  [[nodiscard]] Walk walk(const L1Spec& of, int slots) const {
    const bool in_pairs = launch.cluster_ctas() > 1 || 2 * launch.ctas() > of.sms;
    const std::int64_t apart = in_pairs ? 2 : 1;
    const std::int64_t tpcs = std::min<std::int64_t>(of.sms / 2, launch.ctas() / apart) / of.gpcs;
    const std::int64_t begin = first_of_wave(std::int64_t{of.resident} * of.sms);
    Walk out;
    struct Way {
      SmAccesses* sm;
      std::int64_t first;  // CTA
      std::size_t most;    // sectors
    };
    std::vector<Way> ways;
    const auto add = [&](std::int64_t first, std::size_t most) {
      auto sm = std::make_unique<SmAccesses>(code, of, async, facts);
      ways.push_back({sm.get(), first, most});
      return sm;
    };
    constexpr std::size_t whole = SmAccesses::most_sectors, beginning = whole / 8;
    out.here = add(begin, whole);
    if (in_pairs && launch.ctas() > 1) out.beside = add(begin + 1, whole);
    if (copies_in_lockstep())
      for (std::int64_t tpc = 0; tpc < tpcs; ++tpc) out.gpc.push_back(add(begin + apart * tpc, beginning));
    share_work(ways.size(), jobs, {},
               [&](std::size_t i) { ways[i].sm->walk(launch, memory, ways[i].first, slots, ways[i].most, i == 0); });
    return out;
  }
  // Of the wave in which lies the CTA that stands for most of the work, since at the edges of a grid there may be less
  // to do; of the last but one at most, as the next is walked through too.
  [[nodiscard]] std::int64_t first_of_wave(std::int64_t wave) const {
    const std::int64_t waves = launch.ctas() / wave;
    if (launch.cluster_ctas() > 1 || waves < 3) return 0;
    const auto work = [](const CtaClass& each) {
      double sectors = 0;
      for (const InstructionCounts& of : each.counts) sectors += of.sectors;
      return each.ctas * sectors;
    };
    const CtaClass& most = *std::ranges::max_element(profile.classes, {}, work);
    return std::min(launch.before(most.id) / wave, waves - 2) * wave;
  }
  // Bulk copies of CTAs that start together go on together, but where each step waits for a memory barrier of the GPU.
  [[nodiscard]] bool copies_in_lockstep() const {
    const double once = static_cast<double>(launch.ctas() * launch.warps());
    for (std::size_t i = 0; i < code.steps.size(); ++i)
      if (code.steps[i].semantics == S::fence && !code.steps[i].in->has("CTA") && profile.counts[i].warps > once)
        return false;
    return std::ranges::any_of(profile.bulk_sectors, std::identity{});
  }
  [[nodiscard]] bool is_missed(const SmAccesses& sm, std::size_t i) const {
    const S s = code.steps[i].semantics;
    return asks_global(s) && !is_store(s) && profile.counts[i].sectors > 0 && sm.lookups[i].asked == 0;
  }
};

// Loads that a walk does not come to are come to by fewer CTAs, with as much of L1 as they take part in its use.
Walk walk_of(const WalkRequest& r) {
  Walk all = r.walk(r.l1, r.l1.resident);
  std::size_t missed = 0;
  double sectors = 0;
  for (std::size_t i = 0; i < r.code.steps.size(); ++i) {
    missed += r.is_missed(*all.here, i);
    sectors += r.profile.counts[i].sectors;
  }
  const double fit = SmAccesses::most_sectors * static_cast<double>(r.launch.ctas()) / std::max(1.0, sectors);
  const int slots = static_cast<int>(std::clamp<double>(fit, 1, r.l1.resident));
  if (missed == 0 || slots >= std::min<std::int64_t>(r.l1.resident, r.launch.ctas() / r.l1.sms)) return all;
  L1Spec part = r.l1;
  const double share = all.here->share_of(static_cast<std::size_t>(slots));
  part.bytes = std::llround(static_cast<double>(part.bytes) * share);
  Walk out = r.walk(part, slots);
  out.share = share;
  return out;
}

}  // namespace

double Raster::positions(const FootprintGroup& group, double n) const {
  const double x = std::min(n, grid[0]);
  const double y = std::clamp(n / grid[0], 1.0, grid[1]);
  const double z = std::clamp(n / (grid[0] * grid[1]), 1.0, grid[2]);
  return (group.step[0] != 0 ? x : 1) * (group.step[1] != 0 ? y : 1) * (group.step[2] != 0 ? z : 1);
}

std::vector<Raster::Gap> Raster::gaps(const FootprintGroup& group) const {
  std::vector<Gap> out;
  double stride = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (group.step[axis] == 0 && grid[axis] > 1) {
      for (Gap& inner : out) inner.times *= grid[axis];
      out.push_back({stride, grid[axis] - 1});
    }
    stride *= grid[axis];
  }
  return out;
}

Footprints footprints(const Profile& profile, const Listing& listing, const Code& code, const Launch& launch,
                      const LaunchMemory& memory, const L1Spec& l1, unsigned jobs) {
  Footprints out;
  const EmulatedCode global = prepare(listing, code, Wanted::global_addresses);
  const std::size_t n = global.steps.size();
  out.loads.resize(n);
  AsyncPlan async;
  for (const CtaClass& each : profile.classes) async.copies.insert(each.async.copies.begin(), each.async.copies.end());
  const SmAccesses::LoadFacts facts{load_waits(global), first_turns_of(profile)};
  const Walk walk = walk_of({global, profile, launch, memory, async, facts, l1, jobs});
  const SmAccesses& here = *walk.here;
  if (walk.beside) out.merged_by_pair = here.merged_with({&walk.beside, 1});
  if (!walk.gpc.empty()) out.merged_in_gpc = walk.gpc.front()->merged_with(std::span(walk.gpc).subspan(1));
  for (std::size_t i = 0; i < n; ++i) {
    const SmAccesses::Lookups& of = here.lookups[i];
    if (of.asked <= 0) continue;
    out.loads[i] = behaviour(of, walk.share);
    const auto turn = here.of_first_turn.find(static_cast<std::int32_t>(i));
    if (turn == here.of_first_turn.end() || turn->second.asked >= of.asked) continue;
    const L1Turns turns{turn->second.asked / of.asked, behaviour(turn->second, walk.share),
                        behaviour(of.without(turn->second), walk.share)};
    constexpr double apart = 0.5;  // less is not worth a turn of its own
    if (turns.first.hit_rate + apart < turns.later.hit_rate) out.turns[turn->first] = turns;
  }

  const auto bulk_sectors = [&](std::size_t i) { return profile.bulk_sectors.empty() ? 0 : profile.bulk_sectors[i]; };
  std::vector<bool> wanted(n);
  for (std::size_t i = 0; i < n; ++i)
    wanted[i] = here.lookups[i].asked > 0 || bulk_sectors(i) > 0 ||
                (asks_global(global.steps[i].semantics) && profile.counts[i].sectors > 0);
  const AddressSamples samples = sample_addresses(global, launch, memory, wanted, jobs);
  std::vector<bool> scattered(n);
  for (std::size_t i = 0; i < n; ++i)
    scattered[i] = wanted[i] && !samples.origin[i].empty() && !samples.affine_steps(i);
  const Neighbours neighbours(global, launch, memory, scattered, samples.amid, std::int64_t{l1.resident} * l1.sms,
                              jobs);

  const std::vector<Wait> waits = waits_of(global, facts.waits);
  out.streams = streams_of(waits, profile, samples, out.loads);
  // At a barrier the warps of a CTA wait for what all of them asked for.
  const bool has_barrier = std::ranges::any_of(global.steps, [](const Step& s) { return s.in->base == "BAR"; });
  const double waiting_alone = has_barrier ? 1.0 : static_cast<double>(launch.warps());
  std::map<std::tuple<int, bool, bool, bool, std::array<std::int64_t, 3>, bool>, FootprintGroup> groups;
  out.passed.resize(n);
  out.lines_at_once.resize(n);
  out.lines_of_sector.resize(n);
  std::vector<double> asked(n);  // sectors, by a CTA
  for (std::size_t i = 0; i < n; ++i) {
    const Step& step = global.steps[i];
    const SmAccesses::Lookups& of = here.lookups[i];
    const double bulk = bulk_sectors(i);
    if (!(asks_global(step.semantics) && profile.counts[i].sectors > 0) && bulk <= 0) continue;
    FootprintGroup group;
    group.store = is_store(step.semantics) || (bulk > 0 && !is_bulk_load(*step.in));
    group.atomic = is_global_atomic(step);
    group.adds = is_bulk_sum(*step.in);
    group.local = step.semantics == S::store_local;
    const AddressesByWarp& origin = samples.origin[i];
    if (!origin.empty()) {
      const LaneAddresses& lanes = origin.begin()->second;
      group.buffer = memory.buffer_at(lanes.address[static_cast<std::size_t>(std::countr_zero(lanes.known))]);
      const auto steps = samples.affine_steps(i);
      group.is_affine = steps.has_value();
      if (steps) group.step = *steps;
    } else {
      group.step = {1, 1, 1};  // the walk ended before: each CTA has bytes of its own
    }
    Together together;
    if (!group.is_affine) group.step = {1, 1, 1};
    if (group.local) group.step = {1, 1, 1}, group.is_affine = true;
    if (scattered[i]) together = neighbours(i, origin, step.bytes);
    if (together.ascends && together.ctas <= 1) group.is_affine = true;  // each CTA has bytes of its own
    group.goes_first = step.in->has("EF");
    FootprintGroup& sum =
        groups.try_emplace({group.buffer, group.store, group.atomic, group.local, group.step, group.is_affine}, group)
            .first->second;
    sum.goes_first = sum.goes_first && group.goes_first;
    sum.adds = sum.adds || group.adds;
    sum.members.push_back(i);
    const double per_cta = (profile.counts[i].sectors + bulk) / static_cast<double>(launch.ctas());
    const double run = std::max(here.run(i), together.run);
    asked[i] = per_cta;
    const auto mean = [&](double so_far, double of_this) {  // by sectors
      return (so_far * sum.sectors + of_this * per_cta) / std::max(1e-9, sum.sectors + per_cta);
    };
    sum.run = mean(sum.run, run);
    const InstructionCounts& counts = profile.counts[i];
    const double alone = bulk > 0 || counts.sectors <= 0 ? 1 : std::min(1.0, counts.ideal_sectors / counts.sectors);
    const bool is_full = std::max(alone, together.ctas > 1 ? together.full : 0.0) >= 1;
    const double partial = is_full ? 0 : here.partial(i);
    sum.together = mean(sum.together, together.ctas);
    sum.partial = mean(sum.partial, partial);
    if (group.atomic && of.asked > 0) {
      sum.turns = mean(sum.turns, here.turns[i] / of.asked);
      sum.words = mean(sum.words, here.words[i] / of.asked);
    }
    sum.span = std::max(sum.span, together.span);
    double most = per_cta;
    for (const CtaClass& each : profile.classes) most = std::max(most, each.counts[i].sectors);
    sum.longest = (sum.longest * sum.sectors + (bulk > 0 ? per_cta : most)) / std::max(1e-9, sum.sectors + per_cta);
    sum.sectors += per_cta;
    sum.unique_sectors += of.asked > 0 ? per_cta * of.unique / of.asked : per_cta;
    out.passed[i] = per_cta * (1 - out.loads[i].hit_rate);
    if (counts.sectors > 0) out.lines_of_sector[i] = counts.lines / counts.sectors;
    if (counts.warps > 0) out.lines_at_once[i] = counts.lines / counts.warps * static_cast<double>(launch.warps());
  }
  for (auto& [key, group] : groups) {
    if (group.is_affine) group.run = std::max(group.run, here.run(group.members));
    group.places = mean_places(here, group.members, waits, asked, waiting_alone);
    out.groups.push_back(group);
  }
  return out;
}

}  // namespace noteg::compiled
