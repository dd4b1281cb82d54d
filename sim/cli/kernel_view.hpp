// What `noteg kernel show` tells of one kernel: the program itself and figures that follow from its text alone.
#pragma once

#include <string>
#include <vector>

#include "kernels/ir/facts.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"
#include "sim/cli/kernel_options.hpp"

namespace noteg::cli {

struct KernelPart {  // prologue, main loop or epilogue: instructions [begin, end)
  std::string name;
  int begin = 0, end = 0;
  kernels::CodeFacts facts;
};

struct KernelView {
  kernels::KernelConfig config;  // resolved
  kernels::GemmShape shape;
  kernels::Program program;
  std::vector<KernelPart> parts;
  long long trips = 0;     // of the main loop for this K
  long long executed = 0;  // warp instructions of one warp
};

[[nodiscard]] Result<KernelView> view_of(const KernelRequest& request, const kernels::LatencyModel& latency);

[[nodiscard]] std::string view_text(const KernelView& view);
[[nodiscard]] std::string view_json(const KernelView& view);
[[nodiscard]] std::string view_csv(const KernelView& view);  // one instruction a row

}  // namespace noteg::cli
