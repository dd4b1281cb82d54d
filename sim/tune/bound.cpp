#include "sim/tune/bound.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/families/build.hpp"
#include "kernels/families/family.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/gpu/gemm/gemm_traffic.hpp"
#include "sim/gpu/l2_traffic.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/gpu/operating_point.hpp"
#include "sim/power/clock.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "sim/support/arithmetic.hpp"

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
  out.k_per_iteration = std::max(1, program->k_per_iteration);
  out.idle_iterations = program->prologue_tiles;
  const auto main_loop = std::ranges::find_if(program->loops, &kernels::Loop::is_main);
  if (main_loop == program->loops.end()) return out;
  for (std::int32_t at = main_loop->begin; at <= main_loop->branch; ++at) {
    const sm::DecodedInstruction& in = decoded.code[static_cast<std::size_t>(at)];
    const double times = kernels::repeats_in_iteration(*program, at);
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
  const auto iterations =
      static_cast<double>(std::max<std::int64_t>(0, ceil_div(k, load.k_per_iteration) - load.idle_iterations));
  const double of_sub_core = std::max(load.sub_core_cycles, load.issued) / sub_cores;
  return iterations * load.warps * std::max({load.address_cycles, load.front_cycles, of_sub_core});
}

namespace {

constexpr double lanes = 32;
constexpr double vector_bytes = 16;  // of a lane's widest load

// Bytes that the warps of a CTA read from shared memory for one k: every warp its rows of A and columns of B.
double shared_bytes_per_k(const kernels::KernelConfig& k) {
  const double warp_m = k.warp_m.value_or(k.tile.m), warp_n = k.warp_n.value_or(k.tile.n);
  const double warps = k.tile.m / warp_m * (k.tile.n / warp_n);
  return warps * (warp_m * kernels::bytes_of(k.dtype_in) + warp_n * kernels::bytes_of_b(k));
}

// What a configuration must do at least.
struct LeastWork {
  double ctas = 0;         // of the grid, slices of K counted
  double busiest = 1;      // of them on one SM
  double depth = 0;        // k values of one
  double area = 0;         // results of one, edges beyond the matrix included
  double moved_bytes = 0;  // by DRAM
  double read_bytes = 0;   // of L2, tiles clipped to the matrix
};

LeastWork least_work(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape) {
  const double a_bytes = gpu::a_element_bytes(kernel), b_bytes = kernels::bytes_of_b(kernel);  // per element
  const double bytes_out = kernels::bytes_of(kernel.dtype_out);
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const auto batch = static_cast<double>(shape.batch);
  const double split = std::max(1, kernel.split_k);
  const auto tiles_m = static_cast<double>(ceil_div(shape.m, kernel.tile.m));
  const auto tiles_n = static_cast<double>(ceil_div(shape.n, kernel.tile.n));
  LeastWork w;
  w.ctas = tiles_m * tiles_n * batch * split;
  w.read_bytes = batch * (m * tiles_n * a_bytes + n * tiles_m * b_bytes) * k;
  // Of split-K's remainder nothing is assumed.
  w.busiest = std::max(1.0, std::ceil(w.ctas / gpu.sms));
  w.depth = std::max(1.0, k / split);
  w.area = static_cast<double>(kernel.tile.m) * kernel.tile.n;
  // What a warm L2 may still hold need not come again, and results that fit stay there.
  w.moved_bytes = std::max(0.0, batch * ((m * a_bytes + n * b_bytes) * k + m * n * bytes_out) - gpu.l2.size.value);
  return w;
}

// Loads of fragments by a simt kernel: for one k of a CTA, in warp instructions and in bytes for all lanes. Copies:
// warp instructions that fetch the tiles.
struct FragmentLoads {
  double instructions = 0, bytes = 0, copies = 0;
};

FragmentLoads fragment_loads(const kernels::KernelConfig& kernel) {
  if (!traits_of(kernel).transposes_copies || !kernel.thread_m || !kernel.thread_n) return {};
  const double threads = static_cast<double>(kernel.tile.m) * kernel.tile.n / (*kernel.thread_m * *kernel.thread_n);
  const double bytes = threads * (*kernel.thread_m + *kernel.thread_n) * kernels::bytes_of(kernel.dtype_in);
  const double copies = kernel.tile.m / static_cast<double>(kernel.align_a.value_or(4)) +
                        kernel.tile.n / static_cast<double>(kernel.align_b.value_or(4));
  return {bytes / (lanes * vector_bytes), bytes, copies / lanes};
}

// Cycles of one SM for one k of a CTA: the pipes, the issue slots, shared memory and the way to each sub-core.
double cycles_per_k(const arch::SmSpec& sm, const kernels::KernelConfig& kernel, const LeastWork& work, double rate) {
  const double arithmetic = work.area / rate;
  if (kernels::copies_in_bulk(kernel.family)) return arithmetic;
  const double shared = shared_bytes_per_k(kernel) / sm.memory.data_width.value;
  if (kernels::on_tensor_cores(kernel)) return std::max(arithmetic, shared);
  const FragmentLoads loads = fragment_loads(kernel);
  const double issue = (work.area / lanes + loads.instructions + loads.copies) / sm.sub_cores;
  const double turn = sm.memory.shared_cycles.value;
  const double wide = std::clamp(sm.memory.lds_wide_interval.value, turn, 2 * turn);  // two of 64 bits may be shorter
  const double link = loads.instructions * wide / sm.sub_cores;
  return std::max({arithmetic, shared, issue, link});
}

// At a clock: an L2 with a clock of its own keeps its bytes per second where the clock falls (gpu/memory_port.cpp), in
// steps of 2 %.
double l2_cycles(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const LeastWork& work, Hertz clock) {
  if (kernels::copies_in_bulk(kernel.family)) return 0;  // a box that a cluster shares leaves L2 once
  const double bytes =
      (kernel.tile.m * gpu::a_element_bytes(kernel) + kernel.tile.n * kernels::bytes_of_b(kernel)) * work.depth;
  const double steps = 1.02 * std::max(1.0, gpu.clock.boost / clock);
  const double rate = gpu.l2.read_bandwidth.value * (gpu.l2.own_clock ? steps : 1.0);
  const double arriving = work.read_bytes * gpu::least_reads_that_arrive(gpu);
  return std::max(work.busiest * bytes / gpu.l2.sm_bandwidth.value, arriving / rate);
}

// The events that no run of the kernel can do without.
power::Activity least_activity(const kernels::KernelConfig& kernel, const LeastWork& work, double rate) {
  power::Activity out;
  const double macs = work.ctas * work.area * work.depth;
  if (kernels::on_tensor_cores(kernel)) {
    const std::size_t kind = kernels::tensor_kind(kernels::tensor_form_of(kernel));
    out.tensor_macs.emplace_back(std::string(kernels::tensor_kind_name(kind)), macs);
  } else {
    out.issued[static_cast<std::size_t>(kernels::Opcode::ffma)] = macs / lanes;
    const FragmentLoads loads = fragment_loads(kernel);
    out.issued[static_cast<std::size_t>(kernels::Opcode::lds)] = work.ctas * work.depth * loads.instructions;
    out.data_bytes = Bytes{work.ctas * work.depth * loads.bytes};
  }
  out.dram_write_bytes = Bytes{work.moved_bytes};  // which cost no more than bytes read
  out.sm_cycles = macs / rate;
  return out;
}

}  // namespace

