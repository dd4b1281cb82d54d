#include "sim/sm/engine.hpp"

#include <algorithm>

#include "sim/sm/compiler_latencies.hpp"
#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

namespace {

// Of one FP32 pipe; from 32 lanes on there are two, half of them each.
std::uint64_t fma_interval(int lanes) {
  const int of_one = lanes >= 32 ? std::min(32, lanes / 2) : std::min(16, lanes);
  return pipe_interval(of_one);
}

// Pipes that all sub-cores take turns at, a bit for each Action; FP64 has state of its own.
std::uint32_t shared_pipes(const arch::PipesSpec& pipes) {
  const auto bit = [](Action action, bool shared) {
    return static_cast<std::uint32_t>(shared) << static_cast<unsigned>(action);
  };
  return bit(Action::fma, pipes.fma.shared) | bit(Action::fma_heavy, pipes.fma.shared || pipes.fma_heavy.shared) |
         bit(Action::alu, pipes.alu.shared) | bit(Action::half, pipes.half.shared) |
         bit(Action::mufu, pipes.mufu.shared) | bit(Action::uniform, pipes.uniform.shared) |
         bit(Action::branch, pipes.branch.shared);
}

}  // namespace

Engine::Engine(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
               const MemoryEnvironment& environment, const SmWork& work)
    : program_(program),
      env_(environment),
      work_(work),
      switches_(switches),
      ctas_(work.ctas),
      icache_(sm.front_end, switches.icache, sm.sub_cores, program.code.size()),
      scoreboard_(program.scoreboard),
      queue_capacity_(switches.memory_queue ? std::min(sm.memory.queue_entries + 1, queue_ring) : queue_ring),
      issue_twice_(switches.one_issue ? 0 : ~0u),
      issue_lead_(switches.one_issue ? 1 : 2),
      watches_trips_(work.skip_periodic || work.flow.until > 0),
      plain_(work.recorder == nullptr && !program.scoreboard && program.async.empty()),
      dual_fma_(sm.pipes.fma.lanes >= 32),
      fma_interval_(fma_interval(sm.pipes.fma.lanes)),
      heavy_interval_(pipe_interval(sm.pipes.fma_heavy.lanes)),
      alu_interval_(pipe_interval(sm.pipes.alu.lanes)),
      half_interval_(pipe_interval(sm.pipes.half.lanes)),
      mufu_interval_(pipe_interval(sm.pipes.mufu.lanes)),
      uniform_interval_(pipe_interval(sm.pipes.uniform.lanes)),
      fp64_interval_(pipe_interval(sm.pipes.fp64.lanes)),
      branch_interval_(pipe_interval(sm.pipes.branch.lanes)),
      fp64_shared_(sm.pipes.fp64.shared),
      shared_pipes_(shared_pipes(sm.pipes)),
      longest_waiting_first_(sm.front_end.longest_waiting_first),
      variable_queue_(static_cast<std::uint64_t>(sm.pipes.variable_queue)),
      redirect_(static_cast<std::uint64_t>(sm.front_end.branch_redirect.value)),
      // The specification counts from issue; the way to the front of the load/store path is walked already.
      barrier_latency_(std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(std::max(0.0, sm.memory.barrier_latency.value - front_delay)))),
      barrier_interval_(static_cast<std::uint64_t>(sm.memory.barrier_interval.value)),
      constant_interval_(static_cast<std::uint64_t>(sm.memory.constant_interval.value)),
      write_back_(sm.register_file.load_write_back.value),
      sector_(sm.memory.sector.value),
      tma_(sm.tma),
      shared_width_(std::max(1.0, sm.memory.data_width.value)),
      backlog_(sm.memory.shared_interval.value > 1 ? 8 : 0),
      pending_(sm.memory.prt_entries, sm.memory.max_outstanding_requests) {
  const auto of = [this](Action action) -> std::uint64_t& { return intervals_[static_cast<std::size_t>(action)]; };
  intervals_.fill(1);
  of(Action::fma) = dual_fma_ ? 1 : fma_interval_;
  of(Action::fma_heavy) = heavy_interval_;
  of(Action::alu) = alu_interval_;
  of(Action::half) = half_interval_;
  of(Action::mufu) = mufu_interval_;
  of(Action::fp64) = fp64_interval_;
  of(Action::uniform) = uniform_interval_;
  of(Action::branch) = branch_interval_;
  periodic_.patience = work.patience;
  periodic_.haste = work.haste;
  periodic_.many_trips = many_trips(program);
  const int ports = switches.rf_read_ports > 0 ? switches.rf_read_ports : sm.register_file.read_ports;
  const ReadPorts read_ports(ports, sm.register_file.read_window, switches.rf_cache && sm.register_file.cache,
                             switches.rf_ideal, switches.one_issue ? 1 : 2);
  const ConstantCache constants(static_cast<std::uint64_t>(sm.front_end.constant_miss_delay.value));
  const auto sub_cores = static_cast<std::size_t>(sm.sub_cores);
  for (std::size_t i = 0; i < sub_cores; ++i) subs_.emplace_back(i, read_ports, constants);
  std::fill(next_try_.begin() + sm.sub_cores, next_try_.end(), never);
  for (std::size_t i = 0; i < program.loops.size(); ++i) {
    if (program.loops[i].is_main) main_loop_ = static_cast<int>(i);
  }
  slots_.resize(static_cast<std::size_t>(work.resident));
  warps_.resize(static_cast<std::size_t>(work.resident * program.warps));
  if (scoreboard_) scoreboard_->resize(warps_.size());
  for (std::size_t id = 0; id < warps_.size(); ++id) {
    Warp& warp = warps_[id];
    warp.cta = static_cast<std::uint16_t>(id / static_cast<std::size_t>(program.warps));
    warp.sub = static_cast<std::uint8_t>(id % subs_.size());
    warp.bit = static_cast<std::uint8_t>(id / subs_.size());
    subs_[warp.sub].warp_of[warp.bit] = static_cast<std::uint16_t>(id);
    subs_[warp.sub].warps[warp.bit] = &warp;
  }
  for (int i = 0; i < program.warps; ++i) {
    const auto same = [&](int a, int b) {
      const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
      return program.start[x] == program.start[y] &&
             (program.tiles.empty() || tiles_of(program.tiles[x]) == tiles_of(program.tiles[y]));
    };
    int leader = 0;
    while (!same(leader, i)) ++leader;
    leader_of_.push_back(leader);
  }
  if (work.fidelity == Fidelity::sampled) fast_.emplace(*this);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    slots_[slot].first_warp = static_cast<std::uint16_t>(slot * static_cast<std::size_t>(program.warps));
    if (launched_ < work.ctas) {
      ++launched_;
      const double at = static_cast<double>(slot) * work.launch_interval;
      events_.post(static_cast<std::uint64_t>(at), {EventKind::cta_start, 0, static_cast<std::uint16_t>(slot)});
    }
  }
}

