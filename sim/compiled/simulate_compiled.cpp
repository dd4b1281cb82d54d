#include "sim/compiled/simulate_compiled.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ir/tensor_form.hpp"
#include "sim/compiled/class_times.hpp"
#include "sim/compiled/l1_size.hpp"
#include "sim/compiled/semaphores.hpp"
#include "sim/compiled/traffic.hpp"
#include "sim/gpu/kernel_report.hpp"
#include "sim/gpu/memory_port.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

static_assert(most_nested_loops <= sm::max_depth);

// Registers of a thread: what the launch file or the listing says, else the highest that the code names, and two that
// the compiler keeps beside them (nvcc: 228 named, 230 reported). A launch fits an SM: where warps pass registers on to
// others (USETMAXREG), the code names more than each warp begins with.
int registers_of(const arch::OccupancySpec& sm, const Code& code, const Launch& launch, const Profile& profile) {
  if (launch.registers) return *launch.registers;
  if (code.registers) return *code.registers;
  constexpr std::int64_t most = 255, unit = 8;
  const std::int64_t threads = std::max<std::int64_t>(32 * launch.warps(), 1);
  const std::int64_t fits = std::max<std::int64_t>(sm.registers / threads / unit * unit, unit);
  return static_cast<int>(std::min({most, std::int64_t{profile.code.registers} + 2, fits}));
}

std::int64_t shared_of(const Launch& launch, const Profile& profile, std::vector<std::string>& notes) {
  if (launch.static_shared) return *launch.static_shared + launch.dynamic_shared;
  std::int64_t touched = 0;
  for (const CtaClass& each : profile.classes) touched = std::max<std::int64_t>(touched, each.shared_end);
  const std::int64_t bytes = std::max(touched, launch.dynamic_shared);
  if (bytes > launch.dynamic_shared)
    notes.push_back(fmt::format(
        "static shared memory taken from the addresses that are used: {} bytes (launch file: static_shared)",
        bytes - launch.dynamic_shared));
  return bytes;
}

bool loads_ahead(const Profile& profile) {
  return std::ranges::any_of(profile.code.steps, [](const Step& step) {
    return step.semantics == S::copy_to_shared || step.semantics == S::bulk_load;
  });
}

// Multiply-accumulates of the launch, and the rate of the unit that does most of them.
gpu::Arithmetic arithmetic_of(const arch::SmSpec& sm, const Profile& profile) {
  gpu::Arithmetic out;
  double tensor = 0, scalar = 0;
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    const Instruction& in = *profile.code.steps[i].in;
    if (const auto form = kernels::tensor_form_from(timed_as(in), in.modifiers)) {
      tensor += profile.counts[i].warps * kernels::macs_of(*form) / (form->warp_group ? 4 : 1);
      out.macs_per_cycle = sm::peak_macs_per_cycle(sm, *form);
    } else if (in.base == "FFMA" || in.base == "FMUL" || in.base == "FADD") {
      scalar += profile.counts[i].threads * (in.base == "FFMA" ? 1.0 : 0.5);
    }
  }
  out.tensor_cores = tensor > 0;
  if (!out.tensor_cores) out.macs_per_cycle = static_cast<double>(sm.sub_cores) * sm.pipes.fma.lanes;
  out.operations = 2 * (out.tensor_cores ? tensor : scalar);
  return out;
}

struct Sectors {
  double asked = 0, missed = 0, stored = 0, masked_lines = 0, pairs = 0, split = 0, bulk = 0;
};

// What L2 takes longer for a sector whose neighbour nobody wants: it delivers by pairs. H200M, l2_partial_loads and
// l2_gathers: 155 to 157 a ns in 4 to 24 MB, 164 in 2; of whole pairs 277.
constexpr double sector_alone = 0.78;

Sectors sectors_of(const Profile& profile, const Footprints& footprints) {
  Sectors out;
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    const S s = profile.code.steps[i].semantics;
    const double sectors = profile.counts[i].sectors, bulk = profile.bulk_sectors[i];
    if (bulk > 0) {
      const bool loads = is_bulk_load(*profile.code.steps[i].in);
      (loads ? out.asked : out.stored) += bulk;
      if (loads) out.missed += bulk, out.pairs += bulk, out.bulk += bulk;
    }
    // An atomic operation needs no mask: 102 single words a ns (H200M, l2_atomics), of stores 76.
    if (is_store(s)) out.stored += sectors;
    if (is_store(s) && !is_global_atomic(profile.code.steps[i])) out.masked_lines += profile.counts[i].masked;
    if (s != S::load_global && s != S::copy_to_shared && s != S::atomic_global) continue;
    out.asked += sectors;
    const double missed = sectors * (1 - footprints.loads[i].hit_rate), again = profile.counts[i].again;
    out.asked += again;
    out.missed += missed + again;
    out.split += profile.counts[i].split;
    const double alone = sectors > 0 ? std::clamp(2 * profile.counts[i].lines / sectors - 1, 0.0, 1.0) : 0;
    out.pairs += missed * (1 + alone * sector_alone) + again;
  }
  return out;
}

