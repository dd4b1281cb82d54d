#include "kernels/compiled/emulator/sm_accesses.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace noteg::compiled {
namespace {

using S = Semantics;

constexpr std::uint8_t whole_line = 0xf;
constexpr double granule_sectors = 2;
constexpr std::int32_t answered_behind = 128;  // accesses of all warps, until L2 has answered
constexpr std::int32_t long_ago = std::numeric_limits<std::int32_t>::min() / 2;  // nothing is on its way still

// Sectors of a bulk copy. Where only its bytes are known they lie in rows of 128.
template <class F>
void for_each_sector(const BulkCopy& copy, double bytes, F&& f) {
  const std::int64_t width = copy.row_bytes > 0 ? copy.row_bytes : 128;
  const std::int64_t rows = copy.row_bytes > 0 ? copy.rows : static_cast<std::int64_t>(bytes) / width;
  const auto of_plane = [&](std::uint64_t plane) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::uint64_t begin = plane + static_cast<std::uint64_t>(row) * copy.pitch;
      for (std::uint64_t s = begin / sector; s * sector < begin + static_cast<std::uint64_t>(width); ++s) f(s);
    }
  };
  const auto at = [&](std::size_t dimension, std::int64_t plane) {
    return static_cast<std::uint64_t>(plane) * copy.plane_pitch[dimension];
  };
  for (std::int64_t z = 0; z < copy.planes[2]; ++z)
    for (std::int64_t y = 0; y < copy.planes[1]; ++y)
      for (std::int64_t x = 0; x < copy.planes[0]; ++x) of_plane(copy.address + at(2, z) + at(1, y) + at(0, x));
}

}  // namespace

std::vector<int> load_waits(const EmulatedCode& code) {
  std::vector<int> out(code.steps.size());
  RegisterSet pending;
  int wait = 0;
  for (std::size_t i = 0; i < code.steps.size(); ++i) {
    const Step& step = code.steps[i];
    if ((i > 0 && code.block_of[i] != code.block_of[i - 1]) || read(step).meets(pending)) ++wait, pending = {};
    if (step.semantics == S::load_global) pending.merge(written(step));
    out[i] = wait;
  }
  return out;
}

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

SmAccesses::SmAccesses(const EmulatedCode& code, const L1Spec& l1, const AsyncPlan& async, const LoadFacts& facts)
    : lookups(code.steps.size()),
      turns(code.steps.size()),
      words(code.steps.size()),
      code_(code),
      spec_(l1),
      l1_(l1.bytes),
      empties_l1_(code.blocks.size()),
      facts_(facts),
      async_(async) {
  for (std::size_t i = 0; i < code.steps.size(); ++i) {
    const Instruction& in = *code.steps[i].in;
    if (in.base == "CCTL" && in.has("IVALL")) empties_l1_[static_cast<std::size_t>(code.block_of[i])] = true;
  }
}

void SmAccesses::walk(const Launch& launch, const LaunchMemory& memory, std::int64_t index, int slots, std::size_t most,
                      bool goes_on) {
  std::vector<EmulatedCta> ctas;
  warps_ = 0;
  for (int slot = 0; slot < spec_.resident; ++slot) {
    const std::int64_t of_slot = index + std::int64_t{slot} * spec_.sms;
    if (of_slot >= launch.ctas()) break;
    warps_ += launch.warps();
    if (slot < slots) ctas.emplace_back(code_, launch, memory, cta_by_cluster(launch, of_slot));
  }
  of_cta_.resize(std::max<std::size_t>(1, ctas.size()));
  const std::int64_t of_a_wave = std::int64_t{spec_.resident} * spec_.sms;
  if (!go_through(ctas, most) || !goes_on || launch.ctas() <= of_a_wave) return;
  for (std::size_t slot = 0; slot < ctas.size(); ++slot) {
    const std::int64_t next = index + static_cast<std::int64_t>(slot) * spec_.sms + of_a_wave;
    ctas[slot] = EmulatedCta(code_, launch, memory, cta_by_cluster(launch, std::min(next, launch.ctas() - 1)));
  }
  walk_later(ctas, static_cast<double>(launch.ctas()) / static_cast<double>(of_a_wave) - 1);
}

