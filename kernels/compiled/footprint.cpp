#include "kernels/compiled/footprint.hpp"

#include <algorithm>
#include <bit>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "kernels/compiled/emulator/cta_addresses.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

constexpr std::uint64_t line = 128;
// Lines that follow each other come from DRAM as one place of so many bytes does (h100_memory_micro: dram_lines of
// neighbours, 8 of them 14 cycles later than one; 8 at random places 190).
constexpr std::uint64_t place_bytes = 1024;
constexpr double granule_sectors = 2;
constexpr std::size_t most_sectors = 75'000;  // looked at on an SM

// Sectors of a bulk copy. Where only its bytes are known they lie in rows of 128.
template <class F>
void for_each_sector(const BulkCopy& copy, double bytes, F&& f) {
  const std::int64_t width = copy.row_bytes > 0 ? copy.row_bytes : 128;
  const std::int64_t rows = copy.row_bytes > 0 ? copy.rows : static_cast<std::int64_t>(bytes) / width;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint64_t begin = copy.address + static_cast<std::uint64_t>(row) * copy.pitch;
    for (std::uint64_t s = begin / sector; s * sector < begin + static_cast<std::uint64_t>(width); ++s) f(s);
  }
}

// Distinct sectors of an access, in the order of lanes.
void sectors_of(const Access& access, std::vector<std::uint64_t>& out) {
  out.clear();
  for (std::size_t i = 0; i < 32; ++i) {
    if ((access.lanes >> i & 1) == 0 || (access.address.known >> i & 1) == 0) continue;
    const std::uint64_t first = access.address.value[i] / sector,
                        last = (access.address.value[i] + access.step->bytes - 1) / sector;
    for (std::uint64_t s = first; s <= last; ++s)
      if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
  }
}

// Lines of sectors, least recently used goes first.
class L1 {
 public:
  explicit L1(std::int64_t bytes)
      : lines_(static_cast<std::size_t>(std::max<std::int64_t>(bytes / static_cast<std::int64_t>(line), 8))) {}

  void clear() {
    order_.clear();
    places_.clear();
  }

  // Whether the sector is there; it is afterwards.
  bool touch(std::uint64_t s) {
    const std::uint64_t tag = s * sector / line;
    const auto bit = static_cast<std::uint8_t>(1u << (s % (line / sector)));
    const auto at = places_.find(tag);
    if (at != places_.end()) {
      order_.splice(order_.begin(), order_, at->second);
      const bool hit = (at->second->second & bit) != 0;
      at->second->second |= bit;
      return hit;
    }
    if (places_.size() >= lines_) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    order_.emplace_front(tag, bit);
    places_[tag] = order_.begin();
    return false;
  }

 private:
  std::size_t lines_;
  std::list<std::pair<std::uint64_t, std::uint8_t>> order_;
  std::unordered_map<std::uint64_t, std::list<std::pair<std::uint64_t, std::uint8_t>>::iterator> places_;
};

// All global accesses of the CTAs on one SM.
class SmWatcher : public WarpWatcher {
 public:
  SmWatcher(const EmulatedCode& code, std::int64_t l1_bytes, const AsyncPlan& async)
      : asked(code.steps.size()),
        found(code.steps.size()),
        joined(code.steps.size()),
        unique(code.steps.size()),
        l1_(l1_bytes),
        empties_l1_(code.blocks.size()),
        async_(async) {
    for (std::size_t i = 0; i < code.steps.size(); ++i) {
      const Instruction& in = *code.steps[i].in;
      if (in.base == "CCTL" && in.has("IVALL")) empties_l1_[static_cast<std::size_t>(code.block_of[i])] = true;
    }
  }

  // What others have written is seen behind an acquire: nothing that L1 holds counts any more.
  void enters(int, std::int32_t block, std::uint32_t) override {
    position_ = 0;
    if (empties_l1_[static_cast<std::size_t>(block)]) l1_.clear();
  }
  void assumes(std::int32_t, bool) override {}
  std::optional<std::size_t> position(int) const override { return std::nullopt; }
  bool repeats(int, std::size_t, std::size_t, std::size_t) const override { return false; }
  void repeat(int, std::size_t, std::size_t, std::int64_t) override {}

