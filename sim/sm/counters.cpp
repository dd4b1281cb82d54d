#include "sim/sm/counters.hpp"

#include <bit>

namespace noteg::sm {

namespace {

struct StallRow {
  std::string_view name, description;
};

constexpr std::array<StallRow, stall_count> stall_rows{{
    {"selected", "the warp issued an instruction"},
    {"not_selected", "ready, but another warp of the sub-core was chosen"},
    {"wait", "the stall count of the previous instruction was still running"},
    {"short_scoreboard", "waiting for shared memory, constants or transcendental results"},
    {"long_scoreboard", "waiting for global memory"},
    {"barrier", "waiting for the other warps of the CTA at a barrier"},
    {"math_pipe", "the execution pipe was busy"},
    {"memory_queue", "the load/store queue of the sub-core was full"},
    {"dispatch", "register read ports were busy"},
    {"no_instruction", "no decoded instruction: start, branch redirect or instruction cache miss"},
    {"constant_miss", "waiting for a constant operand that missed its cache"},
    {"async_copy", "waiting for asynchronous copies into shared memory"},
    {"by_design",
     "waiting as the kernel is made to, at no loss: a producer for a free stage, a warpgroup for its turn"},
    {"drained", "the warp has finished, its accesses or its CTA have not"},
}};

}  // namespace

std::string_view name_of(Stall stall) { return stall_rows[static_cast<std::size_t>(stall)].name; }
std::string_view description_of(Stall stall) { return stall_rows[static_cast<std::size_t>(stall)].description; }

namespace {

// All counters are doubles and nothing else: as one array none can be forgotten.
using Values = std::array<double, sizeof(CoreCounters) / sizeof(double)>;

}  // namespace

CoreCounters& CoreCounters::operator+=(const CoreCounters& o) {
  Values sum = std::bit_cast<Values>(*this);
  const Values more = std::bit_cast<Values>(o);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  return *this = std::bit_cast<CoreCounters>(sum);
}

CoreCounters CoreCounters::operator*(double factor) const {
  Values scaled = std::bit_cast<Values>(*this);
  for (double& each : scaled) each *= factor;
  return std::bit_cast<CoreCounters>(scaled);
}

std::array<double, stall_count> CoreCounters::stall_shares() const {
  double sum = 0;
  for (const double cycles : stall_cycles) sum += cycles;
  std::array<double, stall_count> shares{};
  for (std::size_t i = 0; i < stall_count; ++i) shares[i] = sum > 0 ? stall_cycles[i] / sum : 0;
  return shares;
}

}  // namespace noteg::sm
