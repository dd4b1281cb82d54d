#include "sim/sm/units/cta_slots.hpp"

#include <algorithm>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

CtaSlots::CtaSlots(Machine& sm)
    : sm_(sm),
      // The specification counts from issue; the way to the arbiter of the load/store unit is walked already.
      barrier_latency_(std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(std::max(0.0, sm.spec.memory.barrier_latency.value - front_delay)))),
      slots_(sm.slots()),
      ctas_(sm.work.ctas),
      room_(sm.work.resident * sm.program.warps) {}

void CtaSlots::launch_first() {
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(sm_.work.resident) && launched_ < ctas_; ++slot)
    launch(slot, 0);
}

// The first CTAs of an SM follow each other closely. Others come for those that have ended, at the rate at which the
// chip sees CTAs end. An SM may be ahead of that by as many as run on it: others are behind then.
void CtaSlots::launch(std::size_t slot, std::uint64_t ready) {
  std::uint64_t start = std::max(ready, next_launch_);
  if (launched_ >= sm_.work.resident) {
    const auto interval = static_cast<std::uint64_t>(sm_.work.end_interval);
    const std::uint64_t at_once = interval * static_cast<std::uint64_t>(sm_.work.resident);
    start = std::max(start, refilled_ - std::min(refilled_, at_once));
    refilled_ = std::max(refilled_, start) + interval;
  }
  next_launch_ = start + static_cast<std::uint64_t>(sm_.work.start_interval);
  slots_[slot].is_taken = true;
  room_ -= sm_.program.warps;
  most_at_once_ = std::max(most_at_once_, ++launched_ - ended_);
  sm_.events.post(start, {EventKind::cta_start, 0, static_cast<std::uint16_t>(slot)});
}

void CtaSlots::start(std::size_t slot, std::uint64_t now) {
  Slot fresh;
  fresh.is_taken = true;
  fresh.running = sm_.program.warps;
  fresh.started = fresh.main_begin = fresh.lead_begin = now + sm_.skipped();
  slots_[slot] = fresh;
  sm_.observer.cta_starts(slot, now);
  sm_.async.reset(slot);
  int place = 0;
  for (Warp& warp : sm_.warps_of(slot)) sm_.start_warp(warp, sm_.program.start[static_cast<std::size_t>(place++)], now);
}

void CtaSlots::arrive_at_barrier(std::size_t slot, std::uint64_t now) {
  ++slots_[slot].arrived;
  open_complete_barrier(slot, now);
}

// All warps that still run have arrived: others may have left the CTA while these waited.
void CtaSlots::open_complete_barrier(std::size_t slot, std::uint64_t now) {
  const Slot& cta = slots_[slot];
  if (cta.arrived > 0 && cta.arrived == cta.running)
    sm_.events.post(now + barrier_latency_, {EventKind::barrier_open, 0, static_cast<std::uint16_t>(slot)});
}

void CtaSlots::open_barrier(std::size_t slot, std::uint64_t now) {
  slots_[slot].arrived = 0;
  for (Warp& warp : sm_.warps_of(slot)) {
    if (!warp.at_barrier) continue;
    warp.at_barrier = false;
    sm_.check_blocked(warp, now);
  }
}

void CtaSlots::change_region(const Warp& warp, std::int32_t from, std::int32_t to, std::uint64_t now) {
  const DecodedProgram& program = sm_.program;
  const int place = sm_.place_of(warp);
  const bool leads = place == program.lead_warp;
  if (!leads && std::ranges::find(program.multiplying, place) == program.multiplying.end()) return;
  constexpr int main_loop = 1;
  const auto in_main = [&](std::int32_t pc) { return program.code[static_cast<std::size_t>(pc)].region == main_loop; };
  const bool begins = in_main(to);  // from the prologue, or from the epilogue of the tile before
  if (in_main(from) == begins) return;
  Slot& cta = slots_[warp.cta];
  const std::uint64_t at = now + sm_.skipped();
  // One warpgroup's epilogue beside another's main loop costs no time of its own.
  if (begins && cta.main_loops++ == 0) cta.main_begin = at;
  if (!begins && --cta.main_loops == 0) cta.main_cycles += at - cta.main_begin;
  if (!leads) return;
  if (begins && cta.first_main == 0) cta.first_main = at;
  if (begins) cta.lead_begin = at;
  if (!begins) cta.lead_cycles += at - cta.lead_begin;
}

void CtaSlots::end_warp(const Warp& warp, std::uint64_t now) {
  ++room_;
  if (--slots_[warp.cta].running > 0) return open_complete_barrier(warp.cta, now);
  if (slots_[warp.cta].to_store == 0) end(warp.cta, now);
}

