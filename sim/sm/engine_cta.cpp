// CTAs: start, barriers, main-loop trips, end and replacement.
#include <algorithm>
#include <cmath>

#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

void Engine::start_cta(int slot, std::uint64_t now) {
  CtaSlot& cta = slots_[static_cast<std::size_t>(slot)];
  cta.running = program_.warps;
  cta.arrived = 0;
  cta.started = cta.main_begin = cta.lead_begin = now + skipped_;
  cta.in_main_loop = false;
  cta.main_loops = 0;
  cta.main_cycles = cta.lead_cycles = cta.first_main = 0;
  if (work_.recorder != nullptr) work_.recorder->ctas.push_back({static_cast<std::uint16_t>(slot), now, 0});
  periodic_.restart();
  same_trip_.forget();
  if (fast_) fast_->cta_starts();
  cta_started_ = true;
  reset_async(slot);
  for (int i = 0; i < program_.warps; ++i) {
    Warp& warp = warps_[static_cast<std::size_t>(cta.first_warp + i)];
    SubCore& sub = subs_[warp.sub];
    const std::int32_t start = program_.start[static_cast<std::size_t>(i)];
    const Warp fresh{.pc = start,
                     .next = &program_.code[static_cast<std::size_t>(start)],
                     .cta = warp.cta,
                     .sub = warp.sub,
                     .bit = warp.bit,
                     .ready_at = now,
                     .last_issue = now};
    set_held_by(sub, warp, no_single_wait);
    warp = fresh;
    sub.issued_last[warp.bit] = now;
    if (plain_) set_held_by(sub, warp, warp.next->held_by);
    if (scoreboard_) scoreboard_->reset(id_of(warp));
    fetch(warp, -1, warp.pc, now);
    sub.live |= 1u << warp.bit;
    sub.blocked &= ~(1u << warp.bit);
    check_blocked(warp, now);
    sub.wheel.put(warp.bit, warp.ready_at, now);
    sub.queueing &= ~(1u << warp.bit);
    next_try(sub) = std::min(next_try(sub), now);
  }
}

void Engine::arrive_at_barrier(std::uint16_t slot, std::uint64_t now) {
  ++slots_[slot].arrived;
  open_complete_barrier(slot, now);
}

// All warps that still run have arrived: others may have left the CTA while these waited.
void Engine::open_complete_barrier(std::uint16_t slot, std::uint64_t now) {
  const CtaSlot& cta = slots_[slot];
  if (cta.arrived > 0 && cta.arrived == cta.running) {
    events_.post(now + barrier_latency_, {EventKind::barrier_open, 0, slot});
  }
}

// Copy groups complete in order: those at the head that are closed and have no copy outstanding.
void Engine::retire_groups(Warp& warp) {
  while (warp.group_head != warp.group_open && warp.group[warp.group_head % max_groups] == 0) ++warp.group_head;
}

std::int64_t Engine::tiles_of(const TileShare& share) const {
  return work_.tiles > share.first ? (work_.tiles - share.first + share.stride - 1) / share.stride : 0;
}

std::int64_t Engine::trips_of(int place, const DecodedLoop& loop) const {
  if (loop.is_main) return work_.trips;
  if (!loop.is_tiles || program_.tiles.empty()) return loop.trips;
  return tiles_of(program_.tiles[static_cast<std::size_t>(place)]);
}

// CTAs that take as long as they need and leave the SM as it is: those that run now run so much later.
void Engine::replace_ctas(std::int64_t ctas, std::uint64_t cycles) {
  for (CtaSlot& cta : slots_) {
    if (cta.running == 0) continue;
    cta.started += cycles;
    cta.main_begin += cycles;
    cta.lead_begin += cycles;
    if (cta.first_main != 0) cta.first_main += cycles;
  }
  launched_ += ctas;
  finished_ += ctas;
  end_ += cycles;
  if (launched_ == ctas_) last_refill_ = end_;  // the last slot was filled again by the CTA that ended last
}

