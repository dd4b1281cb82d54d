// Who is compared: a GPU out of the architecture files, or a what-if copy of one, written l4:l2.size=24MiB.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/derive.hpp"
#include "arch/load.hpp"
#include "sim/compare/waterfall.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::compare {

struct Variant {
  std::string label;    // short and unique: l4, "l4 (2)" for the second of that name
  std::string what_if;  // what was changed: "l2.size=24MiB, clock.boost=1.5GHz"; empty for a GPU as it is
  arch::GpuSpec gpu;
};

struct WhatIf {
  std::string arch;  // name or path
  arch::Overrides changes;
};

// ARCH[:KEY=VALUE...]. A colon that no KEY= follows belongs to the path.
[[nodiscard]] Result<WhatIf> parse_what_if(const std::string& text);

// A new boost clock moves the clock that the board sustains by the same factor, unless that is given too: the boost
// clock alone is a figure of the data sheet.
[[nodiscard]] Result<arch::GpuSpec> load_what_if(const WhatIf& what_if, const arch::Overrides& for_all);

// Every mistake of all of them. for_all: --set arch.KEY=VALUE, applied before each one's own changes.
[[nodiscard]] Result<std::vector<Variant>> load_variants(const std::vector<std::string>& texts,
                                                         const arch::Overrides& for_all);

// The same kernel, or the best one for each, on several GPUs: what came out, what differs in their files, and what each
// difference did to the first of them.

// Which kernel a GPU runs: the given one, or the best of a catalogue.
using KernelFor = std::function<Result<kernels::KernelConfig>(const arch::GpuSpec&)>;

struct CompareOptions {
  gpu::SimOptions sim;
  unsigned jobs = 1;
  bool waterfalls = true;
};

struct Comparison {
  std::vector<Variant> variants;
  std::vector<gpu::SimReport> reports;  // parallel to them
  std::vector<arch::Difference> differences;
  std::vector<Waterfall> waterfalls;  // from the first to each other one
};

// Errors: a kernel that one of the GPUs cannot run, told with the GPU's label. The same figures for any number of jobs.
[[nodiscard]] Result<Comparison> compare(std::vector<Variant> variants, const KernelFor& kernel_for,
                                         const kernels::GemmShape& shape, const CompareOptions& options,
                                         gpu::SmCache& cache);

// A comparison as text, JSON or CSV.

// For people: at most 100 columns, plain ASCII.
[[nodiscard]] std::string to_text(const Comparison& comparison);

// gpus (what simulate prints of each), differences, waterfalls.
[[nodiscard]] std::string to_json(const Comparison& comparison);

// One row per GPU with every counter; what was changed stands in the columns label and what_if.
[[nodiscard]] std::string to_csv(const Comparison& comparison);

// Only the keys that differ, one column per GPU: part of the above, and what `arch show --diff` prints.
[[nodiscard]] std::string differences_text(const std::vector<std::string>& labels,
                                           const std::vector<arch::Difference>& differences);
[[nodiscard]] std::string differences_json(const std::vector<std::string>& labels,
                                           const std::vector<arch::Difference>& differences);
[[nodiscard]] std::string differences_csv(const std::vector<std::string>& labels,
                                          const std::vector<arch::Difference>& differences);

}  // namespace noteg::compare
