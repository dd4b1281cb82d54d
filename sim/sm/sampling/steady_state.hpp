// The steady state of a set of running CTAs: cycles per warp instruction and how each CTA gets on, measured over
// windows that follow each other until both are known well enough. And every number that decides how something is
// timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/sm/counters.hpp"
#include "sim/sm/memory_port.hpp"

namespace noteg::sm {

// Every number that decides how something is timed.
struct SamplingRules {
  double budget = 5e5;       // warp instructions: work of no more is stepped through, and more do not refine a mean
  double agreement = 0.005;  // of mean cycles per instruction: twice their standard error
  double progress = 0.02;    // likewise, of the share of a CTA that gets on at a rate of its own
  double worth = 0.5;        // of what was stepped through: CTAs that are skipped at once save as much, at least
  std::size_t windows = 4;   // that they are the mean of, at least; half as many (at the grid, generations) beyond it
  double share = 0.03;       // of the budget: warp instructions in a window
  std::int64_t window = 3;   // iterations of each running CTA in a window, at least
  std::int64_t part = 8;     // a window is no more than this part of a loop, or of the grid
  std::int64_t edge = 1;     // iterations of each running CTA behind a change that are not measured, and left to go
  double longest = 2;        // times its windows that a rate is passed at once; of more, half, then it is measured anew
  std::size_t sure = 8;      // windows from which on a rate is passed as often as it fits, and not measured anew
  double look = 4;           // stepped warp instructions for each warp of a state that is looked at, at least
  std::size_t moments = 128;  // states that are remembered while a recurrence is sought; half as many after a failure
};

// What passed between two moments.
struct Window {
  double cycles = 0;
  PortTraffic::Asked asked{};
  std::vector<double> advanced;  // by CTA slot: instructions executed by its warps
  CoreCounters count;

  [[nodiscard]] double instructions() const { return count.warp_instructions; }
  void operator+=(const Window& more);
  [[nodiscard]] Window operator*(double times) const;
};

class SteadyState {
 public:
  void add(Window window) { windows_.push_back(std::move(window)); }
  // From all windows, or from the later half of them. spent: half as many have to do, and the later half of more of
  // them however far they lie apart (but not all: the first may wait for what was before the change).
  bool learn(const SamplingRules& rules, bool spent, double waves);
  // It is to be measured once more before it is used again.
  void doubt() { is_known_ = false; }

  [[nodiscard]] bool is_known() const { return is_known_; }
  [[nodiscard]] std::size_t windows() const { return windows_.size(); }
  [[nodiscard]] std::size_t used() const { return used_; }  // the last of them, that it is the mean of
  [[nodiscard]] const Window& sum() const { return sum_; }  // of these; CTAs that get on alike have the same progress
  // By CTA slot: how far it got beyond or behind those that get on alike, in instructions.
  [[nodiscard]] const std::vector<double>& drift() const { return drift_; }

 private:
  [[nodiscard]] std::span<const Window> used_windows() const { return std::span(windows_).last(used_); }
  [[nodiscard]] bool has_known_rate(double agreement) const;
  [[nodiscard]] bool has_known_progress(double agreement) const;
  [[nodiscard]] bool are_apart(std::size_t slot, std::size_t other) const;
  void level_progress();

  std::vector<Window> windows_;
  std::size_t used_ = 0;
  bool is_known_ = false;
  Window sum_;
  std::vector<double> drift_;
};

// What it costs beyond the steady state that a CTA ends in its slot and the next one begins, and how far all CTAs get
// on in their loops meanwhile. Measured from one moment of the steady state to another.
class Turnover {
 public:
  // `passed` lies between two such moments; so many CTAs have ended, each of which executes `outside` instructions
  // outside of its loop.
  void add(const SteadyState& rate, Window passed, double ctas, double outside);
  // Twice the standard error of its cycles is below that many.
  [[nodiscard]] bool is_known(std::size_t least, double cycles) const;
  [[nodiscard]] Window cost() const { return sum_ * (1 / ctas_); }     // of a CTA
  [[nodiscard]] double progress() const { return progress_ / ctas_; }  // instructions of all CTAs in their loops

 private:
  Window sum_;
  double ctas_ = 0, progress_ = 0;
  std::vector<double> cycles_;  // of a CTA, of each that was measured or of several that overlap
};

}  // namespace noteg::sm
