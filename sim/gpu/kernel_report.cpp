#include "sim/gpu/kernel_report.hpp"

#include <algorithm>
#include <string>

namespace noteg::gpu {
namespace {

// One run and its values, as every part of the report reads them.
struct Source {
  const arch::GpuSpec& gpu;
  const KernelLaunch& launch;
  const SimOptions& options;
  const TimedKernel& timed;
  sm::SmResult sm;  // of the busiest SM

  [[nodiscard]] double us_per_cycle() const { return 1e6 / timed.point.clock.value; }
  // Operations per SM cycle of the whole GPU, at the best rate that it has for the kernel's types.
  [[nodiscard]] double peak() const { return 2.0 * gpu.sms * launch.arithmetic.macs_per_cycle; }
  [[nodiscard]] double even() const { return even_share(launch.geometry, timed.runs.work.ctas); }
};

void fill_time(SimReport& r, const Source& s) {
  const double launch_us = s.timed.time.launch().value * 1e6;
  const double kernel_us = s.timed.cycles() * s.us_per_cycle();
  r.sm_clock_mhz = s.timed.point.clock.value * 1e-6;
  r.time_us = launch_us + kernel_us;
  r.cycles = r.time_us / s.us_per_cycle();
  r.tflops = s.launch.arithmetic.operations / (r.time_us * 1e6);
  const double peak = s.peak() * s.timed.point.clock.value;
  r.pct_of_peak = peak > 0 ? 100.0 * r.tflops * 1e12 / peak : 0;

  // Idle slots of the last, partial wave of CTAs.
  const double work_us = kernel_us * (s.options.switches.tail ? s.even() : 1);
  const sm::CoreCounters& c = s.sm.counters;
  // Extrapolated from a part of the iterations, the ends of a kernel that is all main loop may come out below nothing.
  const double prologue = std::max(0.0, c.prologue_cycles), mainloop = std::max(0.0, c.mainloop_cycles);
  const double epilogue = std::max(0.0, c.epilogue_cycles), life = std::max(1.0, prologue + mainloop + epilogue);
  r.phases_us.launch = launch_us;
  r.phases_us.tail = kernel_us - work_us;
  r.phases_us.prologue = work_us * prologue / life;
  r.phases_us.mainloop = work_us * mainloop / life;
  r.phases_us.epilogue = work_us - r.phases_us.prologue - r.phases_us.mainloop;
}

void fill_counters(SimReport& r, const Source& s) {
  const sm::CoreCounters& c = s.timed.events.counters;
  r.warp_instructions = c.warp_instructions;
  r.ipc = s.sm.cycles > 0 ? s.sm.counters.warp_instructions / s.sm.cycles : 0;
  for (std::size_t i = 0; i < sm::opcode_count; ++i) {
    if (c.issued[i] > 0)
      r.instructions_by_opcode[std::string(kernels::opcode_info(static_cast<kernels::Opcode>(i)).mnemonic)] =
          c.issued[i];
  }
  r.stalls = c.stall_shares();
  const double slots = std::max(1.0, r.cycles) * s.gpu.sms;
  const double sub_slots = slots * s.gpu.sm.sub_cores;
  r.pipes.fma = std::min(1.0, c.fma_cycles / sub_slots);
  r.pipes.alu = std::min(1.0, c.alu_cycles / sub_slots);
  r.pipes.tensor = std::min(1.0, c.tensor_cycles / sub_slots);
  r.pipes.issue = std::min(1.0, c.issue_cycles / (sub_slots * (s.options.switches.core.one_issue ? 1 : 2)));
  r.pipes.lsu = std::min(1.0, c.lsu_cycles / slots);
  r.rf.reads = c.rf_reads;
  r.rf.cache_hits = c.rf_hits;
  r.rf.bank_conflict_cycles = c.rf_conflict_cycles;
}

void fill_memory(SimReport& r, const Source& s) {
  const sm::CoreCounters& c = s.timed.events.counters;
  const Traffic& traffic = s.timed.ports.traffic;
  r.memory.shared_bytes = c.shared_bytes;
  r.memory.shared_conflict_wavefronts = c.shared_conflict_wavefronts;
  r.memory.l1_bytes = c.l1_bytes;
  r.memory.l2_read_bytes = traffic.l2_read_bytes;
  r.memory.l2_write_bytes = traffic.l2_write_bytes * c.stored_apart();
  r.memory.l2_bytes = traffic.l2_read_bytes + r.memory.l2_write_bytes;
  r.memory.l2_hit_rate = traffic.l2_hit_rate;
  r.memory.dram_read_bytes = traffic.dram_read_bytes;
  r.memory.dram_write_bytes = traffic.dram_write_bytes;
  r.memory.dram_bytes_per_second = (r.memory.dram_read_bytes + r.memory.dram_write_bytes) / (r.time_us * 1e-6);
  r.memory.dram_bandwidth = s.gpu.dram.bandwidth.value;
  r.memory.l2_before = memory::name_of(s.options.l2);
}

void fill_occupancy(SimReport& r, const Source& s) {
  const int resident = s.launch.occupancy.ctas_per_sm;
  const double slots = static_cast<double>(resident) * s.gpu.sms;
  const auto ctas = static_cast<double>(s.launch.geometry.ctas);
  r.occupancy.ctas_per_sm = resident;
  r.occupancy.warps_per_sm = resident * s.launch.program->warps;
  r.occupancy.limiter = ctas < slots ? Limiter::grid : s.launch.occupancy.limiter;
  r.occupancy.waves = ctas / slots;
  r.occupancy.tiles_per_cta = s.launch.geometry.all_tiles / ctas;
}

// Reads and writes have a way each.
double l2_cycles(const Source& s) {
  if (!s.options.switches.l2) return 0;
  const Traffic& traffic = s.timed.ports.traffic;
  return std::max(traffic.l2_read_bytes * traffic.read_beats / s.gpu.l2.read_bandwidth.value,
                  traffic.l2_write_bytes / s.gpu.l2.write_bandwidth.value) /
         l2_cycles_per_cycle(s.gpu, s.timed.point.clock);
}

Roofline roofline(const Source& s) {
  const Traffic& traffic = s.timed.ports.traffic;
  Roofline out;
  out.tensor = s.launch.arithmetic.tensor_cores;
  const double bytes = traffic.compulsory_bytes + traffic.result_bytes;
  out.arithmetic_intensity = bytes > 0 ? s.launch.arithmetic.operations / bytes : 0;
  out.compute_us = s.peak() > 0 ? s.launch.arithmetic.operations / s.peak() * s.us_per_cycle() : 0;
  out.l2_us = l2_cycles(s) * s.us_per_cycle();
  out.dram_us = s.timed.time.dram().value * 1e6;
  if (out.dram_us >= out.compute_us && out.dram_us >= out.l2_us)
    out.bound = Bound::dram;
  else if (out.l2_us >= out.compute_us)
    out.bound = Bound::l2;
  return out;
}

}  // namespace

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::compute: return "compute";
    case Bound::l2: return "l2";
    case Bound::dram: return "dram";
  }
  return "compute";
}