  void accesses(int warp, const Access& access) override {
    const S s = access.step->semantics;
    if (!asks_global(s) || access.reads_nothing) return;
    sectors_of(access, scratch_);
    ++execution_;
    ++position_;
    const auto at = static_cast<std::size_t>(access.at);
    const bool through_l1 = s == S::load_global && !access.step->in->has("STRONG") && !access.step->in->has("BYPASS");
    const bool copies_through = s == S::copy_to_shared && !access.step->in->has("BYPASS");
    if (s == S::store_global && cta == 0) write_bytes(at, access);
    for (const std::uint64_t each : scratch_) {
      total += 1;
      asked[at] += 1;
      note(at, warp, each, s == S::store_global);
      if ((through_l1 || copies_through) && l1_.touch(each)) {
        found[at] += 1;
        if (const auto asked = missed.find(each); asked != missed.end()) joined[at] += on_its_way(asked->second);
        continue;
      }
      if (s != S::store_global) miss(each, round, asked_of_line(each));
    }
  }

  // Bulk copies pass L1 by.
  void acts(int warp, const AsyncAct& act) override {
    const auto copies = async_.copies.find(act.at);
    if (!act.copy.is_known || copies == async_.copies.end()) return;
    ++execution_;
    const auto at = static_cast<std::size_t>(act.at);
    for_each_sector(act.copy, copies->second.bytes, [&](std::uint64_t each) {
      total += 1;
      asked[at] += 1;
      note(at, warp, each, act.kind == ActKind::store);
      if (act.kind == ActKind::load) miss(each, 0, whole_line);  // it runs ahead: any time will do
    });
  }

  // Mean length of the runs of bytes in which the CTA's warps execute the instruction first.
  [[nodiscard]] double run(std::size_t at) const {
    const auto known = first_.find(at);
    return known == first_.end() ? sector : mean_run(known->second.sectors);
  }

  // The same of several instructions together: what is asked for at once.
  [[nodiscard]] double run(const std::vector<std::size_t>& all) const {
    std::set<std::uint64_t> together;
    for (const std::size_t at : all)
      if (const auto known = first_.find(at); known != first_.end())
        together.insert(known->second.sectors.begin(), known->second.sectors.end());
    return together.empty() ? sector : mean_run(together);
  }

  // Places of DRAM in which these runs lie, for each of so many that wait for their own.
  [[nodiscard]] double places(std::size_t at, double waiting_alone) const {
    const auto known = first_.find(at);
    if (known == first_.end()) return 1;
    std::set<std::uint64_t> different;
    for (const std::uint64_t each : known->second.sectors) different.insert(each / (place_bytes / sector));
    // A place of more than a granule is there with the last of two (H200M, chain: a line behind another comes 32 cycles
    // later from DRAM than the sector of a pointer chase).
    const double sectors = static_cast<double>(known->second.sectors.size()) / waiting_alone;
    return std::max(sectors > granule_sectors ? 2.0 : 1.0, static_cast<double>(different.size()) / waiting_alone);
  }

  // Of the sectors that the first CTA stores to with an instruction, those that it leaves in part as they were.
  [[nodiscard]] double partial(std::size_t at) const {
    const auto stored = stored_.find(at);
    if (stored == stored_.end()) return 0;
    const auto in_part =
        std::ranges::count_if(stored->second, [&](std::uint64_t s) { return written_.at(s) != ~std::uint32_t{0}; });
    return static_cast<double>(in_part) / static_cast<double>(stored->second.size());
  }

  // Sectors, by instruction; joined: of those found, what L2 was asked for in the same round, so that it is on its way.
  std::vector<double> asked, found, joined, unique;
  // By sector: when it was asked of L2 last, in sectors and in rounds, and with which others of its line.
  struct Miss {
    std::size_t at = 0;
    std::uint64_t round = 0;
    std::int64_t position = 0;  // among the accesses of the warp's block
    std::uint8_t of_line = 0;

