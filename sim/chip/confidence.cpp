#include "sim/chip/confidence.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace noteg::chip {

namespace {

// Recorded with `noteg validate --min-time-ms 0.2` on whole measured sets (docs/validation.md shows the shipped part).
// H200 rows were run at their recorded clock. Rows that a constant was fitted on do not count; kernels chosen: rows of
// 0.05 ms and more.
using kernels::Family;
constexpr std::array<ValidationRecord, 16> records{{
    {"a100-pcie-80gb", Family::simt, 0.027, 1586, "neusight_fp32"},
    {"a100-pcie-40gb", Family::simt, 0.047, 6155, "neusight_fp32"},
    {"h100-sxm5-80gb", Family::simt, 0.033, 1439, "neusight_fp32"},
    {"l4", Family::simt, 0.182, 1460, "neusight_fp32, short rows of which ran at clocks that nothing recorded tells"},
    {"rtx4070", Family::simt, 0.023, 44, "gpperf_cutlass"},
    {"rtx4070", Family::naive, 0.043, 29, "gpperf_naive"},
    {"h200-sxm-141gb", Family::naive, 0.080, 117, "our own H200 runs"},
    {"h200-sxm-141gb", Family::blocked, 0.045, 88, "our own H200 runs"},
    {"h200-sxm-141gb", Family::simt, 0.042, 239, "our own H200 runs"},
    {"h200-sxm-141gb", Family::mma, 0.070, 494, "our own H200 runs"},
    {"h200-sxm-141gb", Family::wgmma, 0.058, 172, "our own H200 runs"},
    {"a100-pcie-80gb", Family::mma, 0.079, 12231, "vidur, kernels chosen"},
    {"a40", Family::mma, 0.084, 8664, "vidur, kernels chosen"},
    {"h100-sxm5-80gb", Family::wgmma, 0.097, 6591, "vidur, kernels chosen"},
    {"a100-sxm4-80gb", Family::mma, 0.098, 534, "aiconfigurator, kernels chosen"},
    {"l40s", Family::mma, 0.113, 602, "aiconfigurator, kernels chosen"},
}};

constexpr double shortest_validated_us = 200;

}  // namespace

std::span<const ValidationRecord> validation_records() { return records; }

Confidence confidence_of(const SimReport& report) {
  if (!report.switches.empty()) {
    std::vector<std::string> changed;
    for (const auto& [name, value] : report.switches) changed.push_back(name + "=" + value);
    return {-1, fmt::format("none: measurements are of the whole model, this run has {}", fmt::join(changed, ", "))};
  }
  for (const ValidationRecord& record : records) {
    if (record.gpu != report.arch_id || record.family != report.kernel.family) continue;
    Confidence out;
    out.validated_mape = record.mape;
    out.on = fmt::format("{} rows of {}", record.rows, record.on);
    if (report.time_us < shortest_validated_us)
      out.on += "; this run is shorter than the 0.2 ms of the shortest of them";
    return out;
  }
  return {-1, fmt::format("none: no measured {} kernels of this GPU", kernels::name_of(report.kernel.family))};
}

}  // namespace noteg::chip
