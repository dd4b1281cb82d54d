#include "sim/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/families/family.hpp"
#include "kernels/families/triton/triton.hpp"
#include "sim/report/counters.hpp"
#include "sim/report/write.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {
namespace {

using report::figure;
using report::three_digits;

std::string problem_text(const Tuned& tuned) {
  const kernels::GemmShape& s = tuned.problem.shape;
  const kernels::KernelConfig& f = tuned.problem.frame;
  return fmt::format("{}x{}x{}{}{}, {} -> {}, layout {}", s.m, s.n, s.k,
                     s.batch > 1 ? fmt::format(", batch {}", s.batch) : "",
                     tuned.count > 1 ? fmt::format(", {} times", tuned.count) : "", name_of(f.dtype_in),
                     name_of(f.dtype_out), name_of(f.layout));
}

std::string table(const Tuned& tuned) {
  std::string text = fmt::format("{:>3} {:<46}{:>10}{:>9}{:>7}{:>7}  {}\n", "", "configuration", "time", "TFLOP/s", "W",
                                 "mJ", "limited by (estimate)");
  std::size_t place = 0;
  for (const gpu::SimReport& r : tuned.top)
    text += fmt::format("{:>3} {:<46}{:>10}{:>9}{:>7.0f}{:>7}  {}\n", ++place, configuration_text(r.kernel),
                        figure(r.time_us, report::Unit::microseconds), three_digits(r.tflops), r.power_w,
                        three_digits(r.energy_mj), r.bottleneck.name);
  return text;
}

// As Inductor's autotuner prints its list: the name, the time, how close to the best, the configuration; and what 90 %
// of measured times lie between.
std::string triton_table(const Tuned& tuned) {
  std::string text;
  const double best = tuned.top.front().time_us;
  for (const gpu::SimReport& r : tuned.top) {
    const gpu::TimeRange& range = r.confidence.widest();
    text += fmt::format(
        "  triton_mm {:.4f} ms {:.1f}% {}{}\n", r.time_us * 1e-3, 100 * best / r.time_us,
        kernels::triton_text(r.kernel),
        range.high_us > 0 ? fmt::format("  [{:.4f}, {:.4f}] ms", range.low_us * 1e-3, range.high_us * 1e-3) : "");
  }
  return text;
}

bool is_triton_list(const Tuned& tuned) {
  return !tuned.top.empty() &&
         std::ranges::all_of(tuned.top, [](const auto& r) { return family_of(r.kernel.family).to_text != nullptr; });
}

std::string totals(const Results& results) {
  double time_us = 0, energy_mj = 0, flops = 0;
  for (const Tuned& tuned : results.tuned) {
    if (tuned.top.empty()) continue;
    const auto count = static_cast<double>(tuned.count);
    time_us += count * tuned.top.front().time_us;
    energy_mj += count * tuned.top.front().energy_mj;
    flops += count * tuned.problem.shape.flops();
  }
  return fmt::format("\nall {} problems with their best kernels: {}, {}, {} TFLOP/s\n", results.tuned.size(),
                     figure(time_us, report::Unit::microseconds), figure(energy_mj, report::Unit::millijoules),
                     three_digits(time_us > 0 ? flops / (time_us * 1e6) : 0));
}

}  // namespace

std::string configuration_text(const kernels::KernelConfig& k) {
  if (const auto own_text = family_of(k.family).to_text) return "triton_mm " + own_text(k);
  std::string text = fmt::format("{} {}x{}x{}", name_of(k.family), k.tile.m, k.tile.n, k.tile.k);
  if (k.warp_m && k.warp_n) text += fmt::format(" w{}x{}", *k.warp_m, *k.warp_n);
  if (k.schedule) text += fmt::format(" {}", name_of(*k.schedule));
  if (k.cluster_m * k.cluster_n > 1) text += fmt::format(" c{}x{}", k.cluster_m, k.cluster_n);
  if (k.stages) text += fmt::format(" s{}", *k.stages);
  if (k.split_k > 1) text += fmt::format(" K/{}", k.split_k);
  if (k.swizzle_log2 > 0) text += fmt::format(" z{}", k.swizzle_log2);
  if (k.raster == kernels::Raster::along_n) text += " N first";
  return text;
}

