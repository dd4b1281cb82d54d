#include "sim/sm/machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/sm/issue.hpp"

namespace noteg::sm {

Machine::Machine(const DecodedProgram& program_, const arch::SmSpec& spec_, const CoreSwitches& switches_,
                 const MemoryPort& port, const SmWork& work_)
    : program(program_),
      spec(spec_),
      work(work_),
      switches(switches_),
      warps(static_cast<std::size_t>(std::max(work_.slots, work_.resident) * program_.warps)),
      pipes(spec_, program_),
      traffic(port, spec_.memory.sector.value),
      load_store(*this, spec_, static_cast<std::size_t>(spec_.sub_cores)),
      async(*this, spec_),
      ctas(*this),
      constant_fill(static_cast<std::uint64_t>(spec_.front_end.constant_miss_delay.value),
                    work_.constant_fill_interval),
      icache(spec_.front_end, switches_.icache, spec_.sub_cores, program_.places),
      scoreboard(program_.scoreboard),
      observer(work_.recorder),
      issue_twice_(switches_.one_issue ? 0 : ~0u),
      issue_lead_(switches_.one_issue ? 1 : 2),
      plain_(work_.recorder == nullptr && !program_.scoreboard),
      ports_full_(
          std::ranges::any_of(program_.tensor, [](const TensorCost& c) { return c.need[0] >= c.interval - 1; })),
      redirect_(static_cast<std::uint64_t>(spec_.front_end.branch_redirect.value)) {
  const arch::RegisterFileSpec& file = spec.register_file;
  const RegisterFile registers({.banks = file.banks,
                                .ports = switches.rf_read_ports > 0 ? switches.rf_read_ports : file.read_ports,
                                .window = file.read_window,
                                .cache = switches.rf_cache && file.cache,
                                .ideal = switches.rf_ideal,
                                .width = switches.one_issue ? 1u : 2u});
  const WarpScheduler scheduler(switches.scheduler, spec.front_end.longest_waiting_first);
  const auto sub_cores = static_cast<std::size_t>(spec.sub_cores);
  for (std::size_t i = 0; i < sub_cores; ++i) subs.push_back({i, scheduler, registers});
  std::fill(next_try_.begin() + spec.sub_cores, next_try_.end(), never);
  if (scoreboard) scoreboard->resize(warps.size());
  // CTA after CTA, warp after warp; one of as many warps as fill all sub-cores alike begins one further than the one
  // before it (H200M, warp_placement).
  const std::size_t further = static_cast<std::size_t>(program.warps) % sub_cores == 0 ? 1 : 0;
  for (std::size_t id = 0; id < warps.size(); ++id) {
    Warp& warp = warps[id];
    warp.id = static_cast<std::uint16_t>(id);
    warp.cta = static_cast<std::uint16_t>(id / static_cast<std::size_t>(program.warps));
    warp.sub = static_cast<std::uint8_t>((id + further * warp.cta) % sub_cores);
    warp.bit = static_cast<std::uint8_t>(id / sub_cores);
    subs[warp.sub].scheduler.add(warp);
  }
  if (work.fidelity == Fidelity::sampled) fast_forward.emplace(*this);
  ctas.launch_first();
}

SmResult Machine::run() {
  SmResult result;
  result.deadlock = !step_through();
  if (result.deadlock) result.blocked = blocked_warps();
  const std::uint64_t end = std::max(ctas.end(), async.stores_end());
  result.cycles = static_cast<double>(end);
  result.stepped_cycles = static_cast<double>(end - skipped_);
  result.stepped_warp_instructions = stepped_instructions();
  result.ctas = ctas.ended();
  const auto first_main = static_cast<double>(std::min(ctas.first_main(), end));
  result.prologue = std::max(first_main, traffic.first_ask());
  result.emptied_together = ctas.emptied_together();
  result.counters = total();
  // What CTAs execute is known; windows that were passed cut iterations in the middle.
  if (skipped_ > 0 && !result.deadlock) {
    result.counters.issued = fast_forward->streams().cta_issued();
    for (double& each : result.counters.issued) each *= static_cast<double>(result.ctas);
  }
  return result;
}

// Until the last CTA has ended, or nothing can ever happen again: returns whether the work is done.
bool Machine::step_through() {
  constexpr std::size_t group = 4;  // sub-cores that are looked at at once
  const std::size_t groups = (subs.size() + group - 1) / group * group;
  constexpr std::uint64_t most_idle = 1 << 20;  // looks at an SM in which no warp issues anything: none ever will
  std::uint64_t now = 0, looks = 0;
  double issued = -1;
  while (!ctas.all_ended()) {
    if (++looks % most_idle == 0 && std::exchange(issued, stepped_instructions()) == issued) return false;
    events.drain(now, [&](const Event& event) { handle(event, now); });
    if (cta_started_) {
      cta_started_ = false;
      if (fast_forward) fast_forward->ctas_have_started(now);
    }
    // What one sub-core does reaches another by events only, later than now.
    std::uint32_t due = 0;
    for (std::size_t from = 0; from < groups; from += group)
      for (std::size_t i = from; i < from + group; ++i) due |= static_cast<std::uint32_t>(next_try_[i] <= now) << i;
    for (std::uint32_t once_more = due & issue_twice_;; once_more = 0) {
      for (; due != 0; due &= due - 1) step(subs[static_cast<std::size_t>(std::countr_zero(due))], now);
      if (once_more == 0) break;
      due = once_more;
    }
    std::uint64_t wake = never;
    for (std::size_t from = 0; from < groups; from += group)
      for (std::size_t i = from; i < from + group; ++i) wake = std::min(wake, next_try_[i]);
    now = wake <= now + 1 ? now + 1 : std::min(wake, events.next(now + 1));
    if (now == never) return ctas.all_ended();
  }
  return true;
}

void Machine::handle(const Event& event, std::uint64_t now) {
  switch (event.kind) {
    case EventKind::front_arrival: load_store.arrive(event.warp, now); break;
    case EventKind::front_free: load_store.arbiter_free(now); break;
    case EventKind::release: release(warps[event.warp], event.counter, now); break;
    case EventKind::copy_arrival: load_store.copy_arrives(event, now); break;
    case EventKind::async_done: {
      Warp& warp = warps[event.warp];
      --warp.group[event.counter];
      const std::uint16_t head = warp.group_head;
      retire_groups(warp);
      if (head != warp.group_head) async.groups_ended(warp, head, now);
      check_blocked(warp, now);
      break;
    }
    case EventKind::barrier_open: ctas.open_barrier(event.warp, now); break;
    case EventKind::cta_start:
      if (fast_forward) fast_forward->cta_starts();
      cta_started_ = true;
      ctas.start(event.warp, now);
      break;
    case EventKind::phase_arrival:
    case EventKind::box_arrival:
    case EventKind::phase_complete:
    case EventKind::matmul_begun:
    case EventKind::matmul_group_ended: async.handle(event, now); break;
    case EventKind::registers_read:
      scoreboard->read(event.warp, event.pc);
      check_blocked(warps[event.warp], now);
      break;
    case EventKind::registers_written:
      scoreboard->written(event.warp, event.pc);
      check_blocked(warps[event.warp], now);
      break;
  }
}

void Machine::start_warp(Warp& warp, std::int32_t pc, std::uint64_t now) {
  WarpScheduler& scheduler = subs[warp.sub].scheduler;
  scheduler.set_need(warp, no_single_wait);
  warp = {.pc = pc,
          .next = &program.code[static_cast<std::size_t>(pc)],
          .id = warp.id,
          .cta = warp.cta,
          .sub = warp.sub,
          .bit = warp.bit,
          .ready_at = now,
          .last_issue = now};
  if (plain_) scheduler.set_need(warp, warp.next->held_by);
  if (scoreboard) scoreboard->reset(id_of(warp));
  fetch(warp, -1, warp.pc, now);
  scheduler.start(warp, now);
  check_blocked(warp, now);
  scheduler.try_from(warp, warp.ready_at, now);
  wake(warp.sub, now);
}

// Fetch runs an instruction buffer ahead of issue; a jump starts it anew at its target.
void Machine::fetch(Warp& warp, std::int32_t from, std::int32_t next, std::uint64_t now) {
  if (icache.never_misses()) return;
  const auto place_of = [&](std::int32_t at) { return at < 0 ? at : program.places[static_cast<std::size_t>(at)]; };
  const std::int32_t before = place_of(from), place = place_of(next), line = icache.line_of(place);
  if (place != before + 1 || line != icache.line_of(before))
    warp.ready_at = std::max(warp.ready_at, icache.enter(warp.sub, line, now));
  const std::int32_t ahead = icache.line_of(place + icache.lead());
  if (ahead != line) icache.touch(warp.sub, ahead, now);
}

void Machine::release(Warp& warp, int counter, std::uint64_t now) {
  warp.counters -= std::uint64_t{1} << (8 * counter);
  const std::uint64_t byte = std::uint64_t{0xff} << (8 * counter);
  warp.long_mask &= (warp.counters & byte) == 0 ? ~byte : ~std::uint64_t{0};
  check_blocked(warp, now);
}

// A counter, a barrier, an unfinished copy group, an asynchronous unit, or the scoreboard. EXIT gives registers and
// shared memory back for another CTA, so it waits for all that is still to use them (stall_drain of Nsight Compute).
Stall Machine::why_blocked(const Warp& warp) const {
  const DecodedInstruction& in = *warp.next;
  const auto of_counters = [&](std::uint64_t mask) {
    return (mask & warp.long_mask) != 0 ? Stall::long_scoreboard : Stall::short_scoreboard;
  };
  if (warp.at_barrier && !in.passes_barrier) return Stall::barrier;
  const bool exits = in.action == Action::exit;
  if (exits && (!has_drained(warp) || (scoreboard && scoreboard->is_pending(id_of(warp))))) return Stall::drained;
  if (const std::uint64_t held = warp.counters & in.wait_bits; held != 0) return of_counters(held);
  if (in.depbar_counter >= 0) {
    const int counter = 8 * in.depbar_counter;
    if ((warp.counters >> counter & 0xff) > in.depbar) return of_counters(std::uint64_t{0xff} << counter);
  } else if (in.depbar != 0xff && static_cast<std::uint16_t>(warp.group_open - warp.group_head) > in.depbar) {
    return Stall::async_copy;
  }
  if (!program.async.empty()) {
    if (const Stall reason = async.why_blocked(warp); reason != Stall::selected) return reason;
  }
  if (!scoreboard) return Stall::selected;
  const Scoreboard::Hold hold = scoreboard->hold(id_of(warp), warp.pc);
  if (!hold.pending) return Stall::selected;
  return hold.global ? Stall::long_scoreboard : Stall::short_scoreboard;
}

[[gnu::flatten]] void Machine::check_blocked(Warp& warp, std::uint64_t now) {
  WarpScheduler& scheduler = subs[warp.sub].scheduler;
  const Stall reason = why_blocked(warp);
  if (reason != Stall::selected) {
    scheduler.block(warp);
    warp.blocked_by = reason;
    return;
  }
  warp.async.sync_barrier = -1;
  if (scoreboard) {
    const std::uint64_t ready_at = scoreboard->hold(id_of(warp), warp.pc).ready_at;
    if (ready_at > warp.ready_at) warp.ready_at = warp.stalled_until = ready_at;
  }
  if (!scheduler.is_blocked(warp)) return;
  scheduler.unblock(warp);
  warp.unblocked_at = now;
  wake(warp.sub, now);
}

std::vector<BlockedWarp> Machine::blocked_warps() const {
  std::vector<BlockedWarp> out;
  for (const Warp& warp : warps)
    if (is_live(warp)) out.push_back({id_of(warp), warp.pc, why_blocked(warp)});
  return out;
}

std::int64_t Machine::tiles_of(const TileShare& share) const {
  return work.tiles > share.first ? (work.tiles - share.first + share.stride - 1) / share.stride : 0;
}

std::int64_t Machine::iterations_of(int place, const DecodedLoop& loop) const {
  if (loop.is_main) return work.iterations;
  if (!loop.is_tiles || program.tiles.empty()) return loop.iterations;
  return tiles_of(program.tiles[static_cast<std::size_t>(place)]);
}

// Every instruction takes one issue slot.
CoreCounters Machine::total() {
  CoreCounters out = counted();
  out.issue_cycles = out.stall_cycles[static_cast<std::size_t>(Stall::selected)] = out.warp_instructions;
  return out;
}

void Machine::skip(std::uint64_t cycles, double instructions, const CoreCounters& counters) {
  skipped_ += cycles;
  traffic.skip(static_cast<double>(cycles));
  skipped_instructions_ += instructions;
  count += counters;
}

void Machine::hash_warps(StateHash& add, const Streams& streams, std::size_t slot, int depth) const {
  const std::span<const Warp> of_cta = warps_of(slot);
  for (std::size_t i = 0; i < of_cta.size(); ++i) {
    if (!is_live(of_cta[i])) continue;
    const auto& [pc, next, id, cta, sub, bit, held_by, ready_at, stalled_until, counters, last_issue, unblocked_at,
                 blocked_by, failed_by, failed_until, long_mask, iterations, group, group_head, group_open, at_barrier,
                 async_part] = of_cta[i];
    const bool blocked = is_blocked(of_cta[i]);
    add(static_cast<std::uint64_t>(pc) << 8 | static_cast<std::uint64_t>(at_barrier) << 1 |
        static_cast<std::uint64_t>(blocked));
    add.until(ready_at);
    add.until(stalled_until);
    add(counters);
    add(long_mask);
    add.at(last_issue);
    if (blocked || unblocked_at > last_issue) {
      add(static_cast<std::uint64_t>(blocked_by));
      if (!blocked) add.at(unblocked_at);
    }
    if (failed_by != Stall::not_selected) {
      add(static_cast<std::uint64_t>(failed_by));
      add.at(failed_until);
    }
    const Warp& leader = of_cta[static_cast<std::size_t>(streams.leader_of(of_cta[i]))];
    for (int loop = program.innermost[static_cast<std::size_t>(pc)]; loop >= 0;) {  // of others it has done none
      const auto at = static_cast<std::size_t>(loop);
      const int of = program.loops[at].depth;
      const bool leads = of == depth && streams.loop_at(leader, depth) == loop;
      const auto level = static_cast<std::size_t>(of);
      if (of >= depth) add(static_cast<std::uint64_t>(iterations[level] - (leads ? leader.iterations[level] : 0)));
      loop = program.loops[at].parent;
    }
    for (std::uint16_t at = group_head; at != static_cast<std::uint16_t>(group_open + 1); ++at)
      add(group[at % max_groups]);
  }
}

std::uint64_t Machine::hash(const Streams& streams, std::uint64_t now, int depth) const {
  StateHash add(now);
  ctas.hash(add);
  for (std::size_t slot = 0; slot < ctas.size(); ++slot)
    if (ctas.is_running(slot)) hash_warps(add, streams, slot, depth);
  for (const auto& [index, scheduler, registers, constants, issued_at, issue_free, holds] : subs) {
    scheduler.hash(add);
    // When another warp issued and when a pipe was free explain how long those who wait have waited.
    const std::uint64_t waiting_since = scheduler.waiting_since(now);
    pipes.hash(add, index, waiting_since);
    registers.hash(add);
    constants.hash(add);
    add.at(std::max(issued_at, waiting_since));
    add.until(issue_free);
    holds.hash(add, scheduler.ready_since(now));
    add.until(next_try_[index]);
  }
  pipes.hash(add);
  load_store.hash(add);
  traffic.hash(add);
  async.hash(add);
  constant_fill.hash(add);
  icache.hash(add);
  events.each(now, [&](std::uint64_t ahead, const Event& event) {
    const auto& [kind, counter, warp, pc] = event;
    const bool of_group = kind == EventKind::async_done || kind == EventKind::copy_arrival;
    const std::uint64_t told = of_group ? group_behind_open(warps[warp], counter) : counter;
    add(ahead << 32 | static_cast<std::uint64_t>(kind) << 24 | told << 16 | warp);
    add(static_cast<std::uint64_t>(pc));
  });
  return add.value();
}

SmResult run_sm(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
                const MemoryPort& port, const SmWork& work) {
  return Machine(program, sm, switches, port, work).run();
}

}  // namespace noteg::sm
