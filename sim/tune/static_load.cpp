#include "sim/tune/static_load.hpp"

#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/gpu/gemm_launch.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/support/ceil_div.hpp"

namespace noteg::tune {
namespace {

// A load may find its data in L1 or have it filled, whichever is less.
double front_cycles(const sm::MemoryCost& cost) {
  if (cost.kind != sm::MemoryKind::load_global) return cost.front_cycles;
  return std::min(std::max(cost.front_cycles, cost.l1_bank_cycles), cost.miss_cycles);
}

}  // namespace

Result<StaticLoad> static_load(const arch::GpuSpec& gpu, const kernels::KernelConfig& resolved,
                               const kernels::GemmShape& shape) {
  Result<kernels::BuildRequest> request = gpu::build_request(gpu, resolved);
  if (!request) return request.errors();
  request->is_draft = true;
  const Result<kernels::Program> program = kernels::build_program(*request);
  if (!program) return program.errors();
  const sm::DecodedProgram decoded = sm::decode(*program, gpu.sm, gpu::address_facts(resolved, shape));
  StaticLoad out;
  out.warps = decoded.warps;
  out.k_per_trip = std::max(1, program->k_per_trip);
  out.idle_trips = program->prologue_tiles;
  const auto main_loop = std::ranges::find_if(program->loops, &kernels::Loop::is_main);
  if (main_loop == program->loops.end()) return out;
  for (std::int32_t at = main_loop->begin; at <= main_loop->branch; ++at) {
    const sm::DecodedInstruction& in = decoded.code[static_cast<std::size_t>(at)];
    const double times = kernels::repeats_in_trip(*program, at);
    out.issued += times;
    if (in.action != sm::Action::memory && in.action != sm::Action::barrier) continue;
    const sm::MemoryCost& cost = decoded.memory[static_cast<std::size_t>(in.memory)];
    out.address_cycles += times * cost.address_cycles;
    out.front_cycles += times * front_cycles(cost);
    out.sub_core_cycles += times * cost.sub_core_cycles;
  }
  return out;
}

double least_cycles(const StaticLoad& load, std::int64_t k, int sub_cores) {
  const auto trips = static_cast<double>(std::max<std::int64_t>(0, ceil_div(k, load.k_per_trip) - load.idle_trips));
  const double of_sub_core = std::max(load.sub_core_cycles, load.issued) / sub_cores;
  return trips * load.warps * std::max({load.address_cycles, load.front_cycles, of_sub_core});
}

}  // namespace noteg::tune