// Where the board's limit binds, time is at least cycles over the clock, and at least the energy of the least events
// over the limit. The first falls with the clock, the second rises: both are least where they meet, which is the clock
// that the least work alone would settle at.
Seconds lower_bound(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                    const gpu::SimOptions& sim, const StaticLoad* load) {
  const double rate = gpu::peak_rate(gpu.sm, kernel);
  if (rate <= 0) return Seconds{0};
  const LeastWork work = least_work(gpu, kernel, shape);
  double of_cta = work.depth * cycles_per_k(gpu.sm, kernel, work, rate);
  if (load != nullptr)
    of_cta = std::max(of_cta, least_cycles(*load, static_cast<std::int64_t>(work.depth), gpu.sm.sub_cores));
  const Seconds dram = Bytes{work.moved_bytes} / gpu.dram.bandwidth;
  power::Activity activity = least_activity(kernel, work, rate);
  const auto time_at = [&](Hertz clock) {
    const Cycles sm{std::max(work.busiest * of_cta, l2_cycles(gpu, kernel, work, clock))};
    return gpu.launch.kernel + std::max(sm / clock, dram);
  };
  const power::OperatingPoint point = power::solve_clock(gpu::clock_request(gpu, sim), [&](Hertz clock) {
    activity.time = time_at(clock);
    return activity;
  });
  return time_at(point.clock);
}

