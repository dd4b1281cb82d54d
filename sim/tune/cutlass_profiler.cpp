#include "sim/tune/cutlass_profiler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/families/family.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {
namespace {

// The profiler's names of types differ from ours for 8-bit floats only.
std::string type_text(kernels::DataType type) {
  switch (type) {
    case kernels::DataType::f8e4m3: return "fe4m3";
    case kernels::DataType::f8e5m2: return "fe5m2";
    default: return std::string(kernels::name_of(type));
  }
}

// sm_80 -> 80
std::string capability(const arch::SmSpec& sm) {
  std::string digits;
  for (const char c : sm.compute_capability)
    if (c >= '0' && c <= '9') digits += c;
  return digits;
}

}  // namespace

std::string cutlass_profiler_line(const arch::GpuSpec& gpu, const kernels::KernelConfig& k,
                                  const kernels::GemmShape& shape) {
  const char* a = kernels::a_contiguous_in_k(k.layout) ? "row" : "column";
  const char* b = kernels::b_contiguous_in_n(k.layout) ? "row" : "column";
  std::string text = fmt::format(
      "cutlass_profiler --operation={} --m={} --n={} --k={} --batch_count={} --A={}:{} --B={}:{} --C={}:row "
      "--accumulator-type={} --op_class={} --cta_m={} --cta_n={} --cta_k={}",
      "Gemm", shape.m, shape.n, shape.k, shape.batch, type_text(k.dtype_in), a, type_text(k.dtype_in), b,
      type_text(k.dtype_out), type_text(k.dtype_acc), is_tensor(k.family) ? "tensorop" : "simt", k.tile.m, k.tile.n,
      k.tile.k);
  if (traits_of(k).needs == kernels::Needs::warpgroup_products) {
    text += fmt::format(" --cluster_m={} --cluster_n={}", k.cluster_m, k.cluster_n);
  } else {
    if (k.stages) text += fmt::format(" --stages={}", *k.stages);
    if (k.warp_m && k.warp_n)
      text += fmt::format(" --warps_m={} --warps_n={} --warps_k={}", k.tile.m / *k.warp_m, k.tile.n / *k.warp_n,
                          k.sliced_k.value_or(1));
  }
  if (k.split_k > 1)
    text += fmt::format(" --split_k_mode={} --split_k_slices={}",
                        k.split_k_mode == kernels::SplitKMode::parallel ? "parallel" : "serial", k.split_k);
  return text + fmt::format(" --min_cc={0} --max_cc={0}", capability(gpu.sm));
}

}  // namespace noteg::tune
