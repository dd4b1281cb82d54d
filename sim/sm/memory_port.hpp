// The memory port: what an SM sees of the rest of the GPU behind its L1 as latencies, bandwidths and hit rates, and
// what is on its way through it. Left out: other SMs, which are taken to ask for as much as this one.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

#include "sim/sm/decoded.hpp"
#include "sim/sm/state_hash.hpp"

namespace noteg::sm {

// What a box of A, B or C means for the SM's share of the way to L2; zero: as its size says. For C, bytes is the share
// of a box that lies inside the matrix.
struct BoxTraffic {
  double bytes = 0, cycles = 0;

  auto operator<=>(const BoxTraffic&) const = default;
};

// Sectors of an operand that several warps of a CTA ask for within an iteration: all but the first find them in L1.
struct SharedSectors {
  static constexpr int steps = 20;
  int again = 0;       // of `steps` loads, those that find what an earlier load of the CTA has asked for
  double beyond = 1;   // of the sectors of the others, what comes from L2
  bool joins = false;  // what is found is still on its way: the load waits as the one that asked for it
  bool lies = false;   // what is found was there long before, and waits for nobody

  auto operator<=>(const SharedSectors&) const = default;
};

// The request of a line that a copy reads goes the way of stores, in half the time of a sector (H100M, copy_requests;
// H200M, l2_mixed_rate: with two reads of lines for each that is stored L2 takes 0.8 of the stores that it takes
// alone). A load keeps that way for as long as its passes take (H200M, out_of_l1: beside 16 bytes a lane that are
// stored, loads of 1, 2, 4, 8 and 16 lines take 2.3, 3.0, 5.0, 9.4 and 18.6 cycles; also where L2 takes stores more
// slowly).
inline constexpr double request_beats = 0.5;

// Latencies in cycles from issue to data.
struct MemoryPort {
  double latency = 284;  // mean of loads that leave the SM
  double l1_latency = 33;
  double l1_hit_rate = 0;                 // of sectors
  std::array<SharedSectors, 4> shared{};  // by kernels::Matrix
  double read_bytes_per_cycle = 64;       // this SM's share of the way from L2, over a while
  double read_burst_bytes_per_cycle = 0;  // what its own port takes while others ask for less than theirs; 0: the share
  double write_bytes_per_cycle = 64;      // likewise, to L2
  double write_burst_bytes_per_cycle = 0;  // likewise
  double store_mask = 0;                   // sectors that take as long to send as the mask of a line
  double c_latency = 0;                    // of loads of C, where it is another; 0: as of others
  double l2_latency = 0;                   // of loads that L2 always has
  double c_bytes_per_cycle = 0;            // this SM's share of what brings C; 0: no limit of its own
  double inside = 1;                       // of what loads and copies of A and B ask for, the rest is masked
  std::array<BoxTraffic, 3> boxes{};       // of A, B, C

  // All answers come as from L1.
  void answer_at_once() { latency = c_latency = l2_latency = l1_latency; }

  auto operator<=>(const MemoryPort&) const = default;
};

// What the SM has asked of the port.
class PortTraffic {
 public:
  PortTraffic(const MemoryPort& port, double sector) : port_(port), sector_(sector) {}

  [[nodiscard]] const MemoryPort& port() const { return port_; }
  // Of a load's or copy's sectors, what L1 does not hold; each load of a matrix has its turn.
  [[nodiscard]] double beyond_l1(const MemoryCost& cost);
  // What a neighbour has asked for just before comes with it, from where that comes.
  enum class From : std::uint8_t { memory, l2, l1 };
  [[nodiscard]] From from(const MemoryCost& cost, double beyond) const {
    return beyond == 0 && port_.shared[cost.matrix].lies ? From::l1 : cost.in_l2 ? From::l2 : From::memory;
  }
  // When its data are there if it leaves the load/store unit now.
  [[nodiscard]] std::uint64_t load(const MemoryCost& cost, double beyond, std::uint64_t now);
  // When a store that leaves it now is on its way.
  [[nodiscard]] std::uint64_t store(const MemoryCost& cost, std::uint64_t now);
  // When so much of C has been served by what brings it; at once where that sets no limit.
  [[nodiscard]] double read_c(double now, double bytes);
  // When a box has passed that comes so many cycles behind those before it.
  [[nodiscard]] double load_box(double start, double cycles) {
    asks(start);
    return state_.reads.ask(start, cycles);
  }
  // When so many bytes have left the SM: of a store, of a box, of requests.
  double send(double start, double bytes);

  // When something beyond L1 was first asked for or stored to, with skipped cycles; 0: never.
  [[nodiscard]] double first_ask() const { return first_ask_.value_or(0); }
  void skip(double cycles) { skipped_ += cycles; }

  // Cycles of work that each way was asked for so far: reads, stores, the shares of both, C.
  using Asked = std::array<double, 5>;
  [[nodiscard]] Asked asked() const;
  // Cycles pass in which so much more is asked of each way: it falls behind, or catches up.
  void pass(double cycles, const Asked& more);

  void hash(StateHash& add) const;

 private:
  void asks(double now) {
    if (!first_ask_) first_ask_ = now + skipped_;
  }
  void read_from_l2(double bytes, double lines, double now);
  // What keeps the way out for so long, at the SM's share of it, has left then.
  double leave_l1(double start, double cycles, double at_share);

  // Bursts shorter than this are served at the port's rate: the order of an iteration of a main loop.
  static constexpr double burst_cycles = 2048;
  // Serves what it is asked for one after the other.
  struct Way {
    double free = 0;   // when all of it has passed
    double asked = 0;  // cycles of work so far

    double ask(double now, double cycles) {
      asked += cycles;
      return free = std::max(free, now) + cycles;
    }
  };
  struct State {
    Way reads;
    Way writes;                        // the way out of L1: stores, and loads between them
    Way write_share;                   // the same at the SM's share of what L2 takes
    Way share;                         // the same reads at the SM's share of L2's bandwidth
    Way c;                             // reads of C, at what brings C
    std::array<int, 4> shared_turn{};  // of SharedSectors::steps, by kernels::Matrix
  };
  MemoryPort port_;
  double sector_;  // bytes
  State state_;
  double skipped_ = 0;  // cycles
  std::optional<double> first_ask_;
};

}  // namespace noteg::sm