namespace {

// Cycles of the busiest SM: generations of resident CTAs, each filling its stages, walking K and storing its tile.
double estimated_cycles(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const LeastWork& work,
                        double per_k, int resident, double latency) {
  const double tile_k = std::max(1, kernel.tile.k), iterations = std::ceil(work.depth / tile_k);
  const double stages = kernel.stages.value_or(1), busy = tile_k * per_k;
  const double stored = work.area * kernels::bytes_of(kernel.dtype_out) / gpu.l2.sm_bandwidth.value;
  const auto generation = [&](double ctas) {
    // A copy is asked for `stages - 1` iterations ahead; without stages a CTA waits for each of its tiles itself.
    const double iteration =
        stages > 1 ? std::max(ctas * busy, (latency + busy) / (stages - 1)) : std::max(ctas * busy, latency + busy);
    return gpu.sm.cta_launch.value + latency + iterations * iteration + ctas * stored + latency;
  };
  const double together = std::min<double>(resident, work.busiest), whole = std::floor(work.busiest / together);
  const double rest = work.busiest - whole * together;
  return whole * generation(together) + (rest > 0 ? generation(rest) : 0);
}

}  // namespace

Seconds estimate(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                 const gpu::SimOptions& sim, const StaticLoad* load) {
  const double rate = gpu::peak_rate(gpu.sm, kernel);
  if (rate <= 0) return Seconds{0};
  const LeastWork work = least_work(gpu, kernel, shape);
  double per_k = cycles_per_k(gpu.sm, kernel, work, rate);
  if (load != nullptr)
    per_k = std::max(per_k, least_cycles(*load, static_cast<std::int64_t>(work.depth), gpu.sm.sub_cores) / work.depth);
  int resident = 1;
  if (kernel.registers && kernel.shared_bytes && kernel.threads)
    if (const auto fit =
            gpu::occupancy_of(gpu.sm.occupancy, {*kernel.threads, *kernel.registers, *kernel.shared_bytes}))
      resident = fit->ctas_per_sm;
  // Slices write their parts of C and read them again, one after the other or in a launch of its own.
  const double slices = std::max(1, kernel.split_k), part = work.area * 4;
  const double parts = slices > 1 ? 2 * work.ctas * part : 0;
  const double turn = part / gpu.l2.sm_bandwidth.value + 2 * gpu.l2.latency.value;
  const Seconds dram = Bytes{work.moved_bytes} / (gpu.dram.bandwidth * gpu.dram.read_efficiency);
  power::Activity activity = least_activity(kernel, work, rate);
  const auto time_at = [&](Hertz clock) {
    const double from_l2 = gpu.l2.latency.value, from_dram = (gpu.dram.latency * clock).value;
    const double latency = work.moved_bytes > 0 ? from_dram : from_l2;
    const double sm = estimated_cycles(gpu, kernel, work, per_k, resident, latency) + (slices - 1) * turn;
    const double l2 = l2_cycles(gpu, kernel, work, clock) + parts / gpu.l2.write_bandwidth.value;
    return gpu.launch.kernel + std::max(Cycles{std::max(sm, l2)} / clock, dram);
  };
  const power::OperatingPoint point = power::solve_clock(gpu::clock_request(gpu, sim), [&](Hertz clock) {
    activity.time = time_at(clock);
    return activity;
  });
  return time_at(point.clock);
}

}  // namespace noteg::tune