// The next CTAs of these slots, which find in L1 what the first ones left there. Those behind them do the same at
// places of their own, until L1 is as it stays.
void SmAccesses::walk_later(std::vector<EmulatedCta>& ctas, double generations) {
  constexpr int most = 6;
  constexpr std::size_t most_touches = 600'000;
  passages_ = {};
  came_ = {};
  later_.resize(lookups.size());
  for (std::size_t i = 0; i < of_cta_.size(); ++i)
    of_cta_[i].each([&](std::uint64_t touched, Seen) { goes_there(touched >> 1, static_cast<int>(i)); });
  go_through(ctas);
  const bool comes_again = std::ranges::none_of(empties_l1_, std::identity{}) &&
                           std::ranges::any_of(later_, [](const Lookups& of) { return of.found + of.again > 0; });
  int walked = 1;
  for (std::size_t touched = touches_.size();
       comes_again && walked < most && walked < generations && touched < most_touches;
       ++walked, touched += touches_.size()) {
    passages_ = {};
    for (const Touch& touch : touches_) touch_later(touch, static_cast<std::uint64_t>(walked));
  }
  const double times = generations / walked;
  for (std::size_t i = 0; i < later_.size(); ++i) lookups[i].mix_in(later_[i], times);
  for (auto& [at, of] : of_first_turn) of.mix_in(later_first_turn_[at], times);
}

void SmAccesses::Lookups::add(const Lookups& o, double times) {
  asked += times * o.asked;
  unique += times * o.unique;
  found += times * o.found;
  whole += times * o.whole;
  joined += times * o.joined;
  passed += times * o.passed;
  again += times * o.again;
  since += times * o.since;
  since_squared += times * o.since_squared;
}

void SmAccesses::Lookups::mix_in(const Lookups& later, double times) {
  passed += times * later.passed;
  again += times * later.again;
  since += times * later.since;
  since_squared += times * later.since_squared;
  if (later.asked <= 0) return;
  const double in_all = found + times * later.found, share = asked / (asked + times * later.asked);
  if (in_all > 0) joined = (joined + times * later.joined) * share;
  if (found > 0) whole *= in_all * share / found;
  found = in_all * share;
}

// Whether all ended before there was enough to look at.
bool SmAccesses::go_through(std::vector<EmulatedCta>& ctas, std::size_t most) {
  const std::uint32_t last_round = now_.round + 200'000;
  bool any = true;
  for (; any && total_ < most && now_.round < last_round; ++now_.round) {
    any = false;
    for (std::size_t i = 0; i < ctas.size(); ++i) {
      if (ctas[i].finished()) continue;
      any = true;
      cta_ = static_cast<int>(i);
      ctas[i].run_round(*this);
    }
  }
  return !any;
}

// What others have written is seen behind an acquire: nothing that L1 holds counts any more.
void SmAccesses::enters(int, std::int32_t block, std::uint32_t) {
  now_.position = 0;
  wait_ = -1;
  if (empties_l1_[static_cast<std::size_t>(block)]) l1_.clear();
}

void SmAccesses::accesses(int warp, const Access& access) {
  const S s = access.step->semantics;
  if (!asks_global(s) || access.reads_nothing) return;
  sectors_of(access, scratch_);
  ++execution_;
  const int waits = facts_.waits[static_cast<std::size_t>(access.at)];
  now_.position += wait_ >= 0 && waits != wait_ ? answered_behind : 1;
  wait_ = waits;
  const auto at = static_cast<std::size_t>(access.at);
  const Instruction& in = *access.step->in;
  const bool through_l1 = s == S::load_global && !is_coherent_beyond_sm(*access.step) && !in.has("BYPASS");
  const bool copies_through = s == S::copy_to_shared && !in.has("BYPASS");
  const bool stores = is_store(s);
  const Way way = stores ? Way::store : through_l1 || copies_through ? Way::l1 : Way::past_l1;
  if (later_.empty() && stores && cta_ == 0) write_bytes(at, access);
  if (later_.empty() && is_global_atomic(*access.step)) take_turns(at, access);
  const bool in_first_turn = is_in_first_turn(warp, access.at);
  double found = 0;
  for (const std::uint64_t each : scratch_) {
    total_ += 1;
    const Touch touch{each, now_, static_cast<std::uint32_t>(at), way, in_first_turn};
    if (!later_.empty()) {
      goes_there(each, static_cast<int>(of_cta_.size()) + cta_);
      touches_.push_back(touch);
      touch_later(touch, 0);
      continue;
    }
    note(at, warp, each, stores);
    Lookups of{.asked = 1};
    if (!find_in_l1(of, touch)) {
      pass_to_l2(of, touch);
      if (!stores) *missed_.try_emplace(each, {}).first = {now_.round, asked_of_line(each)};
    }
    found += of.found;
    lookups[at].add(of);
    if (in_first_turn) of_first_turn[access.at].add(of);
  }
  if (found < static_cast<double>(scratch_.size())) return;
  lookups[at].whole += found;
  if (in_first_turn) of_first_turn[access.at].whole += found;
}

