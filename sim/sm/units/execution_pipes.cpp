#include "sim/sm/units/execution_pipes.hpp"

#include "sim/sm/instruction_timing.hpp"

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

ExecutionPipes::ExecutionPipes(const arch::SmSpec& sm, const DecodedProgram& program)
    : program_(program),
      sub_cores_(static_cast<std::size_t>(sm.sub_cores)),
      dual_fma_(sm.pipes.fma.lanes >= 32),
      fma_interval_(fma_interval(sm.pipes.fma.lanes)),
      half_is_lite_(dual_fma_ && pipe_interval(sm.pipes.half.lanes) == fma_interval_),
      fp64_shared_(sm.pipes.fp64.shared),
      shared_(shared_pipes(sm.pipes)),
      beside_(static_cast<std::uint64_t>(sm.wgmma.beside.value + 0.5)),
      beside_mufu_(static_cast<std::uint64_t>(sm.wgmma.beside_mufu.value + 0.5)),
      mufu_beside_(static_cast<std::uint64_t>(sm.wgmma.mufu_beside.value + 0.5)),
      variable_queue_(static_cast<std::uint64_t>(sm.pipes.variable_queue)) {
  const arch::PipesSpec& spec = sm.pipes;
  const auto of = [this](Action action) -> std::uint64_t& { return intervals_[static_cast<std::size_t>(action)]; };
  intervals_.fill(1);
  of(Action::fma) = dual_fma_ ? 1 : fma_interval_;
  of(Action::fma_heavy) = pipe_interval(spec.fma_heavy.lanes);
  of(Action::alu) = pipe_interval(spec.alu.lanes);
  of(Action::half) = pipe_interval(spec.half.lanes);
  of(Action::mufu) = pipe_interval(spec.mufu.lanes);
  of(Action::fp64) = pipe_interval(spec.fp64.lanes);
  of(Action::uniform) = pipe_interval(spec.uniform.lanes);
  of(Action::branch) = pipe_interval(spec.branch.lanes);
}

// What one sub-core has just put into a pipe of which the SM has one keeps the others from it.
void ExecutionPipes::share(std::size_t user_index, Action action) {
  const State& user = of_[user_index];
  const auto pipe = static_cast<std::size_t>(action);
  const auto fma = static_cast<std::size_t>(Action::fma), heavy = static_cast<std::size_t>(Action::fma_heavy);
  for (State& each : std::span(of_).first(sub_cores_)) {
    if (pipe == fma) each.lite = std::max(each.lite, user.lite);
    if (pipe == fma || pipe == heavy) {
      each.heavy = std::max(each.heavy, user.heavy);
      each.free[heavy] = each.heavy;
      each.free[fma] = dual_fma_ ? std::min(each.lite, each.heavy) : each.heavy;
      each.busy |= bit(Action::fma) | bit(Action::fma_heavy);
      continue;
    }
    each.free[pipe] = user.free[pipe];
    if (action == Action::mufu) each.mufu = user.mufu;
    if (pipe < pipes) each.busy |= 1u << pipe;
  }
}

// Variable-latency instructions wait in a queue of their unit, not at issue (MICRO25, section 5).
std::uint64_t ExecutionPipes::queue_free(std::uint64_t unit_free, std::uint64_t interval) const {
  const std::uint64_t waiting = variable_queue_ * interval;
  return unit_free > waiting ? unit_free - waiting : 0;
}

std::uint64_t ExecutionPipes::queued(std::size_t sub, const DecodedInstruction& in, std::uint64_t now) const {
  if (in.action == Action::mufu) return of_[sub].mufu - interval_of(in) - now;
  if (in.action == Action::fp64) return (fp64_shared_ ? fp64_shared_free_ : of_[sub].fp64) - interval_of(in) - now;
  return 0;
}

ExecutionPipes::Use ExecutionPipes::use_of(std::size_t sub, const DecodedInstruction& in, std::uint64_t now) const {
  const std::uint64_t interval = interval_of(in);
  switch (in.action) {
    case Action::fma: return {RecordedUnit::fma, now, now + fma_interval_};
    case Action::fma_heavy: return {RecordedUnit::fma, now, now + interval};
    case Action::alu: return {RecordedUnit::alu, now, now + interval};
    case Action::half: return {RecordedUnit::half, now, now + interval};
    case Action::mufu: return {RecordedUnit::mufu, of_[sub].mufu - interval, of_[sub].mufu};
    case Action::fp64: {
      const std::uint64_t end = fp64_shared_ ? fp64_shared_free_ : of_[sub].fp64;
      return {RecordedUnit::fp64, end - interval, end};
    }
    case Action::tensor: {
      const double end = of_[sub].tensor, exact = program_.tensor[static_cast<std::size_t>(in.tensor)].interval;
      return {RecordedUnit::tensor, static_cast<std::uint64_t>(end - exact), static_cast<std::uint64_t>(end)};
    }
    case Action::uniform: return {RecordedUnit::uniform, now, now + interval};
    case Action::memory:
    case Action::constant_load:
    case Action::control:
    case Action::branch:
    case Action::barrier:
    case Action::asynchronous:
    case Action::exit: break;
  }
  return {};
}

void ExecutionPipes::hash(StateHash& add, std::size_t sub, std::uint64_t waiting_since) const {
  const auto& [free, busy, lite, heavy, mufu, fp64, tensor] = of_[sub];
  for (const std::uint64_t each : free) add.at(std::max(each, waiting_since));
  for (const std::uint64_t each : {lite, heavy, mufu, fp64}) add.until(each);
  add.until(tensor);
  static_cast<void>(busy);  // follows from `free`
}

}  // namespace noteg::sm