// Loads by how they fare in L1, with the mean of each class: turns in which all sectors are found, and of the other
// turns the rest.
void set_l1(gpu::Traffic& traffic, const Profile& profile, const Footprints& footprints) {
  struct Share {
    double asked = 0, found = 0, whole = 0, joined = 0;
  };
  std::array<Share, 4> of{};
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    if (profile.code.steps[i].semantics != S::load_global) continue;
    const auto add = [&](const L1Behaviour& load, double sectors) {
      Share& share = of[static_cast<std::size_t>(l1_class(load))];
      share.asked += sectors;
      share.found += sectors * load.hit_rate;
      share.whole += sectors * load.whole;
      share.joined += sectors * load.hit_rate * load.joined;
    };
    const auto turns = footprints.turns.find(static_cast<std::int32_t>(i));
    const double sectors = profile.counts[i].sectors;
    if (turns == footprints.turns.end()) {
      add(footprints.loads[i], sectors);
    } else {
      add(turns->second.first, sectors * turns->second.first_share);
      add(turns->second.later, sectors * (1 - turns->second.first_share));
    }
  }
  traffic.shared[static_cast<std::size_t>(kernels::Matrix::a)] = {
      .again = sm::SharedSectors::steps, .beyond = 0, .lies = true};
  for (const kernels::Matrix matrix : {kernels::Matrix::b, kernels::Matrix::c}) {
    const Share& share = of[static_cast<std::size_t>(matrix)];
    if (share.asked <= 0) continue;
    const L1Behaviour mean{share.found / share.asked, share.whole / share.asked, share.joined / share.found};
    constexpr double steps = sm::SharedSectors::steps;
    const double again = std::floor(mean.whole * steps);
    traffic.shared[static_cast<std::size_t>(matrix)] = {
        static_cast<int>(again), std::min(1.0, (1 - mean.hit_rate) / (1 - again / steps)), mean.joins(), !mean.joins()};
  }
}

// A multiplication of a warpgroup reads its rows of A, unless they lie in registers, and of B, 32 bytes each, 128 bytes
// a wavefront (counters of our H200); of each of its four warps.
double matrix_wavefronts(const Instruction& in) {
  const auto form = kernels::tensor_form_from(timed_as(in), in.modifiers);
  if (!form || !form->warp_group) return 0;
  const bool a_in_registers = in.operands > 1 && in.operand[1].kind == Kind::reg;
  return (form->shape.n + (a_in_registers ? 0 : 64)) * 32.0 / 128 / 4;
}

// Nsight Compute counts a wavefront for each shuffle, for each copy to shared memory and for the start of each warp
// beside those of loads and stores (our H200: kernels with none of the others).
double counted_wavefronts(const Profile& profile, const Launch& launch) {
  double sum = static_cast<double>(launch.ctas() * launch.warps());
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    const Step& step = profile.code.steps[i];
    if (step.semantics == S::copy_to_shared || step.semantics == S::shuffle)
      sum += profile.counts[i].warps;
    else
      sum += profile.counts[i].wavefronts + profile.counts[i].warps * matrix_wavefronts(*step.in);
  }
  return sum;
}

// What CTAs have done for them one after the other, microseconds in all, adds. Those that run together come together,
// at the end of their work: those of the last wave are waited for, or of a loop that asks so many `times` those of its
// last iteration. In all the kernel cannot end before it is done.
double added(double busy, const TrafficSource& source, double time_us, double times = 1) {
  const auto ctas = static_cast<double>(source.launch->ctas());
  const double waves = std::max(1.0, ctas / (static_cast<double>(source.resident) * source.gpu->sms));
  return std::max(busy / (waves * times), busy - time_us);
}

// Microseconds of L2 with atomic operations, as far as they add. Its slices do these and reads one after the other
// (H200M, l2_reads_and_sums: a word read and one added to take 67 us, the one 26 and the other 42 alone).
double atomics_us(const TrafficSource& source, const Profile& profile, double time_us, double reads_us) {
  double times = 1;  // that a warp comes to the same one
  AtomicForm form;
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    const Step& step = profile.code.steps[i];
    if (!is_global_atomic(step) || profile.counts[i].warps <= 0) continue;
    form.bytes_per_lane = std::max<double>(form.bytes_per_lane, step.bytes);
    const std::string_view type = step.in->modifiers;
    form.is_float = form.is_float || type.find(".F") != type.npos || type.find(".BF") != type.npos;
    form.answers = form.answers || step.semantics == S::atomic_global;
    times =
        std::max(times, profile.counts[i].warps / static_cast<double>(source.launch->ctas() * source.launch->warps()));
  }
  if (form.bytes_per_lane <= 0) return 0;
  const double busy = 1e6 * atomic_time(source, form).value;
  return std::max(added(busy, source, time_us, times), busy + reads_us - time_us);
}

}  // namespace

