#include "sim/sm/counters.hpp"

namespace noteg::sm {

namespace {

struct Row {
  std::string_view name, description;
};

constexpr std::array<Row, stall_count> stall_rows{{
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

// Applies f to each pair of fields, so that no field can be forgotten in one operator only.
template <class F>
void for_each_field(CoreCounters& a, const CoreCounters& b, F f) {
  for (std::size_t i = 0; i < opcode_count; ++i) f(a.issued[i], b.issued[i]);
  for (std::size_t i = 0; i < stall_count; ++i) f(a.stall_cycles[i], b.stall_cycles[i]);
  for (std::size_t i = 0; i < kernels::tensor_kind_count; ++i) f(a.tensor_macs[i], b.tensor_macs[i]);
  f(a.warp_instructions, b.warp_instructions);
  f(a.issue_cycles, b.issue_cycles);
  f(a.fma_cycles, b.fma_cycles);
  f(a.alu_cycles, b.alu_cycles);
  f(a.tensor_cycles, b.tensor_cycles);
  f(a.lsu_cycles, b.lsu_cycles);
  f(a.rf_reads, b.rf_reads);
  f(a.rf_hits, b.rf_hits);
  f(a.rf_conflict_cycles, b.rf_conflict_cycles);
  f(a.shared_bytes, b.shared_bytes);
  f(a.shared_wavefronts, b.shared_wavefronts);
  f(a.shared_conflict_wavefronts, b.shared_conflict_wavefronts);
  f(a.l1_bytes, b.l1_bytes);
  f(a.read_sectors, b.read_sectors);
  f(a.write_sectors, b.write_sectors);
  f(a.prologue_cycles, b.prologue_cycles);
  f(a.mainloop_cycles, b.mainloop_cycles);
  f(a.epilogue_cycles, b.epilogue_cycles);
  f(a.lead_epilogue_cycles, b.lead_epilogue_cycles);
}

}  // namespace

CoreCounters& CoreCounters::operator+=(const CoreCounters& o) {
  for_each_field(*this, o, [](double& a, double b) { a += b; });
  return *this;
}

CoreCounters CoreCounters::operator*(double factor) const {
  CoreCounters scaled;
  for_each_field(scaled, *this, [factor](double& a, double b) { a = b * factor; });
  return scaled;
}

std::array<double, stall_count> CoreCounters::stall_shares() const {
  double sum = 0;
  for (const double cycles : stall_cycles) sum += cycles;
  std::array<double, stall_count> shares{};
  for (std::size_t i = 0; i < stall_count; ++i) shares[i] = sum > 0 ? stall_cycles[i] / sum : 0;
  return shares;
}

}  // namespace noteg::sm