SmResult Engine::run() {
  SmResult result;
  result.deadlock = !step_through();
  end_ = std::max(end_, async_.stores_end);
  result.cycles = static_cast<double>(end_);
  result.stepped_cycles = static_cast<double>(end_ - skipped_);
  result.stepped_warp_instructions = stepped_instructions();
  result.ctas = ctas_;
  result.emptied_together = emptied_together_;
  result.counters = total();
  if (const double ctas = steady_end_.ctas - steady_begin_.ctas; ctas > 0 && steady_begin_.time > 0) {
    result.cta_cycles = static_cast<double>(steady_end_.time - steady_begin_.time) / ctas;
    result.cta_counters = steady_end_.count;
    result.cta_counters += steady_begin_.count * -1.0;
    result.cta_counters = result.cta_counters * (1.0 / ctas);
  }
  result.flow = std::move(flow_sample_);
  result.rounds_repeat = rounds_repeat_;
  return result;
}

const CoreCounters& Engine::counted() {
  tally_.move_to(count_);
  return count_;
}

// Every instruction takes one issue slot.
CoreCounters Engine::total() {
  CoreCounters out = counted();
  out.issue_cycles = out.stall_cycles[static_cast<std::size_t>(Stall::selected)] = out.warp_instructions;
  return out;
}

void Engine::handle(const Event& event, std::uint64_t now) {
  switch (event.kind) {
    case EventKind::front_arrival: arrive_at_front(event.warp, now); break;
    case EventKind::front_free:
      front_posted_ = false;
      serve_front(now);
      break;
    case EventKind::release: release(warps_[event.warp], event.counter, now); break;
    case EventKind::async_done: {
      Warp& warp = warps_[event.warp];
      --warp.group[event.counter];
      retire_groups(warp);
      check_blocked(warp, now);
      break;
    }
    case EventKind::barrier_open: {
      CtaSlot& cta = slots_[event.warp];
      cta.arrived = 0;
      for (int i = 0; i < program_.warps; ++i) {
        Warp& warp = warps_[static_cast<std::size_t>(cta.first_warp + i)];
        if (!warp.at_barrier) continue;
        warp.at_barrier = false;
        check_blocked(warp, now);
      }
      break;
    }
    case EventKind::cta_start: start_cta(event.warp, now); break;
    case EventKind::phase_arrival:
    case EventKind::box_arrival:
    case EventKind::phase_complete:
    case EventKind::matmul_begun:
    case EventKind::matmul_group_ended: handle_async(event, now); break;
    case EventKind::registers_read:
      scoreboard_->read(event.warp, event.pc);
      check_blocked(warps_[event.warp], now);
      break;
    case EventKind::registers_written:
      scoreboard_->written(event.warp, event.pc);
      check_blocked(warps_[event.warp], now);
      break;
  }
}

SmResult run_sm(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
                const MemoryPort& port, const SmWork& work) {
  return Engine(program, sm, switches, port, work).run();
}

}  // namespace noteg::sm
