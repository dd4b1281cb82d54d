// The launches whose hardware counters are kept in tests/data, each as a case that the simulator can run.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "arch/load.hpp"
#include "sim/gpu/sm_cache.hpp"
#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_file.hpp"

namespace noteg::validate {

// Calls use(data, row, case, gpu, cache) for each of them.
template <class Use>
void each_counted_launch(const Use& use) {
  const Result<MeasuredData> data = read_measured({NOTEG_SOURCE_DIR "/tests/data/h200_counters.csv"});
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  EXPECT_TRUE(data && gpu);
  if (!data || !gpu) return;
  gpu::SmCache cache;
  for (const MeasuredRow& row : data->rows) {
    const CaseOrReason measured = case_of(*data, row);
    const auto* one = std::get_if<MeasuredCase>(&measured);
    EXPECT_NE(one, nullptr) << std::get<std::string>(measured);
    if (one != nullptr) use(*data, row, *one, *gpu, cache);
  }
}

}  // namespace noteg::validate
