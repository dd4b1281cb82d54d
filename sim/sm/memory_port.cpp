#include "sim/sm/memory_port.hpp"

#include <algorithm>

namespace noteg::sm {

// SMs drift apart within the first iterations, so that one of them asks while others compute: it gets what its own port
// takes, as long as it has asked for less than its share of L2's bandwidth before. In the beginning all ask together.
// The port passes a line a cycle, however few of its sectors are asked for (h100_sm_micro, copy_lines).
void PortTraffic::read_from_l2(double bytes, double lines, double now) {
  asks(now);
  const double share = port_.read_bytes_per_cycle;
  const double burst = std::max(share, port_.read_burst_bytes_per_cycle);
  state_.reads.ask(now, std::max(bytes / burst, lines));
  state_.share.ask(now - burst_cycles, bytes / share);
}

double PortTraffic::leave_l1(double start, double cycles, double at_share) {
  return std::max(state_.writes.ask(start, cycles), state_.write_share.ask(start - burst_cycles, at_share));
}

// Warps of a CTA take turns in being the first to ask for what they share, evenly: which of them is, is a matter of
// order. What comes with a fill that is under way waits as long as that (SharedSectors::joins).
double PortTraffic::beyond_l1(const MemoryCost& cost) {
  if (cost.sectors == 0) return 0;  // it asks for none: the guard was false in all lanes
  const SharedSectors& shared = port_.shared[cost.matrix];
  if (cost.kind != MemoryKind::load_global || shared.again == 0) return 1.0 - port_.l1_hit_rate;
  int& turn = state_.shared_turn[cost.matrix];
  turn += shared.again;
  if (turn < SharedSectors::steps) return shared.beyond;
  turn -= SharedSectors::steps;
  return 0;
}

// A load is there with its last sector.
std::uint64_t PortTraffic::load(const MemoryCost& cost, double beyond, std::uint64_t now) {
  const auto sectors = static_cast<double>(cost.sectors), start = static_cast<double>(now);
  const double lines = cost.requests * beyond;
  double begins = start;
  if (beyond > 0) {
    begins = std::max({begins, state_.writes.free, state_.write_share.free});
    if (cost.kind == MemoryKind::load_global)
      leave_l1(start, cost.miss_cycles * beyond, cost.miss_cycles * beyond);
    else
      begins = std::max(begins, send(start, lines * request_beats * sector_));
    read_from_l2(sectors * sector_ * beyond, lines, start);
    begins = std::max({begins, state_.reads.free, state_.share.free});
  }
  const bool of_c = cost.matrix == static_cast<std::uint8_t>(kernels::Matrix::c);
  if (of_c) begins = std::max(begins, read_c(start, sectors * sector_ * beyond));
  const double beyond_latency = of_c && port_.c_latency > 0 ? port_.c_latency
                                : cost.in_l2                ? port_.l2_latency
                                                            : port_.latency;
  const bool leaves = beyond > 0 || port_.shared[cost.matrix].joins;
  const double latency = (leaves ? beyond_latency + cost.line_latency : port_.l1_latency + cost.pass_latency) -
                         front_delay + cost.extra_latency;
  return static_cast<std::uint64_t>(begins + latency);
}

// The last of C is there when the shares of all SMs have been served, behind the latency of the first: SMs that are in
// lockstep ask at once.
double PortTraffic::read_c(double now, double bytes) {
  if (port_.c_bytes_per_cycle <= 0) return now;
  return state_.c.ask(now, bytes / port_.c_bytes_per_cycle);
}

// The port sends a sector a cycle, and the mask of a line before those that are filled in part (h100_sm_micro,
// store_beats).
std::uint64_t PortTraffic::store(const MemoryCost& cost, std::uint64_t now) {
  const double beats = cost.sectors + port_.store_mask * cost.masked;
  return static_cast<std::uint64_t>(send(static_cast<double>(now + cost.pass_latency), beats * sector_)) + 1;
}

// What L2 takes holds back stores as what it gives holds back loads.
double PortTraffic::send(double start, double bytes) {
  asks(start);
  const double share = port_.write_bytes_per_cycle, burst = std::max(share, port_.write_burst_bytes_per_cycle);
  return leave_l1(start, bytes / burst, bytes / share);
}

PortTraffic::Asked PortTraffic::asked() const {
  return {state_.reads.asked, state_.writes.asked, state_.share.asked, state_.write_share.asked, state_.c.asked};
}

void PortTraffic::pass(double cycles, const Asked& more) {
  std::size_t i = 0;
  for (Way* way : {&state_.reads, &state_.writes, &state_.share, &state_.write_share, &state_.c})
    way->free += more[i++] - cycles;
}

// What was asked for so far decides nothing.
void PortTraffic::hash(StateHash& add) const {
  const auto& [reads, writes, write_share, share, c, shared_turn] = state_;
  add.until(reads.free);
  add.until(writes.free);
  add.until(write_share.free + burst_cycles);
  add.until(share.free + burst_cycles);
  add.until(c.free);
  for (const int turn : shared_turn) add(static_cast<std::uint64_t>(turn));
}

}  // namespace noteg::sm
