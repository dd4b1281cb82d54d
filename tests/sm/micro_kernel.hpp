// Runs a few lines of assembly on one SM and tells cycles per main-loop iteration, the way a micro-benchmark
// on hardware does: the slope over the number of iterations, so that start and end drop out.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "sim/sm/observer.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::sm {

struct MicroKernel {
  std::string text;
  int resident = 1;  // CTAs
  std::string gpu = "h200-sxm-141gb";
  int sub_cores = 0;  // 0: as many as the GPU's SM has
  MemoryPort memory_port{};
  CoreSwitches switches{};
  std::int64_t ctas = 0;              // 0: as many as are resident
  double cta_launch_latency = 0;      // cycles from the end of a CTA to the start of its successor
  double constant_fill_interval = 0;  // SmWork's
  std::vector<IssueRecord>* issues = nullptr;
};

// Cycles per iteration; fails the test if the text does not assemble or the warps wait for ever.
double cycles_per_iteration(const MicroKernel& kernel);

// Cycles of a whole run of `iterations` iterations.
SmResult run_micro(const MicroKernel& kernel, std::int64_t iterations);

// The cycle in which the last instruction before EXIT, the last of the program, issues in the last warp: EXIT itself
// waits for all accesses. No iterations.
double last_issue_before_exit(MicroKernel kernel);

const arch::SmSpec& sm_of(const std::string& gpu);

}  // namespace noteg::sm
