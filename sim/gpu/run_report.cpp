#include "sim/gpu/run_report.hpp"

#include <algorithm>
#include <string>

#include "sim/gpu/environment.hpp"
#include "sim/gpu/footprint.hpp"
#include "sim/gpu/peak_rate.hpp"
#include "sim/gpu/run_events.hpp"

namespace noteg::gpu {
namespace {

// Operations per SM cycle of the whole GPU, at the best rate that it has for the kernel's types.
double peak_operations(const Run& run) { return 2.0 * run.gpu.sms * peak_rate(run.gpu.sm, run.config); }

void fill_time(SimReport& r, const Run& run) {
  const double us_per_cycle = 1e6 / run.clock.value;
  const double launch_us = launch_time(run).value * 1e6;
  const double kernel_us = run.kernel_cycles * us_per_cycle;
  r.sm_clock_mhz = run.clock.value * 1e-6;
  r.time_us = launch_us + kernel_us;
  r.cycles = r.time_us / us_per_cycle;
  r.tflops = run.shape.flops() / (r.time_us * 1e6);
  const double peak = peak_operations(run) * run.clock.value;
  r.pct_of_peak = 100.0 * r.tflops * 1e12 / peak;

  // Idle slots of the last, ragged round of CTAs.
  const double share = run.options.switches.tail ? even_share(run, run.sm_ctas) : 1;
  const sm::CoreCounters& c = run.sm.counters;
  // Extended linearly from few trips, the ends of a kernel that is all main loop may come out below nothing.
  const double prologue = std::max(0.0, c.prologue_cycles), mainloop = std::max(0.0, c.mainloop_cycles);
  const double epilogue = std::max(0.0, c.epilogue_cycles), life = std::max(1.0, prologue + mainloop + epilogue);
  const double work_us = kernel_us * share;
  r.phases_us.launch = launch_us;
  r.phases_us.tail = kernel_us - work_us;
  r.phases_us.prologue = work_us * prologue / life;
  r.phases_us.mainloop = work_us * mainloop / life;
  r.phases_us.epilogue = work_us * epilogue / life;
}

void fill_counters(SimReport& r, const Run& run, const kernels::Program& program) {
  const sm::CoreCounters c = chip_counters(run, program);
  r.warp_instructions = c.warp_instructions;
  const double busiest = run.sm.cycles / (run.options.switches.tail ? 1.0 : even_share(run, run.sm_ctas));
  r.ipc = busiest > 0 ? run.sm.counters.warp_instructions / busiest : 0;
  for (std::size_t i = 0; i < sm::opcode_count; ++i) {
    if (c.issued[i] > 0)
      r.instructions_by_opcode[std::string(kernels::opcode_info(static_cast<kernels::Opcode>(i)).mnemonic)] =
          c.issued[i];
  }
  r.stalls = c.stall_shares();
  const double slots = std::max(1.0, r.cycles) * run.gpu.sms;
  const double sub_slots = slots * run.gpu.sm.sub_cores;
  r.pipes.fma = std::min(1.0, c.fma_cycles / sub_slots);
  r.pipes.alu = std::min(1.0, c.alu_cycles / sub_slots);
  r.pipes.tensor = std::min(1.0, c.tensor_cycles / sub_slots);
  r.pipes.issue = std::min(1.0, c.issue_cycles / (sub_slots * (run.options.switches.core.one_issue ? 1 : 2)));
  r.pipes.lsu = std::min(1.0, c.lsu_cycles / slots);
  r.rf.reads = c.rf_reads;
  r.rf.cache_hits = c.rf_hits;
  r.rf.bank_conflict_cycles = c.rf_conflict_cycles;
  r.memory.shared_bytes = c.shared_bytes;
  r.memory.shared_conflict_wavefronts = c.shared_conflict_wavefronts;
  r.memory.l1_bytes = c.l1_bytes;
  r.memory.l2_read_bytes = run.traffic.l2_read_bytes;
  r.memory.l2_write_bytes = run.traffic.l2_write_bytes;
  r.memory.l2_bytes = r.memory.l2_read_bytes + r.memory.l2_write_bytes;
  r.memory.dram_read_bytes = run.traffic.reuse.dram_read_bytes;
  r.memory.dram_write_bytes = run.traffic.reuse.dram_write_bytes;
  r.memory.dram_bytes_per_second = (r.memory.dram_read_bytes + r.memory.dram_write_bytes) / (r.time_us * 1e-6);
  r.memory.dram_bandwidth = run.gpu.dram.bandwidth.value;
  r.memory.l2_before = memory::name_of(run.options.l2);
  r.memory.l2_hit_rate = run.traffic.lookups.hit_rate();
}

void fill_occupancy(SimReport& r, const Run& run, const kernels::Program& program, const SmOccupancy& occupancy) {
  const int sms = run.gpu.sms;
  r.occupancy.ctas_per_sm = run.resident;
  r.occupancy.warps_per_sm = run.resident * program.warps;
  r.occupancy.limiter =
      run.launch.ctas < static_cast<std::int64_t>(run.resident) * sms ? Limiter::grid : occupancy.limiter;
  r.occupancy.waves = static_cast<double>(run.launch.ctas) / (static_cast<double>(run.resident) * sms);
  r.occupancy.tiles_per_cta = run.launch.all_tiles / static_cast<double>(run.launch.ctas);
}

// Reads and writes have a way each.
double l2_cycles(const SimReport& r, const Run& run) {
  if (!run.options.switches.l2) return 0;
  return std::max(r.memory.l2_read_bytes / run.gpu.l2.read_bandwidth.value,
                  r.memory.l2_write_bytes / run.gpu.l2.write_bandwidth.value) /
         l2_cycles_per_cycle(run.gpu, run.clock);
}

Roofline roofline(const SimReport& r, const Run& run) {
  const double l2_cycles = gpu::l2_cycles(r, run);
  Roofline out;
  const double written = footprint(run.shape, 0, kernels::bytes_of(run.config.dtype_out));
  const double bytes = run.traffic.reuse.compulsory_bytes + written;
  out.arithmetic_intensity = bytes > 0 ? run.shape.flops() / bytes : 0;
  const double compute = run.shape.flops() / peak_operations(run);
  const double us_per_cycle = 1e6 / run.clock.value;
  out.compute_us = compute * us_per_cycle;
  out.l2_us = l2_cycles * us_per_cycle;
  out.dram_us = run.dram_cycles * us_per_cycle;
  if (run.dram_cycles >= compute && run.dram_cycles >= l2_cycles)
    out.bound = Bound::dram;
  else if (l2_cycles >= compute)
    out.bound = Bound::l2;
  return out;
}

}  // namespace

Limits limits_of(const SimReport& r, const Run& run) {
  const double us_per_cycle = 1e6 / run.clock.value;
  Limits limits;
  limits.fma = r.pipes.fma * r.time_us;
  limits.tensor = r.pipes.tensor * r.time_us;
  limits.issue = r.pipes.issue * r.time_us;
  limits.lsu = r.pipes.lsu * r.time_us;
  limits.ports = r.rf.bank_conflict_cycles / (static_cast<double>(run.gpu.sms) * run.gpu.sm.sub_cores) * us_per_cycle;
  limits.l2 = r.roofline.l2_us;
  limits.dram = r.roofline.dram_us;
  return limits;
}

SimReport report_of(const Run& run, const kernels::Program& program, const CtaResources& resources,
                    const SmOccupancy& occupancy) {
  SimReport r;
  r.arch_id = run.gpu.id;
  r.arch_name = run.gpu.name;
  r.kernel = run.config;
  r.shape = run.shape;
  r.grid_ctas = run.launch.ctas;
  r.registers_per_thread = resources.registers;
  r.shared_bytes_per_cta = resources.shared_bytes;
  r.engine = {run.options.exact, run.sm.simulated_cycles, run.sm.simulated_warp_instructions};
  fill_time(r, run);
  fill_counters(r, run, program);
  fill_occupancy(r, run, program, occupancy);
  r.roofline = roofline(r, run);
  r.switches = changed_switches(run.options.switches);
  return r;
}

}  // namespace noteg::gpu