Result<CompiledRun> simulate_compiled(const CompiledRequest& request) {
  const Result<const Code*> code = request.listing->kernel(request.launch.kernel);
  if (!code) return code.errors();
  if (request.strict)
    if (Diagnostics unknown = unknown_opcodes(*request.listing, **code); !unknown.empty()) return unknown;
  const arch::GpuSpec& gpu = *request.gpu;
  const int sm = request.listing->sm != 0 ? request.listing->sm : 90;
  const LaunchMemory memory(request.launch, sm);
  Result<Profile> emulated = profile(*request.listing, **code, request.launch, memory, {.jobs = request.options.jobs});
  if (!emulated) return emulated.errors();
  CompiledRun out;
  out.profile = std::move(*emulated);
  out.assumptions = out.profile.assumptions;
  for (const Diagnostic& each : unknown_opcodes(*request.listing, **code)) out.notes.push_back(each.to_string());
  if (request.listing->sm / 10 != std::atoi(gpu.sm.compute_capability.c_str()) && request.listing->sm != 0)
    out.notes.push_back(fmt::format(
        "the listing is of sm_{}, {} is of compute capability {}: its compiler would have written other code",
        request.listing->sm, gpu.name, gpu.sm.compute_capability));

  const gpu::CtaResources resources{static_cast<int>(request.launch.threads()),
                                    registers_of(gpu.sm.occupancy, **code, request.launch, out.profile),
                                    shared_of(request.launch, out.profile, out.notes)};
  const Result<gpu::SmOccupancy> occupancy = gpu::occupancy_of(gpu.sm.occupancy, resources);
  if (!occupancy) return occupancy.errors();
  Footprints prints =
      footprints(out.profile, *request.listing, **code, request.launch, memory,
                 {static_cast<std::int64_t>(l1_size(gpu.sm.occupancy, resources, occupancy->ctas_per_sm).value),
                  gpu.sms, occupancy->ctas_per_sm, gpu.gpcs},
                 request.options.jobs);
  const Sectors sectors = sectors_of(out.profile, prints);
  TrafficSource source{&gpu,
                       &prints,
                       &request.launch,
                       &memory,
                       sectors.asked,
                       sectors.missed,
                       sectors.stored,
                       sectors.masked_lines,
                       sectors.missed > 0 ? std::max(0.0, 1 - sectors.split / sectors.missed) : 1.0,
                       sectors.missed > 0 ? sectors.pairs / sectors.missed : 1.0,
                       sectors.missed > 0 ? sectors.bulk / sectors.missed : 0.0,
                       occupancy->ctas_per_sm,
                       loads_ahead(out.profile),
                       request.options.l2};
  find_loads_in_l2(source, prints);
  gpu::Traffic traffic = traffic_of(source);
  set_l1(traffic, out.profile, prints);
  source.l2 = memory::L2State::empty;
  const gpu::Traffic cold = traffic_of(source);
  out.cold = {out.profile.warp_instructions(), sectors.missed * sectors_that_arrive(source) + sectors.stored,
              counted_wavefronts(out.profile, request.launch), cold.dram_read_bytes, cold.dram_write_bytes};

  Result<LaunchTime> timed = time_classes(
      {&request, &out.profile, &prints, resources, *occupancy, traffic, arithmetic_of(gpu.sm, out.profile)});
  if (!timed) return timed.errors();
  for (std::string& each : timed->assumptions) out.assumptions.push_back(std::move(each));
  out.report = std::move(timed->report);
  out.cold.l2_sectors -= sectors.stored * (1 - out.report.sm_run->events().counters.stored_apart());
  out.program = std::move(timed->program);
  out.origin = std::move(timed->origin);
  const gpu::SmRun& run = *out.report.sm_run;
  gpu::PortRequest alone = run.timed.ports;
  alone.l2_wait = 0;  // who has its turn has L2 for itself
  const Result<double> turns = cycles_of_turns(request, out.profile, prints, gpu::port_to_l2(alone, run.clock()));
  if (!turns) return turns.errors();
  const double time_us = out.report.time_us;
  const double turns_us = added(1e6 * *turns / run.clock().value, source, time_us);
  if (turns_us > 0)
    out.notes.push_back(fmt::format("{:.2f} us of it are turns: CTAs that wait for those before them", turns_us));
  const double meeting_us = 1e6 * gpu.l2.atomic_interval.value * turns_at_barriers(out.profile, prints);
  if (meeting_us > 0)
    out.notes.push_back(fmt::format("{:.2f} us of it are turns at the word of a barrier of the grid", meeting_us));
  const double reads_us =
      1e6 * traffic.l2_read_bytes * traffic.reads_that_arrive / (gpu.l2.read_bandwidth.value * run.clock().value);
  gpu::change_time(out.report, time_us + turns_us + meeting_us + atomics_us(source, out.profile, time_us, reads_us));
  return out;
}

}  // namespace noteg::compiled
