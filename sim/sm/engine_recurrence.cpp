// What decides the future of the SM, in one number, and the periods that are passed over by it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

namespace {

// A time that does not matter once it is over, and may be `never`.
std::uint64_t after(std::uint64_t time, std::uint64_t now) {
  if (time == never) return never;
  return time > now ? time - now : 0;
}

// Fractions of a cycle are told apart to 1/64.
std::uint64_t after(double time, std::uint64_t now) {
  const double left = time - static_cast<double>(now);
  return left > 0 ? static_cast<std::uint64_t>(std::llround(left * 64)) : 0;
}

// A time that may lie on either side of now and may be `never`.
std::uint64_t relative(std::uint64_t time, std::uint64_t now) { return time == never ? never : time - now; }

}  // namespace

// Iterations of loops of that depth are told from those of the warp that leads its stream, those of outer loops do not
// count. Depth 0: the grid; all iterations count.
std::uint64_t Engine::fingerprint(std::uint64_t now, int depth) const {
  Fingerprint add;
  const auto group_of_copy = [&](const Warp& warp, unsigned group) {
    return static_cast<std::uint64_t>((group - warp.group_open) % max_groups);
  };
  for (const CtaSlot& slot : slots_) {
    add(static_cast<std::uint64_t>(slot.running) << 8 | static_cast<std::uint64_t>(slot.arrived));
    if (slot.running == 0) continue;
    for (int i = 0; i < program_.warps; ++i) {
      const Warp& warp = warps_[static_cast<std::size_t>(slot.first_warp + i)];
      if ((subs_[warp.sub].live >> warp.bit & 1u) == 0) continue;
      const bool blocked = (subs_[warp.sub].blocked >> warp.bit & 1u) != 0;
      add(static_cast<std::uint64_t>(warp.pc) << 8 | static_cast<std::uint64_t>(warp.at_barrier) << 1 |
          static_cast<std::uint64_t>(blocked));
      add(after(warp.ready_at, now));
      add(after(warp.stalled_until, now));
      add(warp.counters);
      add(warp.long_mask);
      add(relative(warp.last_issue, now));
      if (blocked || warp.unblocked_at > warp.last_issue) {
        add(static_cast<std::uint64_t>(warp.blocked_by));
        if (!blocked) add(relative(warp.unblocked_at, now));
      }
      if (warp.failed_by != Stall::not_selected) {
        add(static_cast<std::uint64_t>(warp.failed_by));
        add(relative(warp.failed_until, now));
      }
      const Warp& leader = warps_[static_cast<std::size_t>(slot.first_warp + leader_of_[static_cast<std::size_t>(i)])];
      for (std::size_t loop = 0; loop < program_.loops.size(); ++loop) {
        const int of = program_.loops[loop].depth;
        if (of >= depth) add(static_cast<std::uint64_t>(warp.trips[loop] - (of == depth ? leader.trips[loop] : 0)));
      }
      for (std::uint16_t group = warp.group_head; group != static_cast<std::uint16_t>(warp.group_open + 1); ++group)
        add(warp.group[group % max_groups]);
    }
    if (!program_.async.empty()) add_async(static_cast<std::size_t>(&slot - slots_.data()), now, add);
  }
  add(after(async_.matmul_free, now));
  for (const bool known : async_.descriptor_known) add(known ? 1 : 0);
  for (const SubCore& sub : subs_) {
    add(static_cast<std::uint64_t>(sub.live) << 32 | sub.blocked);
    add(static_cast<std::uint64_t>(sub.last));
    add(after(next_try_[sub.index], now));
    add(after(sub.issue_free, now));
    add(after(sub.tensor_free, now));
    for (const std::uint64_t free :
         {sub.lite_free, sub.heavy_free, sub.mufu_free, sub.fp64_free, sub.front_ready, sub.write_back_free})
      add(after(free, now));
    // When another warp issued and when a pipe was free explain how long those who wait have waited.
    std::uint64_t waiting_since = now;
    for (std::uint32_t left = sub.live; left != 0; left &= left - 1)
      waiting_since = std::min(waiting_since, sub.issued_last[static_cast<std::size_t>(std::countr_zero(left))]);
    add(relative(std::max(sub.issued_at, waiting_since), now));
    for (const std::uint64_t free : sub.pipe_free) add(relative(std::max(free, waiting_since), now));
    for (int i = 0; i < sub.queue_size; ++i) {
      const QueuedAccess& access = sub.queue[static_cast<std::size_t>((sub.queue_head + i) % queue_ring)];
      add(static_cast<std::uint64_t>(access.pc) << 16 | access.warp);
      add(after(access.issued + front_delay, now));
      add(group_of_copy(warps_[access.warp], access.group));
    }
    sub.ports.state(now, add);
    sub.constants.state(now, add);
  }
  icache_.state(now, add);
  pending_.state(now, add);
  for (int i = 0; i < front_size_; ++i) add(front_queue_[static_cast<std::size_t>((front_head_ + i) % 16)]);
  add(front_posted_ ? 1 : 0);
  add(after(front_free_, now));
  add(after(passes_free_, now));
  add(after(barrier_free_, now));
  add(after(fp64_free_, now));
  add(after(read_port_free_, now));
  add(after(c_free_ + env_.c_latency, now));
  add(after(read_share_free_ + burst_cycles, now));
  add(after(write_port_free_, now));
  for (const int turn : shared_turn_) add(static_cast<std::uint64_t>(turn));
  events_.each(now, [&](std::uint64_t ahead, const Event& event) {
    std::uint64_t counter = event.counter;
    if (event.kind == EventKind::async_done) counter = group_of_copy(warps_[event.warp], event.counter);
    add(ahead << 32 | static_cast<std::uint64_t>(event.kind) << 24 | counter << 16 | event.warp);
    add(static_cast<std::uint64_t>(event.pc));
  });
  return add.value();
}

