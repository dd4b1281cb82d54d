// What a watched run writes down (recorder.hpp).
#include <algorithm>
#include <array>

#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

namespace {

constexpr std::array<std::string_view, recorded_unit_count> unit_names{
    "FMA", "ALU", "half", "MUFU", "FP64", "tensor core", "uniform", "load/store front", "tensor cores", "bulk copies"};

}  // namespace

std::string_view name_of(RecordedUnit unit) { return unit_names[static_cast<std::size_t>(unit)]; }

bool is_of_sub_core(RecordedUnit unit) { return unit < RecordedUnit::load_store; }

void Engine::record_issue(const SubCore& sub, const Warp& warp, std::uint16_t id, std::uint64_t now) {
  Recorder& log = *work_.recorder;
  for (; log.next_sample <= now; log.next_sample += log.sample_interval)
    log.samples.push_back({log.next_sample, total()});
  split_wait(sub, warp, now, [&](Stall reason, std::uint64_t from, std::uint64_t until) {
    if (!log.waits.empty()) {
      WaitRecord& last = log.waits.back();
      if (last.warp == id && last.reason == reason && last.until == from) {
        last.until = until;
        return;
      }
    }
    log.waits.push_back({id, reason, from, until});
  });
  log.issues.push_back({now, id, warp.pc});
}

// Called when the pipe is taken already.
void Engine::record_pipe(const SubCore& sub, const DecodedInstruction& in, std::uint16_t id, std::int32_t pc,
                         std::uint64_t now) {
  const auto use = [&](RecordedUnit unit, std::uint64_t from, std::uint64_t until) {
    work_.recorder->uses.push_back({unit, id, pc, from, until, now + in.latency});
  };
  switch (in.action) {
    case Action::fma: return use(RecordedUnit::fma, now, now + fma_interval_);
    case Action::fma_heavy: return use(RecordedUnit::fma, now, now + heavy_interval_);
    case Action::alu: return use(RecordedUnit::alu, now, now + alu_interval_);
    case Action::half: return use(RecordedUnit::half, now, now + half_interval_);
    case Action::mufu: return use(RecordedUnit::mufu, sub.mufu_free - mufu_interval_, sub.mufu_free);
    case Action::fp64: {
      const std::uint64_t end = fp64_shared_ ? fp64_free_ : sub.fp64_free;
      return use(RecordedUnit::fp64, end - fp64_interval_, end);
    }
    case Action::tensor: {
      const auto end = static_cast<std::uint64_t>(sub.tensor_free);
      const double interval = program_.tensor[static_cast<std::size_t>(in.tensor)].interval;
      return use(RecordedUnit::tensor, static_cast<std::uint64_t>(sub.tensor_free - interval), end);
    }
    case Action::uniform: return use(RecordedUnit::uniform, now, now + uniform_interval_);
    case Action::memory:
    case Action::constant_load:
    case Action::control:
    case Action::branch:
    case Action::barrier:
    case Action::asynchronous:
    case Action::exit: return;
  }
}

void Engine::record_use(RecordedUnit unit, std::uint16_t id, std::int32_t pc, std::uint64_t from, std::uint64_t until,
                        std::uint64_t ready) {
  work_.recorder->uses.push_back({unit, id, pc, from, std::max(from, until), ready});
}

}  // namespace noteg::sm
