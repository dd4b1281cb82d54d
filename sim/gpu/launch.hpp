// A kernel as the chip sees it: a program, how its CTAs fall onto the SMs, and what they move. Values only, whoever
// makes them: a GEMM configuration (gemm_launch.hpp) or a compiled kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/ir/ir.hpp"
#include "sim/gpu/l2_traffic.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

// How many CTAs, and what each of them does.
struct LaunchGeometry {
  std::int64_t ctas = 1;
  std::int64_t iterations = 1;  // of the loop whose count comes from the problem, in one CTA
  std::int64_t tiles = 1;       // that the busiest CTA takes, one after another (persistent kernels)
  double all_tiles = 1;         // of all CTAs, with those that fill up clusters
  int sms = 1;                  // on which its CTAs can start

  // CTAs go breadth-first over the SMs and slots are refilled on completion; equal CTAs therefore spread evenly, and
  // the busiest SM holds one more than the others where the count does not divide.
  [[nodiscard]] std::int64_t ctas_of_busiest() const { return (ctas + sms - 1) / sms; }
  [[nodiscard]] int active_sms() const { return ctas < sms ? static_cast<int>(ctas) : sms; }
};

// What is computed: for rates, roofs and energy. Zero where it is not known.
struct Arithmetic {
  double operations = 0;      // of the whole kernel: two for a multiply-accumulate
  double macs_per_cycle = 0;  // of one SM, at the best rate that it has for the types
  bool tensor_cores = false;
  double padding = 0;         // share of the tensor cores' multiply-accumulates that lie in partial tiles
  double moved_activity = 1;  // power::Activity
};

// Slices of K whose partial sums have to meet; one slice: none have to.
struct SplitK {
  int slices = 1;
  bool parallel = false;     // a second kernel adds the copies of C; else slices take turns at C
  double rows = 1;           // of a tile, the share that lies in the matrix, at most 1
  double partial_bytes = 0;  // of one copy of C
};

struct KernelLaunch {
  std::shared_ptr<const kernels::Program> program;
  sm::AddressFacts addresses;
  CtaResources resources;
  SmOccupancy occupancy;
  LaunchGeometry geometry;
  Traffic traffic;
  std::optional<Traffic> when_l2_is_full;  // where it differs: SMs then get unequal shares, and CTAs drift apart
  Arithmetic arithmetic;
  SplitK split_k;
  bool has_constants = false;  // its module does
  // Warps that have ended leave room for the next CTAs. Not of built kernels, whose CTAs end as one, but for
  // cache_write: launches of that are 14 to 19 % too fast from a cold L2, and would be 24.
  bool leaves_room = false;
  std::optional<double> warp_instructions;  // of the whole grid, where they are known; else they are counted
};

// Asynchronous copies of each thread, for tiles to come.
[[nodiscard]] bool copies_ahead(const kernels::Program& program);

// What the busiest SM has to do. Where the tail is taken away all slots are filled in every round.
[[nodiscard]] sm::SmWork busiest_sm_work(const arch::GpuSpec& gpu, const KernelLaunch& launch,
                                         const Switches& switches);

// CTAs that the busiest SM takes on top of its even part where all its slots fall empty together.
[[nodiscard]] std::int64_t remainder_on_top(const arch::GpuSpec& gpu, const KernelLaunch& launch);

// What a kernel on so many SMs takes longer to end if it uses memory, however much (H200M, memory_used: 0.02 us on one
// SM, 0.06 on 4, 0.12 on 16, 0.16 on 66, 0.19 on 132).
[[nodiscard]] Seconds end_of_memory(const arch::GpuSpec& gpu, const Traffic& traffic, int sms);

// Of the time that one SM takes for `ctas` CTAs, what each takes if all CTAs divide evenly.
[[nodiscard]] double even_share(const LaunchGeometry& geometry, std::int64_t ctas);

// SMs on which clusters of so many CTAs can start. A cluster lies in one GPC; a pair lies in any TPC.
[[nodiscard]] int sms_for_clusters(const arch::GpuSpec& gpu, int ctas);

}  // namespace noteg::gpu