    // With one of another SM, of the same sector: equal requests at one time.
    [[nodiscard]] bool merges(const Miss& other) const {
      constexpr std::uint64_t apart = 4;  // rounds: ways of some blocks more or less
      return of_line == other.of_line && std::max(round, other.round) - std::min(round, other.round) <= apart;
    }
  };
  std::unordered_map<std::uint64_t, Miss> missed;
  std::map<int, std::unordered_set<std::uint64_t>> of_cta;  // sectors read, and written
  std::size_t total = 0, misses = 0;
  double again = 0, distance = 0;
  int cta = 0;
  std::uint64_t round = 0;  // of the CTAs of the SM
  std::int64_t warps = 1;   // that take turns in it

 private:
  struct FirstExecutions {
    std::set<std::uint64_t> sectors;
    std::map<int, std::size_t> begun;  // by warp: how much of `asked` there was when it came first
  };

  void write_bytes(std::size_t at, const Access& access) {
    std::unordered_set<std::uint64_t>& stored = stored_[at];
    for (std::size_t i = 0; i < 32; ++i) {
      if ((access.lanes >> i & 1) == 0 || (access.address.known >> i & 1) == 0) continue;
      for (std::uint64_t b = access.address.value[i]; b < access.address.value[i] + access.step->bytes; ++b) {
        written_[b / sector] |= 1u << b % sector;
        stored.insert(b / sector);
      }
    }
  }

  // What is written is not what is read: both are of the footprint.
  void note(std::size_t at, int warp, std::uint64_t each, bool stores) {
    if (of_cta[cta].insert(each << 1 | (stores ? 1 : 0)).second) unique[at] += 1;
    if (cta != 0) return;
    FirstExecutions& first = first_[at];
    const auto [begun, is_new] = first.begun.try_emplace(warp, execution_);
    if (begun->second == execution_) first.sectors.insert(each);
  }

  static constexpr std::uint8_t whole_line = 0xf;

  // Sectors of the line that the access which is looked at asks for.
  [[nodiscard]] std::uint8_t asked_of_line(std::uint64_t each) const {
    constexpr std::uint64_t sectors = line / sector;
    std::uint8_t out = 0;
    for (const std::uint64_t other : scratch_)
      if (other / sectors == each / sectors) out |= static_cast<std::uint8_t>(1u << other % sectors);
    return out;
  }

  // All warps are at the same place of a block at about the same time, and L2 answers behind so many accesses of
  // theirs: the load/store unit takes one every other cycle.
  [[nodiscard]] bool on_its_way(const Miss& asked) const {
    constexpr std::int64_t answer = 128;
    return asked.round == round && std::abs(position_ - asked.position) * warps < answer;
  }

  void miss(std::uint64_t each, std::uint64_t in_round, std::uint8_t of_line) {
    const Miss now{++misses, in_round, position_, of_line};
    const auto [place, is_new] = missed.try_emplace(each, now);
    if (is_new) return;
    again += 1;
    distance += static_cast<double>(now.at - place->second.at);
    place->second = now;
  }

  L1 l1_;
  std::unordered_map<std::uint64_t, std::uint32_t> written_;         // bytes of sectors, by the first CTA
  std::map<std::size_t, std::unordered_set<std::uint64_t>> stored_;  // sectors, by instruction
  std::vector<bool> empties_l1_;                                     // by block: it invalidates L1 (CCTL.IVALL)
  std::map<std::size_t, FirstExecutions> first_;                     // of the first CTA, by instruction
  std::size_t execution_ = 0;
  std::int64_t position_ = 0;  // of the warp that runs, among the accesses of its block
  const AsyncPlan& async_;
  std::vector<std::uint64_t> scratch_;
};

