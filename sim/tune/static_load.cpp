#include "sim/tune/static_load.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/build.hpp"
#include "sim/chip/sm_cache.hpp"
#include "sim/core/memory_cost.hpp"
#include "sim/support/ceil_div.hpp"

namespace noteg::tune {
namespace {

// How often a trip of the main loop executes an instruction: 0 outside of it.
std::int64_t times_in_main_loop(const kernels::Program& program, std::int32_t at) {
  std::int64_t times = 1;
  bool is_inside = false;
  for (const kernels::Loop& loop : program.loops) {
    if (at < loop.begin || at > loop.branch) continue;
    if (loop.is_main)
      is_inside = true;
    else
      times *= loop.trips;
  }
  return is_inside ? times : 0;
}

// A load may find its data in L1 or have it filled, whichever is less.
double front_cycles(const core::MemoryCost& cost) {
  if (cost.kind != core::MemoryKind::load_global) return cost.front_cycles;
  return std::min(std::max(cost.front_cycles, cost.l1_bank_cycles), cost.miss_cycles);
}

bool goes_through_the_front(core::MemoryKind kind) {
  return kind != core::MemoryKind::none && kind != core::MemoryKind::constant;
}

}  // namespace

Result<StaticLoad> static_load(const arch::GpuSpec& gpu, const kernels::KernelConfig& resolved,
                               const kernels::GemmShape& shape) {
  Result<kernels::BuildRequest> request = chip::build_request(gpu, resolved);
  if (!request) return request.errors();
  request->is_draft = true;
  const Result<kernels::Program> program = kernels::build_program(*request);
  if (!program) return program.errors();
  const core::AddressFacts facts = chip::address_facts(resolved, shape);
  std::vector<std::optional<core::MemoryCost>> copies(program->patterns.size());  // long to count, alike by pattern
  StaticLoad out;
  out.warps = std::max(1, program->warps);
  out.k_per_trip = std::max(1, program->k_per_trip);
  out.idle_trips = program->prologue_tiles;
  for (std::size_t at = 0; at < program->code.size(); ++at) {
    const auto times = static_cast<double>(times_in_main_loop(*program, static_cast<std::int32_t>(at)));
    const kernels::Instruction& in = program->code[at];
    if (times == 0) continue;
    out.issued += times;
    if (!goes_through_the_front(core::memory_kind(in.op))) continue;
    core::MemoryCost cost;
    if (in.op == kernels::Opcode::ldgsts && in.pattern >= 0) {
      std::optional<core::MemoryCost>& known = copies[static_cast<std::size_t>(in.pattern)];
      if (!known) known = core::memory_cost(in, *program, gpu.sm, facts, true);
      cost = *known;
    } else {
      cost = core::memory_cost(in, *program, gpu.sm, facts, true);
    }
    out.front_cycles += times * front_cycles(cost);
    out.sub_core_cycles += times * cost.sub_core_cycles;
  }
  return out;
}

double least_cycles(const StaticLoad& load, std::int64_t k, int sub_cores) {
  const auto trips = static_cast<double>(std::max<std::int64_t>(0, ceil_div(k, load.k_per_trip) - load.idle_trips));
  const double of_sub_core = std::max(load.sub_core_cycles, load.issued) / sub_cores;
  return trips * load.warps * std::max(load.front_cycles, of_sub_core);
}

}  // namespace noteg::tune