void CtaSlots::stores(std::size_t slot, std::uint64_t gone, std::uint64_t now) {
  Slot& cta = slots_[slot];
  cta.stores_gone = std::max(cta.stores_gone, gone);
  if (--cta.to_store == 0 && cta.running == 0) end(slot, now);
}

void CtaSlots::end(std::size_t slot, std::uint64_t now) {
  Slot& cta = slots_[slot];
  cta.is_taken = false;
  const std::uint64_t free = std::max(now, cta.stores_gone);
  ++ended_;
  end_ = std::max(end_, free + 1 + sm_.skipped());
  see_end(free);
  if (sm_.fast_forward) sm_.fast_forward->cta_ends(now);
  if (ended_ == ctas_ - sm_.work.resident) last_refill_ = end_;
  if (ended_ > ctas_ - sm_.work.resident && last_refill_ > 0 &&
      static_cast<double>(end_ - last_refill_) < end_together * static_cast<double>(end_ - cta.started))
    ++emptied_together_;
  sm_.observer.cta_ends(slot, now);
  count_phases(cta);
  for (const Warp& warp : sm_.warps_of(slot))
    sm_.count.stall_cycles[static_cast<std::size_t>(Stall::drained)] += static_cast<double>(free - warp.last_issue);
  // The chip looks for room when a CTA ends, not when a warp does. It then finds that of warps of others which have
  // ended (h200_memory_micro, warp_exit: of CTAs of 8 warps, 7 of which end at once, 8 run at first, 17 later).
  const std::uint64_t ready =
      free + std::max<std::uint64_t>(1, static_cast<std::uint64_t>(sm_.work.cta_launch_latency));
  for (std::size_t next = slot; next < slots_.size() && launched_ < ctas_ && room_ >= sm_.program.warps;
       next = free_slot())
    launch(next, ready);
}

// The chip sees CTAs end one after the other, those of other SMs between. What a kernel that uses memory takes to end
// goes on meanwhile.
void CtaSlots::see_end(std::uint64_t free) {
  const std::uint64_t seen = std::max(free, next_end_), slack = static_cast<std::uint64_t>(sm_.work.end_slack);
  next_end_ = seen + static_cast<std::uint64_t>(sm_.work.end_interval);
  seen_end_ = std::max(seen_end_, seen - std::min(seen, slack) + sm_.skipped());
}

std::size_t CtaSlots::free_slot() const {
  return static_cast<std::size_t>(std::ranges::find(slots_, false, &Slot::is_taken) - slots_.begin());
}

void CtaSlots::count_phases(const Slot& cta) {
  const std::uint64_t first_main = cta.first_main == 0 ? cta.main_begin : cta.first_main;
  first_main_ = std::min(first_main_, first_main);
  sm_.count.prologue_cycles += static_cast<double>(first_main - cta.started);
  sm_.count.mainloop_cycles += static_cast<double>(cta.main_cycles);
  sm_.count.epilogue_cycles += static_cast<double>(end_ - first_main - cta.main_cycles);
  sm_.count.lead_epilogue_cycles += static_cast<double>(end_ - first_main - cta.lead_cycles);
}

void CtaSlots::Slot::shift(std::uint64_t cycles) {
  started += cycles;
  main_begin += cycles;
  lead_begin += cycles;
  if (first_main != 0) first_main += cycles;
}

void CtaSlots::have_passed(std::int64_t ctas, std::uint64_t end) {
  launched_ += ctas;
  ended_ += ctas;
  end_ = end;
  if (launched_ == ctas_) last_refill_ = end_;
}

void CtaSlots::replace(std::int64_t ctas, std::uint64_t cycles) {
  for (Slot& cta : slots_) cta.shift(cycles);
  have_passed(ctas, end_ + cycles);
}

void CtaSlots::turn_over(std::size_t slot, std::uint64_t at) {
  Slot& cta = slots_[slot];
  cta.shift(at - cta.main_begin);
  cta.lead_begin = at;
  cta.main_cycles = cta.lead_cycles = 0;
  have_passed(1, std::max(end_, at));
}

// When a CTA started decides what is counted, not what happens.
void CtaSlots::hash(StateHash& add) const {
  add.until(next_launch_);
  add.until(next_end_);
  add.until(refilled_);
  for (const auto& [is_taken, running, arrived, started, first_main, main_begin, main_cycles, lead_begin, lead_cycles,
                    main_loops, to_store, stores_gone, answered] : slots_) {
    add(static_cast<std::uint64_t>(is_taken) << 16 | static_cast<std::uint64_t>(running) << 8 |
        static_cast<std::uint64_t>(arrived));
    add.until(stores_gone);
    add.until(answered);
    if (running > 0) add(static_cast<std::uint64_t>(main_loops));
  }
}

}  // namespace noteg::sm
