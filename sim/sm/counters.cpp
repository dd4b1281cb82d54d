#include "sim/sm/counters.hpp"

namespace noteg::sm {

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
