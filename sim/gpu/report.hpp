// What one simulation found. Everything that text, JSON and CSV print comes from here.
// Times in microseconds and cycles of the SM clock where the name says so.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/config/config.hpp"
#include "sim/power/components.hpp"
#include "sim/sm/counters.hpp"

namespace noteg::gpu {

struct Phases {  // microseconds; their sum is the run time
  double launch = 0, prologue = 0, mainloop = 0, epilogue = 0, tail = 0;
  [[nodiscard]] double total() const { return launch + prologue + mainloop + epilogue + tail; }
};

enum class Limiter : std::uint8_t { registers, shared_memory, warps, ctas, grid };
[[nodiscard]] std::string_view name_of(Limiter limiter);

struct Occupancy {
  int ctas_per_sm = 0;
  int warps_per_sm = 0;
  Limiter limiter = Limiter::registers;
  double waves = 0;          // CTAs / (SMs * CTAs per SM)
  double tiles_per_cta = 1;  // of a persistent kernel, mean
};

struct PipeUse {  // busy fraction over the run, 0..1, mean over SMs
  double fma = 0, alu = 0, tensor = 0, lsu = 0, issue = 0;
};

struct MemoryTraffic {  // bytes over the whole run
  double l1_bytes = 0, shared_bytes = 0;
  double shared_conflict_wavefronts = 0;
  double l2_bytes = 0, l2_read_bytes = 0, l2_write_bytes = 0;
  double l2_hit_rate = 0;  // 0..1
  double dram_read_bytes = 0, dram_write_bytes = 0;
  double dram_bytes_per_second = 0;  // of both, mean over the run
  double dram_bandwidth = 0;         // that the board's data sheet states, bytes per second
  std::string l2_before{};           // what L2 held before: a name of memory::L2State
};

struct RegisterFileUse {
  double reads = 0, cache_hits = 0, bank_conflict_cycles = 0;
};

// What limits a run on two levels: what keeps it below its roof, and what holds the clock.
struct Bottleneck {
  std::string name;     // snake_case: the limit whose removal gains most; "none" where no removal gains anything
  std::string because;  // one sentence
  double speedup_if_removed = 1;
  bool estimated = true;         // from busy shares, not by experiments (gpu::explain)
  std::string roof;              // the nearest of tensor, fp32, l2, dram
  double share_of_roof_pct = 0;  // 0..100, of what that roof allows at the run's clock
  std::string below_roof_by;     // the dearest limit apart from the roof and the clock; empty: none found
  std::string clock_held_by;     // what holds the clock; "none" where nothing does
  double highest_clock_mhz = 0;  // without that
};

enum class Bound : std::uint8_t { compute, l2, dram };
[[nodiscard]] std::string_view name_of(Bound bound);

struct Roofline {
  double arithmetic_intensity = 0;  // FLOP per byte of A, B and C, each moved once
  Bound bound = Bound::compute;
  bool tensor = false;                            // the compute roof is that of the tensor cores
  double compute_us = 0, l2_us = 0, dram_us = 0;  // what each alone would take at the run's clock
};

struct Engine {
  bool exact = false;
  double simulated_cycles = 0;
  double simulated_warp_instructions = 0;
};

struct TimeRange {  // microseconds; both 0 where nothing was measured that could tell
  double low_us = 0, high_us = 0;
};

struct Confidence {
  double validated_mape = -1;            // fraction; negative: none
  std::string on;                        // which measurements, or "none: ..." with the reason
  std::array<TimeRange, 3> intervals{};  // that hold 50, 80 and 90 % of measured times (measured_errors.hpp)
  std::string because;                   // why they are as wide as they are, in one sentence

  [[nodiscard]] const TimeRange& widest() const { return intervals.back(); }
};

struct SmRun;  // simulate.hpp

struct SimReport {
  std::string arch_id, arch_name;
  kernels::KernelConfig kernel;  // as resolved
  kernels::GemmShape shape;
  std::int64_t grid_ctas = 0;
  int registers_per_thread = 0;
  std::int64_t shared_bytes_per_cta = 0;

  double time_us = 0;
  double cycles = 0;
  double sm_clock_mhz = 0;
  double tflops = 0;
  double pct_of_peak = 0;  // 0..100
  double power_w = 0, energy_mj = 0;
  bool throttled = false;
  bool in_burst = false;        // throttled, but only as long as a burst lasts
  std::string throttle_reason;  // why the clock or the power is not what one would expect; "none"
  std::string clock_mode;       // given, burst, cool or sustained
  double tflops_per_w = 0;
  double temperature_c = 0;
  double voltage = 0;                                            // relative: the GPU file's scale
  std::array<double, power::component_count> energy_stack_mj{};  // sums to energy_mj
  std::function<power::Activity(Hertz)> activity_at;             // events and time at a clock, for traces
  std::shared_ptr<const SmRun> sm_run;                           // what the SM did, to be watched once more
  std::string power_note;                                        // what the power figure rests on

  Phases phases_us;
  Occupancy occupancy;
  std::array<double, sm::stall_count> stalls{};  // sums to 1
  PipeUse pipes;
  double warp_instructions = 0;
  double ipc = 0;  // warp instructions per cycle of an SM that has CTAs
  std::map<std::string, double> instructions_by_opcode;
  MemoryTraffic memory;
  RegisterFileUse rf;
  Bottleneck bottleneck;
  Roofline roofline;
  Engine engine;
  Confidence confidence;
  std::vector<std::pair<std::string, std::string>> switches;  // those not at their default: name, value
};

}  // namespace noteg::gpu