bool SmAccesses::is_in_first_turn(int warp, std::int32_t at) {
  const auto turn = facts_.first_turns.find(at);
  if (turn == facts_.first_turns.end()) return false;
  const auto way = static_cast<std::uint64_t>(cta_) << 16 | static_cast<std::uint64_t>(warp);
  return (*came_.try_emplace(way << 32 | static_cast<std::uint64_t>(at), 0).first)++ < turn->second;
}

// A store does in L1 what a load does (h200_memory_micro, l1_stored), and goes on to L2.
bool SmAccesses::find_in_l1(Lookups& of, const Touch& touch) {
  if (touch.way == Way::past_l1) return false;
  const bool stores = touch.way == Way::store;
  const auto there = l1_.touch(touch.sector, {touch.time.round, stores ? long_ago : touch.time.position});
  if (!there || stores) return false;
  of.found += 1;
  of.joined += on_its_way(*there, touch.time);
  return true;
}

void SmAccesses::pass_to_l2(Lookups& of, const Touch& touch) {
  of.passed += 1;
  const auto [place, is_new] = passages_.try_emplace(touch.sector, {});
  if (is_new) {
    place->last = distance_.comes();
    return;
  }
  const std::uint32_t stretch = distance_.comes_again(place->last);
  place->widest = std::max(place->widest, stretch);
  of.again += 1;
  const double since = touch.way == Way::store ? std::exchange(place->widest, 0) : stretch;
  of.since += since;
  of.since_squared += since * since;
}

void SmAccesses::goes_there(std::uint64_t each, int cta) {
  int& owner = *owners_.try_emplace(each, cta).first;
  if (owner != cta) owner = -1;
}

// Sectors that no other CTA goes to lie elsewhere in each generation. Of others it does not matter who was there
// before.
void SmAccesses::touch_later(Touch touch, std::uint64_t generation) {
  constexpr std::uint64_t apart = std::uint64_t{1} << 34;  // sectors
  const bool is_own = *owners_.find(touch.sector) >= 0;
  if (is_own) touch.sector += generation * apart;
  Lookups of{.asked = touch.way == Way::store ? 0.0 : 1.0};
  if (!find_in_l1(of, touch)) {
    if (is_own) {
      pass_to_l2(of, touch);
    } else {
      of.passed += 1;
      distance_.comes();
    }
  }
  later_[touch.at].add(of);
  if (touch.in_first_turn) later_first_turn_[static_cast<std::int32_t>(touch.at)].add(of);
}

// Bulk copies pass L1 by.
void SmAccesses::acts(int warp, const AsyncAct& act) {
  if (!later_.empty()) return;
  const auto copies = async_.copies.find(act.at);
  if (!act.copy.is_known || copies == async_.copies.end()) return;
  ++execution_;
  const auto at = static_cast<std::size_t>(act.at);
  for_each_sector(act.copy, copies->second.bytes, [&](std::uint64_t each) {
    total_ += 1;
    lookups[at].asked += 1;
    note(at, warp, each, act.kind == ActKind::store);
    if (act.kind != ActKind::load) return;
    pass_to_l2(lookups[at], {each, now_, static_cast<std::uint32_t>(at), Way::past_l1});
    *missed_.try_emplace(each, {}).first = {now_.round, whole_line, cta_};
  });
}

double SmAccesses::run(std::size_t at) const {
  const auto known = first_.find(at);
  return known == first_.end() ? sector : mean_run(known->second.sectors);
}

std::set<std::uint64_t> SmAccesses::together(const std::vector<std::size_t>& all) const {
  std::set<std::uint64_t> out;
  for (const std::size_t at : all)
    if (const auto known = first_.find(at); known != first_.end())
      out.insert(known->second.sectors.begin(), known->second.sectors.end());
  return out;
}

double SmAccesses::run(const std::vector<std::size_t>& all) const {
  const std::set<std::uint64_t> sectors = together(all);
  return sectors.empty() ? sector : mean_run(sectors);
}

double SmAccesses::places(const std::vector<std::size_t>& all, double waiting_alone) const {
  const std::set<std::uint64_t> asked_for = together(all);
  std::set<std::uint64_t> different;
  for (const std::uint64_t each : asked_for) different.insert(each / (place_bytes / sector));
  // A place of more than a granule is there with the last of two (H200M, load_chain: a line behind another comes 32
  // cycles later from DRAM than the sector of a pointer chase).
  const double sectors = static_cast<double>(asked_for.size()) / waiting_alone;
  return std::max(sectors > granule_sectors ? 2.0 : 1.0, static_cast<double>(different.size()) / waiting_alone);
}

