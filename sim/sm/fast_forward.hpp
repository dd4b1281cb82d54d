// Fast-forwarding: the only place that passes over cycles. A program is a nest of loops, its backward branches, around
// which the grid is one more: each CTA slot runs CTA after CTA. Two rules hold for any of these loops.
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

#include "sim/sm/engine.hpp"

namespace noteg::sm {

class Engine;
struct Warp;

// Every number that decides how something is timed.
struct SamplingRules {
  double budget = 5e5;       // warp instructions: work of no more is stepped through
  double agreement = 0.005;  // of the mean cycles per instruction, twice its standard error
  int windows = 4;           // that it is the mean of, at least
  std::int64_t settle = 2;   // iterations of each running CTA behind a change
  std::int64_t window = 3;   // and in a window, at least
  double share = 0.03;       // of the budget for a window
  std::int64_t margin = 2;   // iterations left to go when others were skipped
  int moments = 128;         // states that are remembered while a recurrence is sought
};

class FastForward {
 public:
  explicit FastForward(Engine& sm);

  // A warp goes back to the begin of a loop, or leaves it.
  void iteration_begins(const Warp& warp, int loop, std::uint64_t now);
  void loop_ends(int loop);
  // A CTA has started; all events of the cycle in which some did are over; one has ended.
  void cta_starts();
  void ctas_have_started(std::uint64_t now);
  void cta_ends(std::uint64_t now);

 private:
  // What warps of one place in a CTA execute.
  struct Stream {
    std::vector<double> offset;  // instructions before each, inner loops counted as often as they run
    std::vector<double> length;  // of an iteration of each loop
    std::vector<std::int64_t> count;
    std::vector<std::int64_t> step;  // iterations of each loop that make a unit with those of other streams
    double total = 0;
    int warps = 0;
  };
  struct Mark {
    std::uint64_t time = 0;
    double instructions = 0;
    double backlog = 0;            // cycles that the way to L2 is behind with what was written
    std::vector<double> position;  // by CTA slot: instructions executed by its warps
    CoreCounters count;
  };
  struct Window {
    double cycles = 0, instructions = 0, backlog = 0;
    std::vector<double> advanced;
    CoreCounters count;
  };
  struct Rate {
    std::vector<Window> windows;
    bool known = false;
    Window sum;
  };
  struct Moment {
    std::uint64_t print = 0, time = 0;
    std::int64_t launched = 0, finished = 0;
    std::vector<std::int32_t> iterations;  // of the streams of all slots
    CoreCounters count;
  };
  struct Level {
    std::int64_t seen = 0;
    Mark mark;
    std::map<std::uint64_t, Rate> rates;
    std::vector<Moment> moments;
    std::size_t used = 0, most = 0;
  };

  [[nodiscard]] Stream stream_of(int place) const;
  [[nodiscard]] const Stream& stream(const Warp& warp) const;
  [[nodiscard]] int loop_at(const Warp& warp, int depth) const;
  [[nodiscard]] bool is_live(const Warp& warp) const;
  [[nodiscard]] bool is_blocked(const Warp& warp) const;
  [[nodiscard]] double position(const Warp& warp) const;
  // Streams of CTAs that are inside loops of one depth.
  struct RunningSet {
    std::uint64_t key = 0;
    int streams = 0;
    double instructions = 0;              // of all their warps in an iteration of each
    std::int64_t iterations = 1LL << 40;  // of the loop that has fewest
  };
  [[nodiscard]] RunningSet running_set(int depth) const;
  [[nodiscard]] std::uint64_t multiple() const;
  void restart(std::size_t depth);
  [[nodiscard]] Mark mark(std::uint64_t now);
  void close_window(Level& level, Rate& rate, std::uint64_t now);
  [[nodiscard]] bool is_known(Rate& rate) const;
  bool repeat(int depth, std::uint64_t now);
  bool repeat_ctas(std::uint64_t now);
  bool skip(int depth, const Rate& rate);
  void pass_sampled(const Rate& rate, double share);
  [[nodiscard]] static std::uint64_t cycles_of(const Rate& rate, double share);
  void advance(Warp& warp, int loop, std::int64_t iterations);
  void advance_barriers(std::size_t slot, const std::array<std::uint32_t, 4>& walked);
  void pass(std::uint64_t cycles, double instructions, const CoreCounters& count);

  Engine& sm_;
  SamplingRules rules_;
  bool samples_ = false;  // the work is beyond the budget
  std::vector<Stream> streams_;
  std::vector<std::uint16_t> stream_of_place_;
  std::vector<int> leaders_;  // first place of each stream
  std::vector<Level> levels_;
  double cta_instructions_ = 0;
};

}  // namespace noteg::sm