// Barriers, walks and multiplications of a CTA, positions relative to those of its first warp that runs.
void Engine::add_async(std::size_t slot, std::uint64_t now, Fingerprint& add) const {
  const auto warps = std::span(warps_).subspan(slots_[slot].first_warp, static_cast<std::size_t>(program_.warps));
  const auto live = [&](const Warp& warp) { return (subs_[warp.sub].live >> warp.bit & 1u) != 0; };
  const auto base = std::ranges::find_if(warps, live);
  if (base == warps.end()) return;
  const std::vector<PhaseBarrier>& barriers = async_.barriers[slot];
  for (const DecodedRing& ring : program_.rings) {
    const std::uint32_t at = base->async.walk[ring.walk];
    add(at % ring.count);
    for (std::uint32_t i = 0; i < ring.count; ++i) {
      const PhaseBarrier& barrier = barriers[static_cast<std::size_t>(ring.first) + i];
      add(barrier.completed - at / ring.count);
      add(static_cast<std::uint64_t>(barrier.arrived) << 32 | static_cast<std::uint32_t>(barrier.open_boxes));
    }
  }
  for (const Warp& warp : warps) {
    if (!live(warp)) continue;
    for (std::size_t i = 0; i < warp.async.walk.size(); ++i) add(warp.async.walk[i] - base->async.walk[i]);
    const WarpgroupState& group = async_.groups[group_of(warp)];
    add(static_cast<std::uint64_t>(warp.async.matmuls - group.begun) << 32 | (warp.async.groups - group.groups_ended));
    add(relative(group.last_start, now));
    const int held = warp.async.sync_barrier;
    add(static_cast<std::uint64_t>(held + 1));
    if (held >= 0) add(warp.async.sync_phase - barriers[static_cast<std::size_t>(held)].completed);
  }
}

// The leading warp of a CTA begins a trip, all CTAs are in their main loops.
bool Engine::pass_equal_trips(std::uint16_t slot, std::uint64_t now) {
  const auto main_loop = static_cast<std::size_t>(main_loop_);
  if (same_trip_.full()) return false;
  const std::uint64_t print =
      fingerprint(now, main_loop_ < 0 ? 1 : program_.loops[static_cast<std::size_t>(main_loop_)].depth) * 64 + slot;
  const Recurrence::Moment* before = same_trip_.find(print);
  if (before == nullptr) {
    Recurrence::Moment& moment = same_trip_.remember(print);
    moment.time = now;
    moment.trips.assign(slots_.size(), 0);
    for (std::size_t i = 0; i < slots_.size(); ++i) moment.trips[i] = warps_[slots_[i].first_warp].trips[main_loop];
    moment.count = counted();
    return false;
  }
  std::int64_t periods = -1;
  const auto advanced = [&](std::size_t i) { return warps_[slots_[i].first_warp].trips[main_loop] - before->trips[i]; };
  for (const Warp& warp : warps_) {
    const CtaSlot& cta = slots_[warp.cta];
    if (cta.running == 0 || (subs_[warp.sub].live >> warp.bit & 1u) == 0) continue;
    const std::int64_t each = advanced(warp.cta), left = work_.trips - 1 - warp.trips[main_loop];
    if (each > 0 && (periods < 0 || left / each < periods)) periods = left / each;
  }
  if (periods < 1) return false;
  std::vector<std::int32_t> more(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].running > 0) more[i] = static_cast<std::int32_t>(advanced(i) * periods);
  for (Warp& warp : warps_)
    if (slots_[warp.cta].running > 0) warp.trips[main_loop] += more[warp.cta];
  CoreCounters period = counted();
  period += before->count * -1.0;
  pass_over(static_cast<double>(periods), (now - before->time) * static_cast<std::uint64_t>(periods), period);
  same_trip_.forget();
  periodic_.restart();
  return true;
}

// A CTA has started in this cycle.
void Engine::pass_equal_rounds(std::uint64_t now) {
  if (same_round_.full()) return;
  const std::uint64_t print = fingerprint(now, 0);
  const Recurrence::Moment* before = same_round_.find(print);
  if (before == nullptr) {
    Recurrence::Moment& moment = same_round_.remember(print);
    moment.time = now + skipped_;
    moment.launched = launched_;
    moment.finished = finished_;
    moment.count = counted();
    return;
  }
  rounds_repeat_ = true;
  const std::int64_t launched = launched_ - before->launched, left = ctas_ - launched_;
  if (launched <= 0 || left < launched) return;
  const std::int64_t periods = left / launched;
  const std::uint64_t cycles = (now + skipped_ - before->time) * static_cast<std::uint64_t>(periods);
  for (CtaSlot& cta : slots_) {
    if (cta.running == 0) continue;
    cta.started += cycles;
    cta.main_begin += cycles;
    cta.lead_begin += cycles;
    if (cta.first_main != 0) cta.first_main += cycles;
  }
  launched_ += launched * periods;
  finished_ += (finished_ - before->finished) * periods;
  CoreCounters period = counted();
  period += before->count * -1.0;
  pass_over(static_cast<double>(periods), cycles, period);
  end_ += cycles;
  if (launched_ == ctas_) {  // the last slot was filled again by the CTA that ended last
    last_refill_ = end_;
    steady_end_ = progress(now);
  }
  same_round_.forget();
}

void Engine::pass_over(double periods, std::uint64_t cycles, const CoreCounters& period) {
  skipped_ += cycles;
  skipped_instructions_ += period.warp_instructions * periods;
  count_ += period * periods;
}

}  // namespace noteg::sm