// Trips of the main loop that the leading warp of a CTA has ended.
double Engine::main_trips(const CtaSlot& cta) const {
  return static_cast<double>(warps_[cta.first_warp].trips[static_cast<std::size_t>(std::max(0, main_loop_))]);
}

// How far that warp is in its trip; below 0 before the loop, 1 and more behind it.
double Engine::part_of_trip(const CtaSlot& cta) const {
  return static_cast<double>(warps_[cta.first_warp].pc - program_.mainloop_begin) /
         static_cast<double>(program_.epilogue_begin - program_.mainloop_begin);
}

// The leading warp of a CTA begins another trip. Where all resident CTAs are in their main loops, such beginnings are
// the clock by which a period is recognised.
void Engine::pass_trip(const Warp& warp, std::uint16_t id, std::uint64_t now) {
  if (id != slots_[warp.cta].first_warp) return;
  if (work_.flow.until > 0) measure_flow(now);
  if (!work_.skip_periodic) return;
  const auto main_loop = static_cast<std::size_t>(main_loop_);
  periodic_.trips.resize(slots_.size());
  int running = 0;
  std::uint64_t mask = 0;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const CtaSlot& cta = slots_[slot];
    periodic_.trips[slot] = -1;
    if (cta.running == 0) continue;
    if (!cta.in_main_loop) return;
    periodic_.trips[slot] = main_trips(cta) + (slot == warp.cta ? 0.0 : part_of_trip(cta));
    mask |= std::uint64_t{1} << slot;
    ++running;
  }
  if (!scoreboard_ && pass_equal_trips(warp.cta, now)) return;
  const double periods = periodic_.observe(now, running, mask, work_.trips, counted(), stepped_instructions());
  if (periods <= 0) return;
  for (Warp& each : warps_) {
    if (slots_[each.cta].running == 0) continue;
    each.trips[main_loop] += static_cast<std::int32_t>(periodic_.advanced(each.cta, periods));
  }
  pass_over(periods, periodic_.length(periods), periodic_.counters());
  same_trip_.forget();
}

void Engine::phase_change(Warp& warp, std::uint16_t id, std::int32_t from, std::int32_t to, std::uint64_t now) {
  CtaSlot& cta = slots_[warp.cta];
  const int place = id - cta.first_warp;
  const bool leads = place == program_.lead_warp;
  if (!leads && std::ranges::find(program_.multiplying, place) == program_.multiplying.end()) return;
  constexpr int main_loop = 1;
  const auto in_main = [this](std::int32_t pc) {
    return program_.code[static_cast<std::size_t>(pc)].region == main_loop;
  };
  const bool begins = in_main(to);  // from the prologue, or from the epilogue of the tile before
  if (in_main(from) == begins) return;
  const std::uint64_t at = now + skipped_;
  // One warpgroup's epilogue beside another's main loop costs no time of its own.
  if (begins && cta.main_loops++ == 0) cta.main_begin = at;
  if (!begins && --cta.main_loops == 0) cta.main_cycles += at - cta.main_begin;
  if (!leads) return;
  if (begins && cta.first_main == 0) cta.first_main = at;
  if (begins) cta.lead_begin = at;
  if (!begins) cta.lead_cycles += at - cta.lead_begin;
  cta.in_main_loop = begins;
  periodic_.restart();
  same_trip_.forget();
}

// The leading warp of a CTA has begun another trip.
void Engine::measure_flow(std::uint64_t now) {
  ++trips_begun_;
  FlowSample& out = flow_sample_;
  if (trips_begun_ == work_.flow.from) out = {static_cast<double>(now), 0, total()};
  if (trips_begun_ != work_.flow.until) return;
  out.cycles = static_cast<double>(now) - out.began;
  CoreCounters counters = total();
  counters += out.counters * -1.0;
  out.counters = counters;
  measured_ = work_.flow.then_stop;
}

