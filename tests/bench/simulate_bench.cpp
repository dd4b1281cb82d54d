// What a simulation costs. Three claims are on show: the core's rate in warp instructions per second, a cost that does
// not grow with the grid, and one that does not grow with K. Each iteration starts with an empty cache, or it would
// time a look-up.
#include <benchmark/benchmark.h>

#include "sim/gpu/simulate.hpp"
#include "tests/bench/bench_setup.hpp"

namespace {

using noteg::bench::Setup;
using noteg::kernels::GemmShape;

void simulate(benchmark::State& state, const noteg::Result<Setup>& setup, const GemmShape& shape,
              const noteg::gpu::SimOptions& options) {
  if (!setup) {
    state.SkipWithError(noteg::to_string(setup.errors()).c_str());
    return;
  }
  double warp_instructions = 0, cycles = 0;
  for ([[maybe_unused]] auto iteration : state) {
    noteg::gpu::SmCache cache;
    const auto report = noteg::gpu::simulate(setup->gpu, setup->kernel, shape, options, cache);
    if (!report) {
      state.SkipWithError(noteg::to_string(report.errors()).c_str());
      return;
    }
    warp_instructions += report->engine.simulated_warp_instructions;
    cycles += report->engine.simulated_cycles;
  }
  using benchmark::Counter;
  state.counters["warp_instructions_per_s"] = Counter(warp_instructions, Counter::kIsRate);
  state.counters["simulated_cycles"] = Counter(cycles, Counter::kAvgIterations);
  state.counters["simulated_warp_instructions"] = Counter(warp_instructions, Counter::kAvgIterations);
}

// The core stepping through everything. The aim is at least 10 million warp instructions per second on one core of the
// host.
void exact_core_rate_simt(benchmark::State& state) {
  simulate(state, noteg::bench::main_job(), noteg::bench::square(state.range(0)), {.exact = true, .sm_clock_mhz = {}});
}
BENCHMARK(exact_core_rate_simt)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond);

void exact_core_rate_mma(benchmark::State& state) {
  simulate(state, noteg::bench::tensor_job(), noteg::bench::square(state.range(0)),
           {.exact = true, .sm_clock_mhz = {}});
}
BENCHMARK(exact_core_rate_mma)->Arg(2048)->Arg(4096)->Unit(benchmark::kMillisecond);

// M = N = K: 64 times the work from one line to the next.
void cost_of_grid(benchmark::State& state) {
  simulate(state, noteg::bench::main_job(), noteg::bench::square(state.range(0)), {});
}
BENCHMARK(cost_of_grid)->Arg(1024)->Arg(4096)->Arg(16384)->Unit(benchmark::kMillisecond);

// M = N = 4096, K from one main-loop iteration to 8192 of them.
void cost_of_k(benchmark::State& state) {
  simulate(state, noteg::bench::main_job(), {.m = 4096, .n = 4096, .k = state.range(0)}, {});
}
BENCHMARK(cost_of_k)->Arg(8)->Arg(256)->Arg(1024)->Arg(4096)->Arg(16384)->Arg(65536)->Unit(benchmark::kMillisecond);

}  // namespace
