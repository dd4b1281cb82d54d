// Fast-forwarding: the only place that skips cycles. A program is a nest of loops, its backward branches, around which
// the grid is one more: each CTA slot runs CTA after CTA. Two rules hold for any of these loops.
//   Recurrence: a state of the SM that has come before, times relative to now, repeats what followed it. Exact.
//   Sampling: of work beyond a budget, cycles per warp instruction are measured over windows of iterations once all
//   running CTAs are inside a loop; when their mean is known well enough, iterations of all of them are skipped
//   together, each CTA in proportion to its own progress, so that relative phases stay. Queues, caches and events keep
//   their state, and every change (fill, turnover of a CTA, drain) is stepped through again.
// What was measured for a set of running CTAs and loops holds whenever the same set runs again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/sm/steady_state.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

class Machine;

class FastForward {
 public:
  explicit FastForward(Machine& sm);

  // A warp goes back to the begin of a loop, or leaves it.
  void iteration_begins(const Warp& warp, int loop, std::uint64_t now);
  void loop_ends(int loop);
  // A CTA starts; all events of the cycle in which some did are over; one has ended.
  void cta_starts() { restart(1); }
  void ctas_have_started(std::uint64_t now);
  void cta_ends(std::uint64_t now);

 private:
  // What warps of one place in a CTA execute.
  struct Stream {
    std::vector<double> offset;       // instructions before each, inner loops counted as often as they run
    std::vector<double> length;       // of an iteration of each loop
    std::vector<std::int64_t> count;  // iterations of each loop
    std::vector<std::int64_t> step;   // iterations of each loop that make a unit with those of other streams
    double total = 0;
    int warps = 0;
  };
  // Streams of CTAs that are inside loops of one depth.
  struct RunningSet {
    std::uint64_t key = 0;
    std::int64_t streams = 0;
    double instructions = 0;              // of all their warps in an iteration of each
    std::int64_t iterations = 1LL << 40;  // of the loop that has fewest
  };
  struct Mark {
    std::uint64_t time = 0;
    std::vector<double> position;  // by CTA slot: instructions executed by its warps
    PortTraffic::Asked asked{};
    CoreCounters count;
  };
  struct Moment {
    std::uint64_t hash = 0, time = 0;
    std::int64_t launched = 0;
    std::vector<std::int32_t> iterations;  // of the leaders in all slots, one after the other
    CoreCounters count;
  };
  // A depth of the nest; 0 is the grid.
  struct Level {
    std::int64_t seen = 0;  // iterations since the last change
    std::uint64_t key = 0;  // of the running set that began them
    Mark mark;
    std::map<std::uint64_t, SteadyState> rates;  // by running set
    std::map<std::uint64_t, Turnover> turnovers;  // likewise
    Mark settled;                 // a moment of the steady state,
    std::uint64_t settled_key = 0;  // of that running set,
    std::int64_t settled_ended = 0;  // and the CTAs that had ended
    std::vector<Moment> moments;
    std::size_t used = 0, most = 0;  // of them
  };
  // Units of iterations that each CTA slot may skip and is to, and what a unit is.
  struct Skip {
    std::vector<double> length;  // warp instructions
    std::vector<double> left;    // below 0: the slot does not take part
    std::vector<std::int64_t> units;
    bool is_possible = true;
  };

  [[nodiscard]] Stream stream_of(int place) const;
  [[nodiscard]] const Stream& stream(const Warp& warp) const;
  [[nodiscard]] int loop_at(const Warp& warp, int depth) const;
  [[nodiscard]] double position(const Warp& warp) const;
  [[nodiscard]] RunningSet running_set(int depth) const;
  void restart(std::size_t depth);

  [[nodiscard]] Mark mark(std::uint64_t now);
  void close_window(Level& level, SteadyState& rate, std::uint64_t now);
  [[nodiscard]] bool budget_is_spent() const;
  void sample(int depth, const RunningSet& running, std::uint64_t now);

  [[nodiscard]] Skip possible_skip(int depth) const;
  bool skip(int depth, SteadyState& rate);
  [[nodiscard]] Window since(const Mark& before, const Mark& here) const;
  [[nodiscard]] double outside_loops(int depth) const;
  bool pass_over(int depth, const RunningSet& running, SteadyState& rate, std::uint64_t now);
  bool turn_over(int depth, const SteadyState& rate, const Turnover& turnover, std::uint64_t now);
  void pass(const SteadyState& rate, double share);
  [[nodiscard]] static std::uint64_t cycles_of(const SteadyState& rate, double share);
  template <class Iterations>
  void advance(std::size_t slot, int depth, Iterations iterations);
  void advance(Warp& warp, int loop, std::int64_t iterations) const;

  [[nodiscard]] const Moment* known_moment(Level& level, std::uint64_t now, int depth);
  std::uint64_t pass(const Moment& before, std::uint64_t now, std::int64_t periods);
  bool repeat(int depth, std::uint64_t now);

  Machine& sm_;
  SamplingRules rules_;
  double waves_ = 1;
  bool turns_over_ = false;
  bool samples_ = false;   // the work is beyond the budget
  std::int64_t turn_ = 1;  // iterations after which all rings of barriers are where they were
  std::vector<Stream> streams_;
  std::vector<std::size_t> stream_of_place_;
  std::vector<int> leaders_;  // first place of each stream
  std::vector<Level> levels_;
  double cta_instructions_ = 0;
  double looked_at_ = 0;  // warps, in search of a recurrence, since one was found
};

}  // namespace noteg::sm