// How far the CTAs of the SM have come.
Progress Engine::progress(std::uint64_t now) {
  Progress out{now + skipped_, static_cast<double>(finished_), total()};
  for (const CtaSlot& cta : slots_) {
    if (cta.running == 0) continue;
    const double part = part_of_trip(cta);
    if (part >= 0) out.ctas += part < 1 ? (main_trips(cta) + part) / static_cast<double>(work_.trips) : 1.0;
  }
  return out;
}

// A generation has ended: as many CTAs as are resident. Behind the first, which all start together, the time that a
// CTA takes is compared from window to window. Once it is settled, those that are at work end, and before them as many
// as bring the SM to the same end as all CTAs would.
void Engine::sample_ctas(std::uint64_t now) {
  std::rotate(marks_.begin(), marks_.begin() + 1, marks_.end());
  marks_.back() = progress(now);
  if (marks_.front().time == 0) return;
  bool agree = true;
  double before = 0;
  for (std::size_t i = 1; i < marks_.size(); ++i) {
    const Progress &from = marks_[i - 1], &to = marks_[i];
    const double cycles = static_cast<double>(to.time - from.time) / (to.ctas - from.ctas);
    agree = agree && (before == 0 || std::abs(cycles / before - 1) < CtaSampling::agree);
    before = cycles;
  }
  const std::int64_t resident = work_.resident, until = finished_ + resident + work_.ctas % resident;
  const bool settled = agree || stepped_instructions() > CtaSampling::most_instructions;
  if (!settled || rounds_repeat_ || ctas_ - until < resident) return;
  ctas_ = until;
  sampled_ = true;
  if (agree) steady_begin_ = marks_.front();
}

void Engine::finish_warp(SubCore& sub, Warp& warp, std::uint64_t now) {
  sub.live &= ~(1u << warp.bit);
  CtaSlot& cta = slots_[warp.cta];
  if (--cta.running > 0) {
    open_complete_barrier(warp.cta, now);
    return;
  }
  ++finished_;
  end_ = now + 1 + skipped_;
  if (finished_ == work_.resident) steady_begin_ = progress(now);
  if (fast_) fast_->cta_ends(now);
  if (work_.sample_ctas && !sampled_ && finished_ % work_.resident == 0) sample_ctas(now);
  const bool refills_last = finished_ == ctas_ - work_.resident;
  if (refills_last) steady_end_ = progress(now);
  if (refills_last) last_refill_ = end_;
  if (finished_ > ctas_ - work_.resident && last_refill_ > 0 &&
      static_cast<double>(end_ - last_refill_) < in_step * static_cast<double>(end_ - cta.started))
    ++emptied_together_;
  if (work_.recorder != nullptr)
    for (CtaRecord& record : work_.recorder->ctas)
      if (record.slot == warp.cta && record.ended == 0) record.ended = now + 1;
  const std::uint64_t first_main = cta.first_main == 0 ? cta.main_begin : cta.first_main;
  count_.prologue_cycles += static_cast<double>(first_main - cta.started);
  count_.mainloop_cycles += static_cast<double>(cta.main_cycles);
  count_.epilogue_cycles += static_cast<double>(end_ - first_main - cta.main_cycles);
  count_.lead_epilogue_cycles += static_cast<double>(end_ - first_main - cta.lead_cycles);
  for (int i = 0; i < program_.warps; ++i) {
    const Warp& other = warps_[static_cast<std::size_t>(cta.first_warp + i)];
    count_.stall_cycles[static_cast<std::size_t>(Stall::drained)] += static_cast<double>(now - other.last_issue);
  }
  if (launched_ < ctas_) {
    ++launched_;
    events_.post(now + std::max<std::uint64_t>(1, static_cast<std::uint64_t>(work_.cta_launch_latency)),
                 {EventKind::cta_start, 0, warp.cta});
  }
}

}  // namespace noteg::sm