double SmAccesses::partial(std::size_t at) const {
  const auto stored = stored_.find(at);
  if (stored == stored_.end()) return 0;
  double in_part = 0;
  stored->second.each([&](std::uint64_t s, Seen) { in_part += *written_.find(s) != ~std::uint32_t{0}; });
  return in_part / static_cast<double>(stored->second.size());
}

double SmAccesses::share_of(std::size_t ctas) const {
  FlatMap<Seen> all;
  std::size_t of_first = 0;
  for (std::size_t i = 0; i < of_cta_.size(); ++i) {
    of_cta_[i].each([&](std::uint64_t touched, Seen) { all.try_emplace(touched, {}); });
    if (i < ctas) of_first = all.size();
  }
  return all.size() == 0 ? 1 : static_cast<double>(of_first) / static_cast<double>(all.size());
}

double SmAccesses::merged_with(std::span<const std::unique_ptr<SmAccesses>> others) const {
  double merged = 0;
  missed_.each([&](std::uint64_t s, const Miss& asked_for) {
    int asking = 1;
    for (const auto& other : others) {
      const Miss* const there = other->missed_.find(s);
      asking += there != nullptr && asked_for.merges(*there);
    }
    merged += static_cast<double>(asking / 2) / asking;
  });
  return missed_.size() == 0 ? 0 : merged / static_cast<double>(missed_.size());
}

void SmAccesses::write_bytes(std::size_t at, const Access& access) {
  FlatMap<Seen>& stored = stored_[at];
  for (std::size_t i = 0; i < 32; ++i) {
    if ((access.lanes >> i & 1) == 0 || (access.address.known >> i & 1) == 0) continue;
    for (std::uint64_t b = access.address.value[i]; b < access.address.value[i] + access.step->bytes; ++b) {
      *written_.try_emplace(b / sector, 0).first |= 1u << b % sector;
      stored.try_emplace(b / sector, {});
    }
  }
}

// Lanes whose address is a guess meet nobody.
void SmAccesses::take_turns(std::size_t at, const Access& access) {
  std::map<std::uint64_t, int> lanes_of;  // by word
  for (std::size_t i = 0; i < 32; ++i)
    if ((access.lanes & ~access.guessed & access.address.known) >> i & 1) ++lanes_of[access.address.value[i]];
  std::map<std::uint64_t, int> turns_of;  // by sector
  for (const std::uint64_t each : scratch_) turns_of[each] = 1;
  for (const auto& [word, lanes] : lanes_of) turns_of[word / sector] = std::max(turns_of[word / sector], lanes);
  for (const auto& [each, of_it] : turns_of) turns[at] += of_it;
  words[at] += static_cast<double>(std::max(lanes_of.size(), scratch_.size()));
}

// What is written is not what is read: both are of the footprint, but for what a CTA reads of its own results.
void SmAccesses::note(std::size_t at, int warp, std::uint64_t each, bool stores) {
  FlatMap<Seen>& seen = of_cta_[static_cast<std::size_t>(cta_)];
  const bool is_new = seen.try_emplace(each << 1 | (stores ? 1 : 0), {}).second;
  lookups[at].unique += is_new && (stores || seen.find(each << 1 | 1) == nullptr);
  if (cta_ != 0) return;
  FirstExecutions& first = first_[at];
  const auto begun = first.begun.try_emplace(warp, execution_).first;
  if (begun->second == execution_) first.sectors.insert(each);
}

// Sectors of the line that the access which is looked at asks for.
std::uint8_t SmAccesses::asked_of_line(std::uint64_t each) const {
  constexpr std::uint64_t line_bytes = 128, sectors = line_bytes / sector;
  std::uint8_t out = 0;
  for (const std::uint64_t other : scratch_)
    if (other / sectors == each / sectors) out |= static_cast<std::uint8_t>(1u << other % sectors);
  return out;
}

// All warps are at the same place of a block at about the same time, and L2 answers behind so many accesses of theirs:
// the load/store unit takes one every other cycle.
bool SmAccesses::on_its_way(const AccessTime& asked_for, const AccessTime& now) const {
  return asked_for.round == now.round &&
         std::abs(std::int64_t{now.position} - asked_for.position) * warps_ < answered_behind;
}

}  // namespace noteg::compiled
