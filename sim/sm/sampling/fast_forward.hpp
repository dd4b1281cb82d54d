// Fast-forwarding: the only place that skips cycles. A program is a nest of loops, its backward branches, around which
// the grid is one more: each CTA slot runs CTA after CTA. Two rules hold for any of these loops.
//   Recurrence: a state of the SM that has come before, times relative to now, repeats what followed it, whenever it
//   comes again. Exact.
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

#include "sim/sm/sampling/steady_state.hpp"
#include "sim/sm/sampling/streams.hpp"
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

  [[nodiscard]] const Streams& streams() const { return streams_; }

 private:
  struct Mark {
    std::uint64_t time = 0;
    std::int64_t ended = 0;        // CTAs
    std::vector<double> position;  // by CTA slot: instructions executed by its warps
    PortTraffic::Asked asked{};
    CoreCounters count;
  };
  struct Moment {
    std::uint64_t hash = 0, time = 0;
    std::int64_t launched = 0;
    std::vector<std::int64_t> iterations;  // of the leaders in all slots, one after the other
    CoreCounters count;
  };
  // From a state until it comes again.
  struct Period {
    std::uint64_t cycles = 0;
    std::int64_t launched = 0;             // CTAs
    std::vector<std::int64_t> iterations;  // of the leaders in all slots
    CoreCounters count;
  };
  // A depth of the nest; 0 is the grid.
  struct Level {
    std::int64_t seen = 0;  // iterations since the last change
    std::uint64_t key = 0;  // of the running set that began them
    Mark mark;
    std::map<std::uint64_t, SteadyState> rates;  // by running set
    std::vector<Moment> moments;
    std::size_t used = 0, most = 0;           // of them
    std::map<std::uint64_t, Period> periods;  // by the hash of the state: what is known holds whenever it comes again
  };
  // Units of iterations that each CTA slot may skip and is to, and what a unit is.
  struct Skip {
    std::vector<double> length;  // warp instructions
    std::vector<double> left;    // below 0: the slot does not take part
    std::vector<std::int64_t> units;
    bool is_possible = true;
  };

  void restart(std::size_t depth);

  [[nodiscard]] Mark mark(std::uint64_t now);
  [[nodiscard]] static Window since(const Mark& before, const Mark& here);
  void close_window(Level& level, SteadyState& rate, std::uint64_t now);
  [[nodiscard]] bool budget_is_spent() const;
  void sample(int depth, const Streams::RunningSet& running, std::uint64_t now);

  [[nodiscard]] Skip possible_skip(int depth);
  bool skip(int depth, SteadyState& rate);
  bool pass_over(int depth, const Streams::RunningSet& running, SteadyState& rate, std::uint64_t now);
  [[nodiscard]] bool is_known(const Turnover& turnover, const SteadyState& rate) const;
  bool skip_generations(const SteadyState& rate, const Turnover& turnover);
  bool turn_over(const SteadyState& rate, const Turnover& turnover, std::uint64_t now);
  std::uint64_t pass(const Window& passed);
  double advance(const Skip& skip, int depth);
  template <class Iterations>
  void advance(std::size_t slot, int depth, Iterations iterations);

  [[nodiscard]] std::vector<std::int64_t> iterations_of_leaders(int depth) const;
  [[nodiscard]] const Period* known_period(Level& level, std::uint64_t now, int depth);
  std::uint64_t pass(const Period& period, std::int64_t times);
  bool repeat(int depth, std::uint64_t now);

  Machine& sm_;
  Streams streams_;
  SamplingRules rules_;
  double waves_ = 1;         // of CTAs, in all
  bool turns_over_ = false;  // turnovers are skipped: the grid's own windows are no windows any more
  bool samples_ = false;     // the work is beyond the budget
  std::vector<Level> levels_;
  std::map<std::uint64_t, Turnover> turnovers_;  // by running set of outermost loops
  Mark settled_;                                 // the last moment of such a set's steady state,
  std::uint64_t settled_key_ = 0;                // and the set; 0: none, or CTAs have been skipped since
  double looked_at_ = 0;                         // warps, in search of a recurrence, since one was found
};

}  // namespace noteg::sm
