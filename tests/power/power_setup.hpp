// Boards and kernels of known events for the tests of power.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "sim/power/clock.hpp"

namespace noteg::power {

inline arch::GpuSpec gpu_of(const std::string& id, const arch::Overrides& overrides = {}) {
  const Result<arch::GpuSpec> spec = arch::load_gpu(id, overrides);
  EXPECT_TRUE(spec) << to_string(spec.errors());
  return spec ? *spec : arch::GpuSpec{};
}

inline std::size_t at(kernels::Opcode op) { return static_cast<std::size_t>(op); }

// A second of a bit of everything.
inline Activity mixed_second() {
  Activity a;
  a.time = Seconds{1};
  a.issued[at(kernels::Opcode::ffma)] = 1e11;
  a.issued[at(kernels::Opcode::iadd3)] = 2e10;
  a.issued[at(kernels::Opcode::lds)] = 1e10;
  a.operands = 2e11;
  a.cached_operands = 1e11;
  a.data_passes = 2e10;
  a.data_bytes = Bytes{2e12};
  a.l2_bytes = Bytes{3e11};
  a.dram_read_bytes = Bytes{8e10};
  a.dram_write_bytes = Bytes{2e10};
  a.sm_cycles = 5e10;
  return a;
}

// Kernels bound by the SMs: the time is a number of cycles.
inline ActivityAt bound_by_cycles(const Activity& activity, double cycles) {
  return [=](Hertz clock) {
    Activity at_clock = activity;
    at_clock.time = Cycles{cycles} / clock;
    return at_clock;
  };
}

}  // namespace noteg::power
