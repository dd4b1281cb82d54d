// A resolved configuration to a Program with control bits: the one entry to all builders.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

// What the builder must know of the problem beside the configuration: it decides vector widths and
// the shape of edge code, not the loop count (Loop::is_main takes its iterations from the problem).
struct BuildRequest {
  KernelConfig config;  // resolved
  LatencyModel latency;
  int lane_count_partial = 32;  // reserved for partially filled warps
  bool is_draft = false;        // the instructions alone, in no order, without registers and control bits
};

[[nodiscard]] Result<Program> build_program(const BuildRequest& request);

}  // namespace noteg::kernels
