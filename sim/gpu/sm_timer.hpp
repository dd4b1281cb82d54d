// How long one SM takes for its share of CTAs, in grades of the one engine. `exact` steps through every trip of every
// CTA. `periodic` does so too while the work fits a budget; beyond it one run passes over periods of the main loop,
// keeping the phases between CTAs, and ends once the CTAs pass at a steady throughput, from which the others are
// extrapolated. `shared` runs few trips and few rounds only and extends both linearly, rounds of few trips and trips of
// few rounds, or two depths of long loops: shapes of one kernel then share runs, for thousands of rows. Cost of the
// last two grows neither with K nor with the number of tiles. `search` is a pilot run (pilot_run.cpp), `rough` ranks
// kernels (rough.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "sim/sm/sm.hpp"
#include "sim/sm/recorder.hpp"

namespace noteg::gpu {

struct SmTime {
  double cycles = 0;
  sm::CoreCounters counters;
  double simulated_cycles = 0;  // really stepped through for this answer
  double simulated_warp_instructions = 0;
  bool deadlock = false;
  int emptied_together = 0;  // slots, with the one that took the last CTA
  // Of one run: what a further CTA costs, 0 where not measured.
  double cta_cycles = 0;
  sm::CoreCounters cta_counters;
  sm::FlowSample flow{};
  std::int64_t ctas = 0;  // that were run
};

// a + (b - a) * f, field by field; what was simulated for it is the sum of both.
[[nodiscard]] SmTime blend(const SmTime& a, const SmTime& b, double f);
// sum += part * factor; what was simulated counts whole.
void add(SmTime& sum, const SmTime& part, double factor);

// Warp instructions that are stepped through exactly: some 20 ms.
inline constexpr double sampling_budget = 5e5;
// Instructions of a warp from which a trip of the main loop is itself as long as whole loops of others.
inline constexpr std::int64_t long_body = 1024;
// From the finest to the coarsest; from search on nothing is timed, only ranked.
enum class Grade : std::uint8_t { exact, periodic, shared, search, rough };

// A kernel ready to run on an SM, and the runs of it already done. Safe for many threads.
class SmTimer {
 public:
  // k_per_trip: K that a trip of the main loop covers, 0 where not known.
  SmTimer(sm::DecodedProgram program, arch::SmSpec sm, sm::CoreSwitches switches, int k_per_trip = 0);

  // Runs `ctas` CTAs of `trips` main-loop trips with `resident` at a time.
  [[nodiscard]] SmTime time(const sm::MemoryEnvironment& environment, const sm::SmWork& work, Grade grade);

  // Steps through all of `work` and writes down what happens, whatever was run before.
  sm::SmResult watch(const sm::MemoryEnvironment& environment, sm::SmWork work, sm::Recorder& recorder) const;
  // Whether CTAs drift apart in their main loops, so that work flows through the SM at one rate: FP32 loops of many
  // trips that are not long themselves.
  [[nodiscard]] bool flows(const sm::SmWork& work) const {
    return program_.async.empty() && program_.tensor.empty() && trip_length() < long_body &&
           work.trips >= sm::flow_trips(program_);
  }

  // Whether a pilot run tells the rate at which trips pass (pilot_run.cpp).
  [[nodiscard]] bool has_quick_rate(const sm::SmWork& work) const;
  // Does from `jobs` threads what time() will need in these environments.
  void prepare(const std::vector<sm::MemoryEnvironment>& environments, const sm::SmWork& work, Grade grade,
               unsigned jobs);

 private:
  using Key = std::pair<sm::MemoryEnvironment, sm::SmWork>;
  // Instructions that a warp executes in a trip of the main loop, inner loops counted as often as they run.
  [[nodiscard]] std::int64_t trip_length() const { return trip_length_; }
  [[nodiscard]] SmTime run(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] SmTime further_trips(const sm::MemoryEnvironment& environment, const sm::SmWork& work,
                                     std::int64_t ctas, double times);
  [[nodiscard]] SmTime shared(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] SmTime by_depth(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] std::vector<sm::SmWork> rough_runs(const sm::SmWork& work) const;
  [[nodiscard]] std::vector<sm::SmWork> pilot_runs(const sm::SmWork& work, Grade grade) const;
  [[nodiscard]] SmTime rough(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] SmTime rough_trips(const sm::MemoryEnvironment& environment, sm::SmWork work, std::int64_t ctas,
                                   double factor);
  [[nodiscard]] SmTime spread(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] SmTime rough_boxes(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] SmTime over_tiles(const sm::MemoryEnvironment& environment, const sm::SmWork& work, Grade grade);
  [[nodiscard]] SmTime of_boxes(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] SmTime sampled(const sm::MemoryEnvironment& environment, sm::SmWork work);
  [[nodiscard]] double instructions_of(const sm::SmWork& work) const;
  [[nodiscard]] sm::SmWork look(const sm::SmWork& work) const;
  [[nodiscard]] double instructions_of_trip(const sm::SmWork& work) const;
  [[nodiscard]] sm::SmWork graded(sm::SmWork work, Grade grade) const;
  [[nodiscard]] double trips_in(const SmTime& time) const;
  [[nodiscard]] double trips_per_cycle(const SmTime& time) const;
  [[nodiscard]] SmTime by_quick_rate(const sm::MemoryEnvironment& environment, const sm::SmWork& work);
  [[nodiscard]] SmTime over_rounds(const sm::MemoryEnvironment& environment, const sm::SmWork& work, Grade grade);

  sm::DecodedProgram program_;
  arch::SmSpec sm_;
  std::int64_t trip_length_ = 0, inner_loops_ = 0;
  std::int64_t trip_work_ = 0;      // trip_length_ by what the simulator has to do for it
  std::int64_t around_length_ = 0;  // the same outside the main loop
  int k_per_trip_ = 0;
  sm::CoreSwitches switches_;
  // A run that one thread is at work on is waited for, not done again.
  struct Done {
    std::once_flag once;
    SmTime time;
  };
  std::mutex mutex_;
  std::map<Key, Done> done_;
};

}  // namespace noteg::gpu
