#include "sim/dataset/physics_columns.hpp"

#include "sim/dataset/physics.hpp"

namespace noteg::dataset {
namespace {

struct PhysicsColumn {
  const char* name;
  const char* unit;
  const char* meaning;
  double Physics::*member;
};

constexpr PhysicsColumn columns[] = {
    {"ctas", "count", "CTAs of the grid", &Physics::ctas},
    {"ctas_per_sm", "count", "CTAs that fit an SM together", &Physics::ctas_per_sm},
    {"warps_per_sm", "count", "warps of those", &Physics::warps_per_sm},
    {"waves", "x", "CTAs over those that fit on the chip at once", &Physics::waves},
    {"wave_efficiency", "0..1", "mean over busiest SM, in CTAs", &Physics::wave_efficiency},
    {"useful_share", "0..1", "elements of C over the elements that tiles cover", &Physics::useful_share},
    {"trips", "count", "k tiles of a CTA", &Physics::trips},
    {"arithmetic_intensity", "FLOP/B", "operations per byte of A, B and C once", &Physics::arithmetic_intensity},
    {"math_instructions", "count",
     "FFMA of warps, or instructions of the tensor cores (of warp groups for wgmma), padding included",
     &Physics::math_instructions},
    {"shared_load_instructions", "count", "loads from shared memory, of warps; wgmma has none",
     &Physics::shared_load_instructions},
    {"shared_bytes", "B", "what those load, or tensor cores read by themselves", &Physics::shared_bytes},
    {"l2_bytes", "B", "tiles of A and B that CTAs ask for", &Physics::l2_bytes},
    {"dram_read_bytes", "B", "part of them that L2 does not hold", &Physics::dram_read_bytes},
    {"dram_write_bytes", "B", "results to DRAM", &Physics::dram_write_bytes},
    {"clock_mhz", "MHz", "clock given, or the highest that the board holds with these events", &Physics::clock_mhz},
    {"power_share", "x", "power of these events at the highest clock, over the limit", &Physics::power_share},
    {"compute_us", "us", "math instructions of the busiest SM at that clock", &Physics::compute_us},
    {"shared_us", "us", "shared-memory loads of the busiest SM", &Physics::shared_us},
    {"l2_us", "us", "tiles at the bandwidth of L2", &Physics::l2_us},
    {"dram_us", "us", "DRAM traffic at the bandwidth that reads reach", &Physics::dram_us},
    {"latency_us", "us", "k-tiles of all waves at the latency of L2, over the stages", &Physics::latency_us},
    {"roofline_us", "us", "launch and the largest of those five times", &Physics::roofline_us},
    {"power_w", "W", "power of these events over that time", &Physics::power_w},
    {"energy_mj", "mJ", "that power times that time", &Physics::energy_mj},
    {"tflops", "TFLOP/s", "useful operations over that time", &Physics::tflops},
};

}  // namespace

std::vector<RunColumn> physics_columns() {
  std::vector<RunColumn> all;
  for (const PhysicsColumn& c : columns)
    all.push_back({{std::string("physics.") + c.name, c.unit, c.meaning, Group::physics},
                   [member = c.member](const Run& run) -> Value {
                     if (run.physics != nullptr) return run.physics->*member;
                     return physics_of(*run.gpu, *run.report, *run.options).*member;
                   }});
  return all;
}

}  // namespace noteg::dataset