Limits limits_of(const SimReport& r, const arch::GpuSpec& gpu) {
  Limits limits;
  limits.fma = r.pipes.fma * r.time_us;
  limits.tensor = r.pipes.tensor * r.time_us;
  limits.issue = r.pipes.issue * r.time_us;
  limits.lsu = r.pipes.lsu * r.time_us;
  limits.ports = r.rf.bank_conflict_cycles / (static_cast<double>(gpu.sms) * gpu.sm.sub_cores) / r.sm_clock_mhz;
  limits.l2 = r.roofline.l2_us;
  limits.dram = r.roofline.dram_us;
  return limits;
}

void change_time(SimReport& r, double time_us) {
  const double longer = time_us / r.time_us;
  const double body = (time_us - r.phases_us.launch) / std::max(1e-9, r.time_us - r.phases_us.launch);
  r.time_us = time_us;
  r.cycles *= longer;
  for (double* phase : {&r.phases_us.prologue, &r.phases_us.mainloop, &r.phases_us.epilogue, &r.phases_us.tail})
    *phase *= body;
  for (double* rate : {&r.tflops, &r.pct_of_peak, &r.memory.dram_bytes_per_second}) *rate /= longer;
  for (double* share : {&r.pipes.fma, &r.pipes.alu, &r.pipes.tensor, &r.pipes.lsu, &r.pipes.issue})
    *share = std::min(1.0, *share / longer);
  r.ipc /= longer;
  r.energy_mj = 0;
  for (std::size_t i = 0; i < r.energy_stack_mj.size(); ++i) {
    const auto component = static_cast<power::Component>(i);
    const bool of_board = component == power::Component::idle || component == power::Component::leakage ||
                          component == power::Component::clock_tree;
    if (of_board) r.energy_stack_mj[i] *= longer;
    r.energy_mj += r.energy_stack_mj[i];
  }
  r.power_w = 1e3 * r.energy_mj / r.time_us;
  r.tflops_per_w = r.power_w > 0 ? r.tflops / r.power_w : 0;
}

SimReport report_of(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options,
                    const TimedKernel& timed) {
  const Source source{gpu, launch, options, timed, timed.runs.mixed()};
  SimReport r;
  r.arch_id = gpu.id;
  r.arch_name = gpu.name;
  r.grid_ctas = launch.geometry.ctas;
  r.registers_per_thread = launch.resources.registers;
  r.shared_bytes_per_cta = launch.resources.shared_bytes;
  r.engine = {options.exact, timed.stepped_cycles, timed.stepped_warp_instructions};
  fill_time(r, source);
  fill_counters(r, source);
  fill_memory(r, source);
  fill_occupancy(r, source);
  r.roofline = roofline(source);
  r.switches = changed_switches(options.switches);
  return r;
}

}  // namespace noteg::gpu
