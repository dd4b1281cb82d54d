#include "sim/report/counters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/confidence/measured_errors.hpp"

namespace noteg::report {
namespace {

using gpu::SimReport;

template <class Get>
Counter number(std::string name, Unit unit, std::string sentence, Get get) {
  return {std::move(name), unit, std::move(sentence),
          [get](const SimReport& r) -> Value { return static_cast<double>(get(r)); }};
}

template <class Get>
Counter whole(std::string name, std::string sentence, Get get) {
  return {std::move(name), Unit::count, std::move(sentence),
          [get](const SimReport& r) -> Value { return static_cast<std::int64_t>(get(r)); }};
}

template <class Get>
Counter words(std::string name, std::string sentence, Get get) {
  return {std::move(name), Unit::none, std::move(sentence),
          [get](const SimReport& r) -> Value { return std::string(get(r)); }};
}

template <class Get>
Counter claim(std::string name, std::string sentence, Get get) {
  return {std::move(name), Unit::claim, std::move(sentence), [get](const SimReport& r) -> Value { return get(r); }};
}

// Of the interval that holds a share of the measured times.
Counter interval_end(std::string name, std::size_t share, bool high) {
  return number(
      std::move(name), Unit::microseconds,
      fmt::format("{} end of the interval that holds {:g} % of measured times; null in JSON, empty in CSV where "
                  "nothing was measured",
                  high ? "upper" : "lower", 100 * gpu::interval_shares[share]),
      [share, high](const SimReport& r) {
        const gpu::TimeRange& range = r.confidence.intervals[share];
        return high ? range.high_us : range.low_us;
      });
}

using Table = std::vector<Counter>;

Table headline() {
  return {
      number("time_us", Unit::microseconds, "run time of the kernel, launch included",
             [](const SimReport& r) { return r.time_us; }),
      number("cycles", Unit::cycles, "the same in cycles of the SM clock", [](const SimReport& r) { return r.cycles; }),
      number("sm_clock_mhz", Unit::megahertz, "SM clock during the run",
             [](const SimReport& r) { return r.sm_clock_mhz; }),
      number("tflops", Unit::tflops, "useful floating point operations per second, 10^12",
             [](const SimReport& r) { return r.tflops; }),
      number("pct_of_peak", Unit::percent, "the same as a share of what the pipes could do at this clock",
             [](const SimReport& r) { return r.pct_of_peak; }),
      number("ipc", Unit::per_cycle, "warp instructions in a cycle of an SM that has CTAs",
             [](const SimReport& r) { return r.ipc; }),
      number("power_w", Unit::watts, "mean board power during the run, idle power included",
             [](const SimReport& r) { return r.power_w; }),
      number("energy_mj", Unit::millijoules, "board power times run time",
             [](const SimReport& r) { return r.energy_mj; }),
      claim("throttled", "the power limit held the clock down", [](const SimReport& r) { return r.throttled; }),
      words("throttle_reason", "what held the clock down, or why the power lies above the limit",
            [](const SimReport& r) { return r.throttle_reason; }),
      words("clock_mode",
            "given, burst (a few milliseconds at the highest clock) or sustained (settled under the limit)",
            [](const SimReport& r) { return r.clock_mode; }),
      number("tflops_per_w", Unit::tflops_per_watt, "useful operations per second and watt",
             [](const SimReport& r) { return r.tflops_per_w; }),
      number("temperature_c", Unit::celsius, "temperature of the GPU during the run",
             [](const SimReport& r) { return r.temperature_c; }),
      number("voltage", Unit::volts, "supply voltage at this clock, on the relative scale of the GPU file",
             [](const SimReport& r) { return r.voltage; }),
      words("power_note", "what the power figure rests on", [](const SimReport& r) { return r.power_note; }),
  };
}

Table energy() {
  Table rows;
  for (std::size_t i = 0; i < power::component_count; ++i) {
    const auto part = static_cast<power::Component>(i);
    rows.push_back(number("energy_by_component_mj." + std::string(power::name_of(part)), Unit::millijoules,
                          "part of energy_mj: " + std::string(power::description_of(part)),
                          [i](const SimReport& r) { return r.energy_stack_mj[i]; }));
  }
  return rows;
}

Table phases() {
  constexpr Unit us = Unit::microseconds;
  return {
      number("phases_us.launch", us, "kernel launch and first CTA",
             [](const SimReport& r) { return r.phases_us.launch; }),
      number("phases_us.prologue", us, "before the main loop: addresses, first tiles",
             [](const SimReport& r) { return r.phases_us.prologue; }),
      number("phases_us.mainloop", us, "main loops of the full waves",
             [](const SimReport& r) { return r.phases_us.mainloop; }),
      number("phases_us.epilogue", us,
             "after the main loop, where no other warpgroup of the CTA is in its own: results to memory",
             [](const SimReport& r) { return r.phases_us.epilogue; }),
      number("phases_us.tail", us, "what SMs without work cost: in the last wave, or in a grid of fewer CTAs than SMs",
             [](const SimReport& r) { return r.phases_us.tail; }),
  };
}

Table occupancy() {
  return {
      whole("occupancy.ctas_per_sm", "CTAs resident on an SM",
            [](const SimReport& r) { return r.occupancy.ctas_per_sm; }),
      whole("occupancy.warps_per_sm", "warps resident on an SM",
            [](const SimReport& r) { return r.occupancy.warps_per_sm; }),
      words("occupancy.limiter", "what keeps another CTA out",
            [](const SimReport& r) { return name_of(r.occupancy.limiter); }),
      number("occupancy.waves", Unit::ratio, "CTAs over those that fit on the chip at once",
             [](const SimReport& r) { return r.occupancy.waves; }),
      number("occupancy.tiles_per_cta", Unit::ratio, "tiles of C that a CTA computes one after the other, mean",
             [](const SimReport& r) { return r.occupancy.tiles_per_cta; }),
  };
}

Table stalls() {
  Table rows;
  for (std::size_t i = 0; i < sm::stall_count; ++i) {
    const auto stall = static_cast<sm::Stall>(i);
    rows.push_back(number("stalls." + std::string(sm::name_of(stall)), Unit::fraction,
                          "share of warp cycles: " + std::string(sm::description_of(stall)),
                          [i](const SimReport& r) { return r.stalls[i]; }));
  }
  return rows;
}

Table pipes() {
  return {
      number("pipes.fma", Unit::fraction, "busy share of the FMA pipes",
             [](const SimReport& r) { return r.pipes.fma; }),
      number("pipes.alu", Unit::fraction, "busy share of the integer pipes",
             [](const SimReport& r) { return r.pipes.alu; }),
      number("pipes.tensor", Unit::fraction, "busy share of the tensor cores",
             [](const SimReport& r) { return r.pipes.tensor; }),
      number("pipes.lsu", Unit::fraction, "busy share of the load/store units",
             [](const SimReport& r) { return r.pipes.lsu; }),
      number("pipes.issue", Unit::fraction, "share of issue slots used",
             [](const SimReport& r) { return r.pipes.issue; }),
      number("instructions.warp_total", Unit::count, "warp instructions executed",
             [](const SimReport& r) { return r.warp_instructions; }),
  };
}

Table memory() {
  constexpr Unit bytes = Unit::bytes;
  return {
      number("memory.l1_bytes", bytes, "global memory traffic of the SMs through L1",
             [](const SimReport& r) { return r.memory.l1_bytes; }),
      number("memory.shared_bytes", bytes, "shared memory traffic",
             [](const SimReport& r) { return r.memory.shared_bytes; }),
      number("memory.shared_conflict_wavefronts", Unit::count, "wavefronts beyond the least that the bytes need",
             [](const SimReport& r) { return r.memory.shared_conflict_wavefronts; }),
      number("memory.l2_bytes", bytes, "traffic between the SMs and L2",
             [](const SimReport& r) { return r.memory.l2_bytes; }),
      number("memory.l2_hit_rate", Unit::fraction,
             "share of look-ups that find their sector; with two partitions a sector is looked up on the SM's side "
             "first, then at home",
             [](const SimReport& r) { return r.memory.l2_hit_rate; }),
      number("memory.dram_read_bytes", bytes, "read from DRAM",
             [](const SimReport& r) { return r.memory.dram_read_bytes; }),
      number("memory.dram_write_bytes", bytes, "written to DRAM",
             [](const SimReport& r) { return r.memory.dram_write_bytes; }),
      number("memory.dram_gb_per_s", Unit::gb_per_s, "DRAM traffic per second, mean over the run",
             [](const SimReport& r) { return r.memory.dram_bytes_per_second * 1e-9; }),
      number("memory.dram_peak_gb_per_s", Unit::gb_per_s, "what the board's data sheet states",
             [](const SimReport& r) { return r.memory.dram_bandwidth * 1e-9; }),
      words("memory.l2_before",
            "what L2 held before the run: warm (what the same launch before left), steady (what the layers around this "
            "one left), cold (other data) or empty",
            [](const SimReport& r) { return r.memory.l2_before; }),
      number("rf.reads", Unit::count, "operands read from the register file banks, per warp",
             [](const SimReport& r) { return r.rf.reads; }),
      number("rf.cache_hits", Unit::count, "operands that came from the register file cache",
             [](const SimReport& r) { return r.rf.cache_hits; }),
      number("rf.bank_conflict_cycles", Unit::cycles, "cycles lost to two reads of one bank",
             [](const SimReport& r) { return r.rf.bank_conflict_cycles; }),
  };
}

Table conclusions() {
  return {
      words("bottleneck.name", "what limits the run: the limit whose removal gains most",
            [](const SimReport& r) { return r.bottleneck.name; }),
      words("bottleneck.because", "why, in one sentence", [](const SimReport& r) { return r.bottleneck.because; }),
      number("bottleneck.speedup_if_removed", Unit::ratio, "run time over the run time without this limit",
             [](const SimReport& r) { return r.bottleneck.speedup_if_removed; }),
      words("bottleneck.found_by", "experiment (limits were taken away) or estimate (from busy shares)",
            [](const SimReport& r) { return r.bottleneck.estimated ? "estimate" : "experiment"; }),
      words("bottleneck.roof", "the nearest roof: tensor, fp32, l2 or dram",
            [](const SimReport& r) { return r.bottleneck.roof; }),
      number("bottleneck.share_of_roof_pct", Unit::percent, "of what that roof allows at this clock",
             [](const SimReport& r) { return r.bottleneck.share_of_roof_pct; }),
      words("bottleneck.below_roof_by",
            "the dearest limit apart from the roof and the clock; empty if none costs anything",
            [](const SimReport& r) { return r.bottleneck.below_roof_by; }),
      words("bottleneck.clock_held_by", "what holds the clock down, or none",
            [](const SimReport& r) { return r.bottleneck.clock_held_by; }),
      number("bottleneck.highest_clock_mhz", Unit::megahertz, "clock that the run would have without that",
             [](const SimReport& r) { return r.bottleneck.highest_clock_mhz; }),
      number("roofline.arithmetic_intensity", Unit::flop_per_byte,
             "useful operations per byte of A, B and C, each moved once",
             [](const SimReport& r) { return r.roofline.arithmetic_intensity; }),
      words("roofline.bound", "roof under which the run lies",
            [](const SimReport& r) { return name_of(r.roofline.bound); }),
      claim("engine.exact", "everything was stepped through, nothing extrapolated",
            [](const SimReport& r) { return r.engine.exact; }),
      number("engine.simulated_cycles", Unit::cycles, "cycles of one SM that were stepped through",
             [](const SimReport& r) { return r.engine.simulated_cycles; }),
      number("engine.simulated_warp_instructions", Unit::count, "warp instructions in those cycles",
             [](const SimReport& r) { return r.engine.simulated_warp_instructions; }),
      number("confidence.validated_mape", Unit::fraction,
             "mean error on measured runs of this kind; null in JSON, empty in CSV where there are none",
             [](const SimReport& r) { return r.confidence.validated_mape; }),
      words("confidence.on", "which measurements those are", [](const SimReport& r) { return r.confidence.on; }),
      interval_end("confidence.time_low_us", 2, false),
      interval_end("confidence.time_high_us", 2, true),
      interval_end("confidence.time_low_80_us", 1, false),
      interval_end("confidence.time_high_80_us", 1, true),
      interval_end("confidence.time_low_50_us", 0, false),
      interval_end("confidence.time_high_50_us", 0, true),
      words("confidence.because", "why these intervals are as wide as they are",
            [](const SimReport& r) { return r.confidence.because; }),
  };
}

}  // namespace

std::string_view Counter::leaf() const {
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? std::string_view(name) : std::string_view(name).substr(dot + 1);
}

std::string_view Counter::group() const {
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(name).substr(0, dot);
}

std::vector<Counter> counter_table() {
  Table all;
  all.push_back(words("arch", "GPU, as its file is named", [](const SimReport& r) { return r.arch_id; }));
  for (Table& part : std::vector<Table>{kernel_counters(), headline(), energy(), phases(), occupancy(), stalls(),
                                        pipes(), memory(), conclusions()})
    for (Counter& counter : part) all.push_back(std::move(counter));
  return all;
}

double number_of(const Value& value) {
  double number = 0;
  if (const auto* real = std::get_if<double>(&value)) number = *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) number = *flag ? 1 : 0;
  return std::isfinite(number) ? number : 0;
}

bool is_absent(const Counter& counter, const Value& value) {
  if (counter.group() != "confidence") return false;
  return counter.unit == Unit::microseconds ? number_of(value) <= 0 : number_of(value) < 0;
}

std::string counter_reference() {
  std::string text =
      "# What a simulation reports\n\nMade from the table of counters (`sim/report/counters.cpp`), as are text, JSON "
      "and CSV; a test fails where it is out of\n"
      "date. Do not edit it by hand: run `NOTEG_UPDATE_GENERATED=1 test_report`. A name is the path of a JSON key and "
      "the name of a CSV\n"
      "column. `instructions.by_opcode` is beside them: warp instructions per opcode.\n\n"
      "| name | unit | what it says |\n| --- | --- | --- |\n";
  for (const Counter& counter : counter_table())
    text += fmt::format("| `{}` | {} | {} |\n", counter.name, base_text(counter.unit), counter.sentence);
  return text;
}

}  // namespace noteg::report