void run_sm(SmWatcher& watcher, const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
            const L1Spec& l1, std::int64_t first) {
  std::vector<EmulatedCta> ctas;
  for (int slot = 0; slot < l1.resident; ++slot) {
    const std::int64_t index = first + std::int64_t{slot} * l1.sms;
    if (index < launch.ctas()) ctas.emplace_back(code, launch, memory, cta_at(launch, index));
  }
  watcher.warps = static_cast<std::int64_t>(ctas.size()) * launch.warps();
  bool any = true;
  for (std::uint64_t rounds = 0; any && watcher.total < most_sectors && rounds < 200'000; ++rounds) {
    any = false;
    watcher.round = rounds;
    for (std::size_t i = 0; i < ctas.size(); ++i) {
      if (ctas[i].finished()) continue;
      any = true;
      watcher.cta = static_cast<int>(i);
      ctas[i].run_round(watcher);
    }
  }
}

// Loads whose answers nothing uses before the last of them has been asked for wait together. Those that lie within a
// place of DRAM read from one stream: what one of them misses the others miss too. Mean over what they ask L2 for.
double streams_of_waits(const EmulatedCode& code, const Profile& profile, const AddressSamples& samples,
                        const std::vector<L1Behaviour>& loads) {
  double sum = 0, all = 0;
  std::vector<std::uint64_t> begins;
  double asked = 0;
  RegisterSet pending;
  const auto wait = [&] {
    std::ranges::sort(begins);
    int streams = begins.empty() ? 0 : 1;
    for (std::size_t i = 1; i < begins.size(); ++i) streams += begins[i] - begins[i - 1] > place_bytes;
    sum += streams * asked;
    all += asked;
    begins.clear();
    asked = 0;
    pending = {};
  };
  for (std::size_t i = 0; i < code.steps.size(); ++i) {
    const Step& step = code.steps[i];
    if (i > 0 && code.block_of[i] != code.block_of[i - 1]) wait();
    if (read(step).meets(pending)) wait();
    const double from_l2 = profile.counts[i].sectors * (1 - loads[i].hit_rate);
    if (step.semantics != S::load_global || from_l2 <= 0 || samples.origin[i].empty()) continue;
    const LaneAddresses& lanes = samples.origin[i].begin()->second;
    if (lanes.known == 0) continue;
    begins.push_back(lanes.address[static_cast<std::size_t>(std::countr_zero(lanes.known))]);
    asked += from_l2;
    pending.merge(written(step));
  }
  wait();
  return all > 0 ? sum / all : 1;
}

}  // namespace

