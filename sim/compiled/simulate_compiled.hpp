// One compiled kernel on one GPU: emulated, its ways timed on the SM, its footprints turned into traffic, all of it one
// launch for the chip model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/compiled/footprint.hpp"
#include "kernels/compiled/launch_file.hpp"
#include "kernels/compiled/listing/listing.hpp"
#include "kernels/compiled/profile.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::compiled {

struct CompiledRequest {
  const Listing* listing = nullptr;
  Launch launch;
  const arch::GpuSpec* gpu = nullptr;
  gpu::SimOptions options;
  bool strict = false;  // unknown opcodes are errors
};

// What Nsight Compute counts for a launch of its own, caches flushed before.
struct LaunchCounters {
  double warp_instructions = 0;
  double l2_sectors = 0;         // lts__t_sectors_srcunit_tex
  double shared_wavefronts = 0;  // l1tex__data_pipe_lsu_wavefronts_mem_shared
  double dram_read_bytes = 0, dram_write_bytes = 0;
};

struct CompiledRun {
  Profile profile;
  gpu::SimReport report;
  LaunchCounters cold;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;  // what was not told and how it was taken
  // Of the largest class of CTAs, for stalls by instruction.
  std::shared_ptr<const kernels::Program> program;
  std::vector<std::int32_t> origin;
};

[[nodiscard]] Result<CompiledRun> simulate_compiled(const CompiledRequest& request);

}  // namespace noteg::compiled