std::string to_text(const Results& results) {
  std::string text =
      fmt::format("GPU      {} ({}), ranked by {}\n", results.arch_name, results.arch_id, name_of(results.objective));
  for (const Tuned& tuned : results.tuned) {
    text += fmt::format("\nproblem  {}\n", problem_text(tuned));
    text += fmt::format("searched {} combinations, {} valid: {} simulated, {} ruled out by their bound{}{}\n",
                        tuned.considered, tuned.valid, tuned.simulated, tuned.pruned,
                        tuned.failed > 0 ? fmt::format(", {} could not run", tuned.failed) : "",
                        tuned.stopped ? "; stopped early" : "");
    text += is_triton_list(tuned) ? triton_table(tuned) : table(tuned);
    if (!tuned.top.empty())
      for (const std::string& line : report::wrap(
               fmt::format("90 % interval of the first: {} ({}): {}", report::interval_text(tuned.top.front()),
                           report::relative_interval_text(tuned.top.front()), tuned.top.front().confidence.because),
               98))
        text += line + "\n";
    for (const std::string& line : report::wrap("why: " + tuned.why, 98)) text += line + "\n";
  }
  text +=
      "\nw: tile of a warp, c: cluster, s: stages, K/: slices of K, z: log2 of the swizzle, N first: CTAs follow along "
      "N\n";
  if (results.from_file) text += totals(results);
  return text;
}

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

using Json = nlohmann::ordered_json;

std::string to_json(const Results& results, const arch::GpuSpec& gpu) {
  Json problems = Json::array();
  for (const Tuned& tuned : results.tuned) {
    Json top = Json::array();
    for (const gpu::SimReport& r : tuned.top) {
      Json one{{"configuration", configuration_text(r.kernel)},
               {"cutlass_profiler", cutlass_profiler_line(gpu, r.kernel, tuned.problem.shape)}};
      one.update(Json::parse(report::to_json(r)));
      top.push_back(std::move(one));
    }
    Json ranked = Json::array();
    for (const Scored& one : tuned.ranked)
      ranked.push_back({{"configuration", configuration_text(one.config)},
                        {"estimated_time_us", one.time_us},
                        {"estimated_energy_mj", one.energy_mj}});
    const kernels::GemmShape& s = tuned.problem.shape;
    problems.push_back({{"m", s.m},
                        {"n", s.n},
                        {"k", s.k},
                        {"batch", s.batch},
                        {"count", tuned.count},
                        {"combinations", tuned.considered},
                        {"valid", tuned.valid},
                        {"simulated", tuned.simulated},
                        {"pruned", tuned.pruned},
                        {"stopped", tuned.stopped},
                        {"why", tuned.why},
                        {"top", std::move(top)},
                        {"ranked", std::move(ranked)}});
  }
  return Json{{"arch", results.arch_id}, {"objective", name_of(results.objective)}, {"problems", std::move(problems)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string to_csv(const Results& results) {
  std::string text =
      "arch,m,n,k,batch,count,rank,configuration,time_us,time_low_us,time_high_us,tflops,power_w,energy_mj,limiter,l2_"
      "hit_rate\n";
  for (const Tuned& tuned : results.tuned) {
    std::size_t place = 0;
    for (const gpu::SimReport& r : tuned.top) {
      const kernels::GemmShape& s = tuned.problem.shape;
      text +=
          csv_line({results.arch_id, std::to_string(s.m), std::to_string(s.n), std::to_string(s.k),
                    std::to_string(s.batch), std::to_string(tuned.count), std::to_string(++place),
                    configuration_text(r.kernel), format_number(r.time_us), format_number(r.confidence.widest().low_us),
                    format_number(r.confidence.widest().high_us), format_number(r.tflops), format_number(r.power_w),
                    format_number(r.energy_mj), r.bottleneck.name, format_number(r.memory.l2_hit_rate)});
    }
  }
  return text;
}

}  // namespace noteg::tune
