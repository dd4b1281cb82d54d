// A workload on several GPUs, under several power limits and clocks: time, energy and limiter of every operation and in
// all. Launches that do the same are simulated once; the kernel of each GEMM is the one that a library would choose.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/tune/catalogue.hpp"
#include "sim/workload/launch_cost.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/operation.hpp"

namespace noteg::workload {

// How kernels reach the GPU. graph: all are there when the one before ends. stream: the host sends one after the other,
// and the GPU waits where its kernels are shorter than that takes.
enum class LaunchMode : std::uint8_t { graph, stream };

// each: every operation at the clock that it would have if it was repeated alone, as `noteg simulate` says. shared: one
// clock for all, since the power limiter sees the mean over milliseconds.
enum class Clocks : std::uint8_t { each, shared };

// One workload: blocks and what they mean for the reader.
struct Step {
  std::string label;  // "16 tokens"; empty for a list of operations
  std::vector<Block> blocks;
  double tokens = 0;          // that count for tokens per second; 0: unknown
  double resident_bytes = 0;  // of one GPU: weights and cache; 0: unknown
  int gpus = 1;               // that work on it together
};

struct Case {
  std::string gpu;        // label
  Machine machine;        // its power limit and clock are those of the case
  std::string condition;  // "400 W", "1.2 GHz"; empty: as the file says
  std::size_t step = 0;   // of Request::steps
};

struct Request {
  std::vector<Step> steps;
  std::vector<Case> cases;
  LaunchMode launch = LaunchMode::graph;
  // From the call until the next may follow: 4 to 6 us where nothing else is done (susun-blog.com, pegainfer 3).
  Seconds dispatch{5e-6};
  Clocks clocks = Clocks::each;
  unsigned jobs = 1;
  std::function<void(std::size_t, std::size_t)> progress;
};

struct LaunchResult {
  std::string what;
  LaunchCost cost;
};

struct OperationResult {
  const Operation* operation = nullptr;
  std::string block, modelled_as;
  double count = 1;                   // in the step: of the operation times the block's
  double time_us = 0, energy_mj = 0;  // all of them
  double flops = 0, dram_bytes = 0;   // all of them
  std::string limiter, kernel;        // of its longest launch
  std::vector<LaunchResult> launches;

  [[nodiscard]] double each_us() const { return time_us / count; }
};

struct CaseResult {
  const Case* of = nullptr;
  const Step* step = nullptr;
  std::vector<OperationResult> operations;
  double time_us = 0, energy_mj = 0;  // of one GPU
  double waiting_us = 0;              // for the host, of time_us
  double flops = 0, dram_bytes = 0;
  double lowest_clock_mhz = 0, highest_clock_mhz = 0;  // of its launches
  bool throttled = false;
  std::string throttle_reason = "none";  // as of gpu::SimReport; of several launches that with the most power

  [[nodiscard]] double power_w() const { return time_us > 0 ? energy_mj / time_us * 1e3 : 0; }
  [[nodiscard]] double tokens_per_second() const { return time_us > 0 ? step->tokens / time_us * 1e6 : 0; }
  // Of all GPUs that work on the step.
  [[nodiscard]] double joules_per_token() const {
    return step->tokens > 0 ? energy_mj * 1e-3 * step->gpus / step->tokens : 0;
  }
  [[nodiscard]] bool fits() const { return step->resident_bytes <= of->machine.gpu.dram.size.value; }
};

struct Results {
  std::shared_ptr<const Request> request;  // what the pointers of the cases point into
  std::vector<CaseResult> cases;
  std::size_t launches = 0, distinct = 0;  // of all cases; distinct: that were simulated
};

// Remembers between calls which kernels were chosen, and engine runs. Never shows in a result.
class Bench {
 public:
  [[nodiscard]] Result<std::vector<LaunchCost>> costs(const std::vector<Launch>& launches,
                                                      const std::vector<const Machine*>& machines, unsigned jobs,
                                                      const std::function<void(std::size_t, std::size_t)>& progress);

 private:
  gpu::SmCache cache_;
  tune::KernelChooser chooser_;
};

// Error: an operation that no kernel runs on a GPU, named.
[[nodiscard]] Result<Results> run(Request request, Bench& bench);

// What a workload costs, for people and for programs.

// Beside the figures: what they are of.
struct Heading {
  std::string title;               // "Llama 3 8B, prefill" or the file's name
  std::vector<std::string> notes;  // assumptions, one sentence each
};

[[nodiscard]] std::string to_text(const Results& results, const Heading& heading);
[[nodiscard]] std::string to_json(const Results& results, const Heading& heading);

// One row for each operation of each case; the row `all` has the sums.
[[nodiscard]] std::string to_csv(const Results& results);

// "h100-sxm5-80gb, 400 W, 16 tokens": what tells cases apart.
[[nodiscard]] std::string label_of(const CaseResult& result);

}  // namespace noteg::workload
