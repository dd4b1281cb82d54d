#include "sim/validate/quantisation/eager_quantisation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sim/memory/tile_reuse.hpp"

namespace noteg::validate {
namespace {

constexpr double loads_of_round = 4;  // vt0 of Reduce.cuh
constexpr int most_threads = 512, ctas_of_sm = 4;

// A pass over all values: bytes read and written for each. `is_fresh`: its input lies in DRAM, not where the pass
// before it wrote.
struct Pass {
  double read, written;
  bool is_fresh = false, reduces = false;
};
constexpr std::array<Pass, 7> passes{{{2, 4, true},         // to f32
                                      {4, 4},               // absolute values
                                      {4, 0, false, true},  // the largest of each row, and where it lies
                                      {4, 4},               // over the row's scale
                                      {4, 4},               // rounded
                                      {4, 4},               // bounded
                                      {4, 1}}};             // to int8
constexpr int passes_over_rows = 2;                         // the scales alone: at least 1e-10, over 127

double last_power_of_two(double value) {
  return static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(std::clamp(value, 1.0, 1e15))));
}

Seconds way_to_l2(const arch::GpuSpec& gpu) {
  return (gpu.l2.latency + gpu.l2.far_latency) * 0.5 / gpu.clock.sustained;
}

// A kernel that waits for the one before it: its launch, its first number, and what its end waits for. H200M,
// l2_write_bw from 8 to 32 MiB: the line of time over bytes begins at 1.9 us, 1.3 us above an empty kernel. So long a
// fence of the whole system takes too (rule 17 of docs/model.md).
Seconds shortest(const arch::GpuSpec& gpu, bool is_fresh) {
  constexpr Seconds end_of_stores{1.3e-6};
  return gpu.launch.kernel + way_to_l2(gpu) + (is_fresh ? gpu.dram.latency : Seconds{0}) + end_of_stores;
}

// Each round of a thread waits for the last of its loads, which is near by one chance in 2^4, then compares them. A
// comparison that keeps the index takes 16 instructions: two tests for NaN, values and 64-bit indices compared, two
// selected, the address of the load.
Seconds in_turn(const arch::GpuSpec& gpu, const RowReduction& r) {
  constexpr double instructions = 16;
  const double at_once = std::min<double>(ctas_of_sm, std::ceil(r.ctas / gpu.sms));
  const double warps = std::max(1.0, at_once * r.threads / 32 / gpu.sm.sub_cores);
  const double waves = std::ceil(r.ctas / (gpu.sms * ctas_of_sm));
  const Seconds issue = Cycles{loads_of_round * instructions * warps} / gpu.clock.sustained;
  const double far = gpu.l2.partitions > 1 ? 1 - std::pow(0.5, loads_of_round) : 0.0;
  const Seconds last_load = (gpu.l2.latency + (gpu.l2.far_latency - gpu.l2.latency) * far) / gpu.clock.sustained;
  return (last_load + issue) * (waves * r.rounds);
}

}  // namespace

RowReduction row_reduction(double rows, double columns) {
  constexpr double least_values = 16, most_values = 256;
  const double height = std::min(last_power_of_two(rows), most_threads / std::min(last_power_of_two(columns), 32.0));
  const double width = std::min(last_power_of_two(columns), std::floor(most_threads / height));
  const double values = std::ceil(columns / width);
  const bool together = values >= height * least_values || values >= most_values;
  const double of_thread = together ? std::ceil(columns / (width * height)) : values;
  return {together ? rows : std::ceil(rows / height), std::ceil(of_thread / loads_of_round),
          static_cast<int>(width * height)};
}

EagerQuantisation eager_quantisation(const arch::GpuSpec& gpu, double rows, double columns) {
  const double values = rows * columns;
  const auto kept = [&](double bytes) { return memory::kept_by_one_reader(gpu.l2, values * bytes); };
  // Two tensors of floats pass between a write and the read after it. The next call overwrites a tensor: what lies
  // between are four of floats that the allocator hands out, the activations and what becomes of them.
  const double found = kept(2 * 4), overwritten = kept(4 * 4 + 2 + 1);
  EagerQuantisation out;
  out.time = shortest(gpu, false) * passes_over_rows;
  for (const Pass& pass : passes) {
    const Bytes read{values * pass.read}, written{values * pass.written};
    const Bytes from_dram = read * (pass.is_fresh ? 1.0 : 1 - found), to_dram = written * (1 - overwritten);
    const Seconds dram =
        (from_dram + to_dram) / (gpu.dram.bandwidth * (gpu.dram.mixed_efficiency * gpu.dram.tile_efficiency));
    const Seconds l2 = std::max(read / gpu.l2.read_bandwidth, written / gpu.l2.write_bandwidth) / gpu.clock.sustained;
    const Seconds turns = pass.reduces ? in_turn(gpu, row_reduction(rows, columns)) : Seconds{0};
    out.time += shortest(gpu, pass.is_fresh) + std::max({dram, l2, turns});
    out.dram_read += from_dram;
    out.dram_written += to_dram;
    out.l2 += read + written;
  }
  return out;
}

}  // namespace noteg::validate
