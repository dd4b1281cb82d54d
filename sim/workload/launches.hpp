// From an operation to the kernels that run it. The one place that decides: a kernel family that expresses an operation
// whole takes the place of the sum that stands for it here.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sim/workload/operation.hpp"

namespace noteg::workload {

struct GemmLaunch {
  kernels::GemmShape shape;
  kernels::KernelConfig frame;
};

// A fused attention kernel, whose configuration is known: no library has to choose one.
struct AttentionLaunch {
  kernels::GemmShape shape;  // queries of all heads that share keys, twice the head, keys, sequences times key heads
  kernels::KernelConfig kernel;
};

// A kernel that only moves data, or computes so little on it that memory decides.
struct StreamLaunch {
  double read_bytes = 0, write_bytes = 0;
  double resident_bytes = 0;  // of these, that the kernel before wrote: found in L2 as far as they fit
};

// A ring all-reduce.
struct CollectiveLaunch {
  double bytes = 0;  // of each GPU
  int ranks = 1;
};

struct Launch {
  std::string what;  // "Q K^T", "softmax"
  std::variant<GemmLaunch, AttentionLaunch, StreamLaunch, CollectiveLaunch> work;

  [[nodiscard]] double flops() const;
  // Equal for launches that do the same.
  [[nodiscard]] std::string identity() const;
};

struct Expansion {
  std::vector<Launch> launches;
  std::string modelled_as;  // what stands for the operation where that is more than one kernel; empty: itself
};

[[nodiscard]] Expansion launches_of(const Operation& operation);

// Multiply-adds of the operation itself, two operations each: what is asked for, not what the launches do.
[[nodiscard]] double flops_of(const Operation& operation);

// Experts that get at least one of the tokens where routing is even at random.
[[nodiscard]] double active_experts(double experts, double top_k, double tokens);

}  // namespace noteg::workload