Footprints footprints(const Profile& profile, const Listing& listing, const Code& code, const Launch& launch,
                      const LaunchMemory& memory, const L1Spec& l1, unsigned jobs) {
  Footprints out;
  const EmulatedCode global = prepare(listing, code, Wanted::global_addresses);
  const std::size_t n = global.steps.size();
  out.loads.resize(n);
  const AsyncPlan none;
  const AsyncPlan& async = profile.classes.empty() ? none : profile.classes.front().async;
  SmWatcher here(global, l1.bytes, async), beside(global, l1.bytes, async);
  share_work(launch.ctas() > 1 ? 2 : 1, jobs, {}, [&](std::size_t sm) {
    run_sm(sm == 0 ? here : beside, global, launch, memory, l1, static_cast<std::int64_t>(sm));
  });
  if (launch.ctas() > 1) {
    std::size_t both = 0;
    for (const auto& [s, miss] : here.missed)
      if (const auto other = beside.missed.find(s); other != beside.missed.end()) both += miss.merges(other->second);
    out.shared_by_pair = here.missed.empty() ? 0 : static_cast<double>(both) / static_cast<double>(here.missed.size());
  }
  for (std::size_t i = 0; i < n; ++i)
    if (here.asked[i] > 0)
      out.loads[i] = {here.found[i] / here.asked[i], here.joined[i] / std::max(1.0, here.found[i])};
  const double misses = std::max<double>(1, static_cast<double>(here.misses));
  out.retouch_distance = here.again > 0 ? here.distance / here.again : 0;

  std::vector<bool> wanted(n);
  for (std::size_t i = 0; i < n; ++i)
    wanted[i] = here.asked[i] > 0 || (asks_global(global.steps[i].semantics) && profile.counts[i].sectors > 0);
  const AddressSamples samples = sample_addresses(global, launch, memory, wanted, jobs);
  std::vector<bool> scattered(n);
  for (std::size_t i = 0; i < n; ++i)
    scattered[i] = wanted[i] && !samples.origin[i].empty() && !samples.affine_steps(i);
  const Neighbours neighbours(global, launch, memory, scattered, samples.amid, std::int64_t{l1.resident} * l1.sms,
                              jobs);

  out.streams = streams_of_waits(global, profile, samples, out.loads);
  // At a barrier the warps of a CTA wait for what all of them asked for.
  const bool has_barrier = std::ranges::any_of(global.steps, [](const Step& s) { return s.in->base == "BAR"; });
  const double waiting_alone = has_barrier ? 1.0 : static_cast<double>(launch.warps());
  std::map<std::tuple<int, bool, bool, std::array<std::int64_t, 3>, bool>, FootprintGroup> groups;
  std::map<const FootprintGroup*, std::vector<std::size_t>> members;
  double asked_of_l2 = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Step& step = global.steps[i];
    const double bulk = profile.bulk_sectors.empty() ? 0 : profile.bulk_sectors[i];
    if (!(asks_global(step.semantics) && profile.counts[i].sectors > 0) && bulk <= 0) continue;
    FootprintGroup group;
    group.store = step.semantics == S::store_global || (bulk > 0 && !is_bulk_load(*step.in));
    group.atomic = step.semantics == S::atomic_global || step.in->base == "RED" || step.in->base == "REDG";
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
    if (scattered[i]) together = neighbours(i, origin, step.bytes);
    FootprintGroup& sum =
        groups.try_emplace({group.buffer, group.store, group.atomic, group.step, group.is_affine}, group).first->second;
    members[&sum].push_back(i);
    const double per_cta = (profile.counts[i].sectors + bulk) / static_cast<double>(launch.ctas());
    const double run = std::max(here.run(i), together.run);
    const double places = here.places(i, waiting_alone);
    sum.places = (sum.places * sum.sectors + places * per_cta) / std::max(1e-9, sum.sectors + per_cta);
    sum.run = (sum.run * sum.sectors + run * per_cta) / std::max(1e-9, sum.sectors + per_cta);
    const InstructionCounts& counts = profile.counts[i];
    const double alone = bulk > 0 || counts.sectors <= 0 ? 1 : std::min(1.0, counts.ideal_sectors / counts.sectors);
    const bool is_full = std::max(alone, together.ctas > 1 ? together.full : 0.0) >= 1;
    const double partial = is_full ? 0 : here.partial(i);
    sum.together = (sum.together * sum.sectors + together.ctas * per_cta) / std::max(1e-9, sum.sectors + per_cta);
    sum.partial = (sum.partial * sum.sectors + partial * per_cta) / std::max(1e-9, sum.sectors + per_cta);
    sum.span = std::max(sum.span, together.span);
    double most = per_cta;
    for (const CtaClass& each : profile.classes) most = std::max(most, each.counts[i].sectors);
    sum.longest = (sum.longest * sum.sectors + (bulk > 0 ? per_cta : most)) / std::max(1e-9, sum.sectors + per_cta);
    sum.sectors += per_cta;
    sum.unique_sectors += here.asked[i] > 0 ? per_cta * here.unique[i] / here.asked[i] : per_cta;
    if (!group.store) asked_of_l2 += per_cta * (1 - out.loads[i].hit_rate);
  }
  for (auto& [key, group] : groups) {
    if (group.is_affine) group.run = std::max(group.run, here.run(members[&group]));
    out.groups.push_back(group);
  }
  out.retouch_sectors = asked_of_l2 * here.again / misses;
  return out;
}

}  // namespace noteg::compiled
